package importer_test

import (
	"strings"
	"testing"
)

// The shapes that a key of a file can have.
const (
	aText  = "text"
	aBool  = "true or false"
	aMap   = "mapping"
	texts  = "list of texts, or one" // or a text
	steps  = "list of steps"
	either = "text or mapping"
)

// wrong are values of other shapes. A text is not wrong for a number here: the readers check numbers by themselves.
var wrong = map[string][]string{
	aText:  {"[w]", "{w: x}", "[]", "{}"},
	aBool:  {"[true]", "{w: x}", "maybe", "7"},
	aMap:   {"w", "[w]", "7", "[{w: x}]"},
	texts:  {"{w: x}", "[[w]]", "[{w: x}]"},
	steps:  {"[[w]]", "7.5", "{w: x}"},
	either: {"[w]", "[{w: x}]"},
}

// keys are the keys that a reader knows, by the place of VALUE in a file whose command is echo GUARDED.
var keys = []struct {
	format, file string
	keys         map[string]string // a key and its shape
}{
	{"taskfile", "KEY: VALUE\ntasks: {a: {cmd: echo GUARDED}}\n", map[string]string{
		"version": aText, "vars": aMap, "env": aMap, "dotenv": texts, "set": texts, "silent": aBool, "interval": aText, "run": aText}},
	{"taskfile", "tasks: VALUE\n", map[string]string{"tasks": aMap}},
	{"taskfile", "tasks: {a: {cmd: echo GUARDED, KEY: VALUE}}\n", taskKeys},
	{"taskfile", "tasks: {a: {cmds: [{task: b}]}, b: {internal: true, cmd: echo GUARDED, KEY: VALUE}}\n", taskKeys},
	{"taskfile", "tasks: {a: {cmds: [echo GUARDED, {cmd: echo x, KEY: VALUE}]}}\n", map[string]string{"silent": aBool, "ignore_error": aBool}},
	{"taskfile", "tasks: {a: {cmds: [echo GUARDED, {KEY: VALUE}]}, b: {cmd: echo x}}\n", map[string]string{"cmd": aText, "defer": either, "task": aText}},
	{"taskfile", "tasks: {a: {cmds: [echo GUARDED, {task: b, KEY: VALUE}]}, b: {cmd: echo x}}\n", map[string]string{"vars": aMap, "silent": aBool, "ignore_error": aBool}},
	{"taskfile", "tasks: {a: {cmd: echo GUARDED, requires: {KEY: VALUE}}}\n", map[string]string{"vars": "[[w]]"}},
	{"taskfile", "tasks: {a: {cmd: echo GUARDED, requires: {vars: [{name: V, KEY: VALUE}]}}}\n", map[string]string{"enum": texts}},
	{"taskfile", "tasks: {a: {cmd: echo GUARDED, preconditions: [{KEY: VALUE}]}}\n", map[string]string{"sh": aText}},

	{"dagu", "KEY: VALUE\nshell: sh\nsteps: [{name: a, command: echo GUARDED}]\n", map[string]string{
		"name": aText, "description": aText, "type": aText, "dotenv": texts, "timeoutSec": aText, "maxActiveRuns": aText,
		"workingDir": aText, "handlerOn": aMap, "params": "[[w]]", "env": "[[w]]", "schedule": "[[w]]"}},
	{"dagu", "shell: VALUE\nsteps: [{name: a, command: echo GUARDED}]\n", map[string]string{"shell": texts}},
	{"dagu", "steps: [{command: echo GUARDED, KEY: VALUE}]\n", map[string]string{
		"name": aText, "id": aText, "description": aText, "depends": texts, "shell": texts, "dir": aText, "workingDir": aText,
		"env": "[[w]]", "output": aText, "retryPolicy": aMap, "continueOn": "[w]", "timeoutSec": aText, "preconditions": "[[w]]", "args": texts}},
	{"dagu", "steps: [{name: a, command: echo GUARDED, retryPolicy: {KEY: VALUE}}]\n", map[string]string{
		"limit": aText, "intervalSec": aText, "backoff": aText, "maxIntervalSec": aText, "exitCode": texts}},
	{"dagu", "steps: [{name: a, command: echo GUARDED, continueOn: {KEY: VALUE}}]\n", map[string]string{"failure": aBool, "skipped": aBool}},
	{"dagu", "params: A=b\nsteps: [{name: a, command: echo GUARDED, preconditions: [{condition: $A, expected: b, KEY: VALUE}]}]\n", map[string]string{"condition": aText, "expected": aText}},
	{"dagu", "params: [{name: A, KEY: VALUE}]\nsteps: [{name: a, command: echo GUARDED}]\n", map[string]string{
		"default": aText, "description": aText, "required": aBool}},
	{"dagu", "steps: [{name: a, KEY: VALUE}]\n", map[string]string{"command": aText, "script": aText}},

	{"github", "KEY: VALUE\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"name": aText, "env": aMap, "defaults": aMap, "run-name": aText, "concurrency": either}},
	{"github", "jobs: VALUE\n", map[string]string{"jobs": aMap}},
	{"github", "defaults: {run: {KEY: VALUE}}\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", map[string]string{"shell": aText, "working-directory": aText}},
	{"github", "jobs: {b: {steps: [{run: echo b}]}, a: {KEY: VALUE, steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"name": aText, "env": aMap, "defaults": aMap, "needs": texts, "timeout-minutes": aText, "continue-on-error": aBool, "if": aText,
		"runs-on": "[[w]]", "strategy": aMap, "concurrency": either, "container": either, "services": aMap}},
	{"github", "jobs: {a: {container: {image: debian, KEY: VALUE}, steps: [{run: echo GUARDED}]}}\n", map[string]string{"image": aText, "env": aMap}},
	{"github", "jobs: {a: {container: debian, services: {db: {image: debian, KEY: VALUE}}, steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"image": aText, "env": aMap, "options": aText, "ports": texts}},
	{"github", "jobs: {a: {strategy: {KEY: VALUE, matrix: {x: [y]}}, steps: [{run: echo GUARDED}]}}\n", map[string]string{"fail-fast": aBool, "max-parallel": aText}},
	{"github", "jobs: {a: {strategy: {matrix: {x: [y], KEY: VALUE}}, steps: [{run: echo GUARDED}]}}\n", map[string]string{"include": "[[w]]", "exclude": "w", "z": "w"}},
	{"github", "jobs: {a: {steps: [{run: echo GUARDED, KEY: VALUE}]}}\n", map[string]string{
		"name": aText, "id": aText, "shell": aText, "working-directory": aText, "env": aMap, "timeout-minutes": aText, "continue-on-error": aBool, "if": aText}},
	{"github", "jobs: {a: {steps: VALUE}}\n", map[string]string{"steps": steps}},
	{"github", "jobs: {a: {steps: [{run: VALUE}]}}\n", map[string]string{"run": aText}},
	{"github", "jobs: {a: {steps: [{uses: VALUE}, {run: echo GUARDED}]}}\n", map[string]string{"uses": aText}},
	{"github", "on: {workflow_dispatch: {inputs: {x: {KEY: VALUE}}}}\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", map[string]string{
		"default": aText, "description": aText, "required": aBool, "type": aText, "options": texts}},
}

var taskKeys = map[string]string{
	"prompt": texts, "dir": aText, "desc": aText, "summary": aText, "label": aText, "prefix": aText, "method": aText, "run": aText,
	"env": aMap, "vars": aMap, "requires": aMap, "silent": aBool, "ignore_error": aBool, "interactive": aBool,
	"set": texts, "aliases": texts, "platforms": texts, "status": texts, "sources": "[[w]]", "generates": "[[w]]",
	"preconditions": "[[w]]", "deps": "[[w]]", "cmds": steps,
}

// TestWrongShapes holds that no key is lost because its value has a shape that the reader does not expect: the command that
// it belongs to is left out, or the file is refused.
func TestWrongShapes(t *testing.T) {
	for _, place := range keys {
		for key, shape := range place.keys {
			values := wrong[shape]
			if values == nil {
				values = []string{shape} // one that is wrong
			}
			for _, v := range values {
				src := strings.NewReplacer("KEY", key, "VALUE", v).Replace(place.file)
				r, err := read(place.format, src)
				if err != nil {
					continue
				}
				if text := definitions(t, r); strings.Contains(text, "GUARDED") {
					t.Errorf("%s is lost:\n%s%s\n%+v", key, src, text, r.Rows)
				}
			}
		}
	}
}

// TestRightShapes holds that the files of TestWrongShapes are understood if the value is right.
func TestRightShapes(t *testing.T) {
	for src, format := range map[string]string{
		"tasks: {a: {cmd: echo GUARDED, silent: true, label: x, prefix: x, dir: sub, aliases: [x], set: [pipefail], prompt: [one, two]}}\n": "taskfile",
		"version: 3\nsilent: true\noutput: {group: {begin: x}}\ninterval: 5s\ntasks: {a: {cmd: echo GUARDED}}\n":                            "taskfile",
		"tasks: {a: [echo GUARDED], b: echo b, c: }\n": "taskfile",
		"tasks: {a: {cmd: echo GUARDED, sources: [{exclude: x}], preconditions: [{sh: test, msg: no}], vars: {V: x}, env: }}\n":               "taskfile",
		"jobs: {a: {runs-on: {group: g, labels: [x]}, needs: [], permissions: {contents: read}, steps: [{run: echo GUARDED}]}}\n":             "github",
		"on: [push]\npermissions: read-all\njobs: {a: {runs-on: [self-hosted, x], continue-on-error: false, steps: [{run: echo GUARDED}]}}\n": "github",
		"schedule: {start: [0 7 * * *]}\nparams: {A: b}\nenv: [{B: b}, C=d]\nsteps: {a: {command: echo GUARDED}}\n":                           "dagu",
		"steps: [echo GUARDED, [echo a, echo b]]\n": "dagu",
	} {
		r, err := read(format, src)
		if err != nil {
			t.Errorf("%s: %v", src, err)
			continue
		}
		if text := definitions(t, r); !strings.Contains(text, "GUARDED") {
			t.Errorf("left out:\n%s%+v", src, r.Rows)
		}
	}
}
