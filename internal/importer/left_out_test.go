package importer_test

import (
	"strings"
	"testing"
)

// TestWhatNeedsSomethingLeftOut holds that the command echo GUARDED is left out with what guards it, or with a variable
// that it reads, and that it is written if has is not empty.
func TestWhatNeedsSomethingLeftOut(t *testing.T) {
	const phony, recipe = ".PHONY: d\nd:\n\techo GUARDED\n", "a:\n  echo GUARDED\n"
	for _, c := range []struct{ format, src, reason, has string }{
		{"make", "include x.mk\n.PHONY: d\nd: verify\n\techo GUARDED\n", "it needs verify, which may be a target of include x.mk", ""},
		{"make", "include x.mk\n" + phony, "include x.mk may stop make, or add rules and variables", ""},
		{"make", "-include .env\n" + phony, "-include .env may stop make", ""},
		{"make", "sinclude $(DEPS)\n" + phony, "sinclude $(DEPS) may stop make", ""},
		{"make", "ifdef X\ninclude x.mk\nendif\n" + phony, "include x.mk may stop make", ""},
		{"taskfile", "includes: {b: ./b}\ntasks: {a: {cmd: echo GUARDED}}\n", "includes of the file is left out", "GUARDED"},
		{"taskfile", "includes: {b: ./b}\ntasks: {a: {cmd: echo GUARDED $V}}\n", "it reads V, which an included file may set", ""},
		{"taskfile", "includes: {b: ./b}\ntasks: {a: {cmds: [{task: 'b:c'}, echo GUARDED]}}\n", "b:c", ""},
		{"just", "import 'x.just'\n" + recipe, "import 'x.just' is left out", "GUARDED"},
		{"just", "import? 'x.just'\na:\n  echo GUARDED $V\n", "it reads V, which an imported file may set", ""},
		{"just", "import 'x.just'\na: b\n  echo GUARDED\n", "it needs the recipe b, which is not in the file", ""},
		{"just", "mod x\n" + recipe, "mod x is left out", "GUARDED"},
		{"make", ".c.o:\n\tfalse\n.PHONY: d\nd: a.o\n\techo GUARDED\n", "it needs a.o, which may be a target of the rule .c.o", ""},
		{"make", "%.ok: %.txt\n\tverify $<\n.PHONY: d\nd: a.ok\n\techo GUARDED\n", "it needs a.ok, which may be a target of the rule %.ok", ""},
		{"make", "$(error stop)\n" + phony, "line 1 may stop make or add rules: $(error stop)", ""},
		{"make", "ifndef X\n$(error X is not set)\nendif\n" + phony, "line 2 may stop make or add rules", ""},
		{"make", "$(eval d: verify)\n" + phony, "line 1 may stop make or add rules", ""},
		{"make", "$(UNKNOWN): verify\n" + phony, "line 1 may be a rule of any target", ""},
		{"make", "no rule\n" + phony, "line 1 may stop make", ""},
		{"make", "$(info hello)\n" + phony, "not understood", "GUARDED"},
		{"make", ".PHONY: d\nd: approved.txt\n\techo GUARDED\n", "the file approved.txt must exist", "sh: test -e approved.txt\n  - name: d\n    sh: echo GUARDED"},
		{"make", ".PHONY: d\nd: ~/x\n\techo GUARDED\n", "a name with special characters", ""},
		{"make", "export V = $(shell date)\n.PHONY: d\nd:\n\techo GUARDED $$V\n", "it reads V, which is not exported", ""},
		{"make", "export V = $(shell date)\n" + phony, "the variable V is not exported", "GUARDED"},
		{"just", "export V := `date`\na:\n  echo GUARDED $V\n", "it reads V, which is not exported", ""},
		{"just", "export V := `date`\n" + recipe, "the variable V is not exported", "GUARDED"},
		{"just", "[confirm]\na: b\n  echo a\nb:\n  echo GUARDED\n", "its question is an approval", "approve: Run recipe a?\n  - name: b\n    sh: |-\n      set -u\n      echo GUARDED"},
		{"just", "[strange]\nb:\n  echo b\na: b\n  echo GUARDED\n", "it needs b, which is left out: flowrun has no counterpart for [strange]", ""},
		{"just", "v := if env('X', '') == '' { error('X is not set') } else { '' }\n" + recipe, "the variable v can stop just", ""},
		{"just", "v := if env('X', '') == '' {\n  error('X is not set')\n} else {\n  ''\n}\n" + recipe, "the variable v can stop just", ""},
		{"just", "v := assert('a' == 'a', 'no')\n" + recipe, "the variable v can stop just", ""},
		{"make", ".PHONY: c d\nc:\n\techo c\nd: c .WAIT c\n\techo GUARDED\n", "", "- name: c\n    sh: echo c\n  - name: d\n"},
		{"taskfile", "tasks:\n  a: {deps: [b, b], cmd: echo x}\n  b: {internal: true, run: once, cmd: echo GUARDED}\n", "it calls b again, which runs once", ""},
		{"taskfile", "run: when_changed\ntasks:\n  a: {cmds: [{task: b}, {task: b}]}\n  b: {internal: true, cmd: echo GUARDED}\n", "it calls b again, which runs once", ""},
		{"taskfile", "run: once\ntasks:\n  a: {cmds: [{task: b}, {task: b}]}\n  b: {internal: true, run: always, cmd: echo GUARDED}\n", "", "GUARDED"},
		{"taskfile", "set: [n]\ntasks: {a: {cmd: echo GUARDED}}\n", "", "set -n\n      echo GUARDED"},
		{"taskfile", "set: [strange]\ntasks: {a: {cmd: echo GUARDED}}\n", "set: strange is not an option", ""},
		{"taskfile", "tasks: {a: {cmd: echo GUARDED, set: [strange]}}\n", "set: strange is not an option", ""},
		{"taskfile", "shopt: [extglob]\ntasks: {a: {cmd: echo GUARDED}}\n", "shopt of the file is left out", "GUARDED"},
		{"dagu", "skipIfSuccessful: true\nschedule: 0 7 * * *\nsteps: [echo GUARDED]\n", "flowrun cannot skip a scheduled time", "GUARDED"},
		{"github", "jobs: {a: {timeout-minutes: 0.001, steps: [{run: echo GUARDED}]}}\n", "timeout-minutes is less than a second", ""},
		{"dagu", "timeoutSec: 1h\nsteps: [echo GUARDED]\n", "its timeoutSec is not a number of seconds: 1h", ""},
		{"dagu", "steps: [{command: echo GUARDED, timeoutSec: 1h}]\n", "its timeoutSec is not a number of seconds: 1h", ""},
		{"dagu", "timeoutSec: 0\nsteps: [echo GUARDED]\n", "", "GUARDED"},
		{"dagu", "maxActiveRuns: one\nsteps: [echo GUARDED]\n", "its maxActiveRuns is not a number", ""},
		{"dagu", "dotenv: [$X]\nsteps: [echo GUARDED $V]\n", "it reads a file of variables whose path is known only when it runs", ""},
		{"dagu", "schedule: 0 7 * * *\nparams: A=b\nstrange: x\nsteps: [echo GUARDED]\n", "the DAG is left out", ""},
		{"dagu", "steps: [{name: a, command: echo a, output: V, executor: docker}, {name: b, depends: [], command: echo b}]\nhandlerOn: {exit: {command: echo GUARDED $V}}\n", "it reads V, which is the output of a", ""},
		{"dagu", "params: [{name: A, enum: [x, y]}]\nsteps: [echo GUARDED]\n", "A has no default", "required: true\n    validation:\n      enum: [x, y]"},
		{"github", "strange: x\njobs: {a: {steps: [{run: echo GUARDED}]}}\n", "flowrun has no counterpart for strange", ""},
		{"github", "on: {workflow_dispatch: {inputs: {to: {type: choice, options: [dev, prod]}}}}\njobs: {a: {steps: [{run: 'echo GUARDED ${{ inputs.to }}'}]}}\n", "its type is text", "default: dev\n    validation:\n      enum: [dev, prod]"},
		{"github", "on: {workflow_dispatch: {inputs: {to: {type: boolean, required: true}}}}\njobs: {a: {steps: [{run: 'echo GUARDED ${{ inputs.to }}'}]}}\n", "its type is text", "required: true\n    validation:\n      enum: [\"false\", \"true\"]"},
		{"github", "jobs: {a: {outputs: {x: y}, steps: [{run: echo a}]}, b: {needs: a, steps: [{run: 'echo GUARDED ${{ needs.a.outputs.x }}'}]}}\n", "needs.a.outputs.x", ""},
	} {
		r, err := read(c.format, c.src)
		if err != nil {
			t.Errorf("%s: %v", c.src, err)
			continue
		}
		text, reasons := definitions(t, r), ""
		for _, row := range r.Rows {
			reasons += row.Reason + "\n"
		}
		if strings.Contains(text, "GUARDED") != (c.has != "") || !strings.Contains(text, c.has) || !strings.Contains(reasons, c.reason) {
			t.Errorf("%s: want %q and %q:\n%s%+v", c.src, c.has, c.reason, text, r.Rows)
		}
	}
}
