package taskfile_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// keys are the keys that the reader knows.
var keys = []importtest.Keys{
	{"KEY: VALUE\ntasks: {a: {cmd: echo GUARDED}}\n", map[string]string{
		"version": importtest.Text, "vars": importtest.Map, "env": importtest.Map, "dotenv": importtest.Texts, "set": importtest.Texts, "silent": importtest.Bool, "interval": importtest.Text, "run": importtest.Text}},
	{"tasks: VALUE\n", map[string]string{"tasks": importtest.Map}},
	{"tasks: {a: {cmd: echo GUARDED, KEY: VALUE}}\n", taskKeys},
	{"tasks: {a: {cmds: [{task: b}]}, b: {internal: true, cmd: echo GUARDED, KEY: VALUE}}\n", taskKeys},
	{"tasks: {a: {cmds: [echo GUARDED, {cmd: echo x, KEY: VALUE}]}}\n", map[string]string{"silent": importtest.Bool, "ignore_error": importtest.Bool}},
	{"tasks: {a: {cmds: [echo GUARDED, {KEY: VALUE}]}, b: {cmd: echo x}}\n", map[string]string{"cmd": importtest.Text, "defer": importtest.Either, "task": importtest.Text}},
	{"tasks: {a: {cmds: [echo GUARDED, {task: b, KEY: VALUE}]}, b: {cmd: echo x}}\n", map[string]string{"vars": importtest.Map, "silent": importtest.Bool, "ignore_error": importtest.Bool}},
	{"tasks: {a: {cmd: echo GUARDED, requires: {KEY: VALUE}}}\n", map[string]string{"vars": "[[w]]"}},
	{"tasks: {a: {cmd: echo GUARDED, requires: {vars: [{name: V, KEY: VALUE}]}}}\n", map[string]string{"enum": importtest.Texts}},
	{"tasks: {a: {cmd: echo GUARDED, preconditions: [{KEY: VALUE}]}}\n", map[string]string{"sh": importtest.Text}},
}

var taskKeys = map[string]string{
	"prompt": importtest.Texts, "dir": importtest.Text, "desc": importtest.Text, "summary": importtest.Text, "label": importtest.Text, "prefix": importtest.Text, "method": importtest.Text, "run": importtest.Text,
	"env": importtest.Map, "vars": importtest.Map, "requires": importtest.Map, "silent": importtest.Bool, "ignore_error": importtest.Bool, "interactive": importtest.Bool,
	"set": importtest.Texts, "aliases": importtest.Texts, "platforms": importtest.Texts, "status": importtest.Texts, "sources": "[[w]]", "generates": "[[w]]",
	"preconditions": "[[w]]", "deps": "[[w]]", "cmds": importtest.Steps,
}

func TestWrongShapes(t *testing.T) { importtest.WrongShapes(t, read, keys) }

func TestRightShapes(t *testing.T) {
	importtest.RightShapes(t, read,
		"tasks: {a: {cmd: echo GUARDED, silent: true, label: x, prefix: x, dir: sub, aliases: [x], set: [pipefail], prompt: [one, two]}}\n",
		"version: 3\nsilent: true\noutput: {group: {begin: x}}\ninterval: 5s\ntasks: {a: {cmd: echo GUARDED}}\n",
		"tasks: {a: [echo GUARDED], b: echo b, c: }\n",
		"tasks: {a: {cmd: echo GUARDED, sources: [{exclude: x}], preconditions: [{sh: test, msg: no}], vars: {V: x}, env: }}\n",
	)
}
