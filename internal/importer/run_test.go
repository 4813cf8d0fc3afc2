package importer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/cron"
	"github.com/flowrun/flowrun/internal/importer/dagu"
	"github.com/flowrun/flowrun/internal/importer/github"
	"github.com/flowrun/flowrun/internal/importer/just"
	"github.com/flowrun/flowrun/internal/importer/makefile"
	"github.com/flowrun/flowrun/internal/importer/taskfile"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/library"
)

// runs are imported tools that are run. want is what the original tool prints, after its commands are taken away.
var runs = []struct {
	name, format, src, tool string
	want                    string
	fails                   bool
}{
	{"lines have shells of their own", "make", ".PHONY: a\na:\n\t@X=1; cd /; pwd\n\t@echo \"[$$X]\"\n", "a", "/\n[]\n", false},
	{"a line that fails ends the recipe", "make", ".PHONY: a\na:\n\t@false; echo goes on\n\t@false\n\t@echo never\n", "a", "goes on\n", true},
	{"an ignored line", "make", ".PHONY: a\na:\n\t-@exit 3\n\t@echo yes\n", "a", "yes\n", false},
	{"each prerequisite once, in order", "make", ".PHONY: a b c d\na: b c\n\t@echo a\nb: d\n\t@echo b\nc: d\n\t@echo c\nd:\n\t@echo d\n", "a", "d\nb\nc\na\n", false},
	{"variables", "make", "A = $(B) y\nB := x\nB += z\nC ?= \"q q\"\n.PHONY: a\na:\n\t@echo $(A) $(C) $$((1+1)) {HOME} $${HOME:+set}\n", "a", "x z y q q 2 {HOME} set\n", false},
	{"automatic variables", "make", ".PHONY: a b\na: b\n\t@echo $@ $< $^\nb: ; @echo b\n", "a", "b\na b b\n", false},
	{"a line with continuations", "make", ".PHONY: a\na:\n\t@for i in 1 2; do \\\n\t  echo $$i; \\\n\tdone\n\t@echo end # comment\n", "a", "1\n2\nend\n", false},
	{"a comment in a recipe", "make", "\ufeff.PHONY: a\na:\n\t@# (a comment\n\t@echo yes\n", "a", "yes\n", false},
	{"make: .POSIX", "make", ".POSIX:\n.PHONY: a\na:\n\t@echo 1; false; echo never\n", "a", "1\n", true},
	{"just: lines", "just", "a:\n  @cd /; pwd\n  @false || echo no\n", "a", "/\nno\n", false},
	{"just: a byte order mark", "just", "\ufeffa:\n  @echo yes\n", "a", "yes\n", false},
	{"just: unset variables are errors", "just", "a:\n  @echo $UNSET_VARIABLE_X\n", "a", "", true},
	{"just: bash -euo pipefail", "just", "set shell := ['bash', '-euo', 'pipefail', '-c']\na:\n  @false | true\n  @echo never\n", "a", "", true},
	{"just: dependencies", "just", "a: b && c\n  @echo a\nb: d\n  @echo b\nc: d\n  @echo c\nd:\n  @echo d\n", "a", "d\nb\na\nc\n", false},
	{"just: exported parameters", "just", "set export\na who='you':\n  @echo hello $who\n", "a", "hello you\n", false},
	{"just: a default", "just", "a who='you and me':\n  @echo hello {{who}}\n", "a", "hello you and me\n", false},
	{"just: a default of several words", "just", "a args='x y' who='you and me':\n  @for w in {{args}}; do echo \"[$w]\"; done; echo \"{{who}}\"\n", "a", "[x]\n[y]\nyou and me\n", false},
	{"just: a dependency with defaults", "just", "a: b\n  @echo a\nb who='you  and \"me\"' *rest:\n  @echo {{who}}{{rest}}\n", "a", "you and me\na\n", false},
	{"just: a variable with the name of a parameter", "just", "who := 'all'\na: b\n  @echo {{who}}\nb who='you': && c\n  @echo {{who}}\nc:\n  @echo {{who}}\n", "a", "you\nall\nall\n", false},
	{"just: an exported default of a dependency", "just", "set export\na: b\nb who='you':\n  @echo $who\n", "a", "you\n", false},
	{"just: working directory", "just", "set working-directory := '/usr'\na: b\n  @pwd\n[working-directory: 'bin/..']\nb:\n  @pwd; ls -d bin\n", "a", "/usr\nbin\n/usr\n", false},
	{"task: commands", "taskfile", "tasks:\n  a:\n    cmds: ['cd /; pwd', 'false || echo on', 'false; echo never', 'echo never']\n", "a", "/\non\n", true},
	{"task: a command of several lines", "taskfile", "tasks:\n  a:\n    cmds:\n      - |\n        echo 1\n        false\n        echo never\n", "a", "1\n", true},
	{"task: ignored commands", "taskfile", "tasks:\n  a:\n    cmds:\n      - {cmd: 'echo 1; false; echo never', ignore_error: true}\n      - {cmd: 'false', ignore_error: true}\n      - echo 2\n", "a", "1\n2\n", false},
	{"task: calls", "taskfile", "tasks:\n  a:\n    cmds: [echo 1, {task: b, vars: {X: two}}, echo 3]\n  b: {cmds: ['echo {{.X}}']}\n", "a", "1\ntwo\n3\n", false},
	{"task: a global variable with a default", "taskfile", "vars: {NAME: '{{.NAME | default \"bob\"}}', ALL: 'hi {{.NAME}}'}\ntasks:\n  a: {cmds: [{task: b}, 'echo {{.ALL}}', {task: b, vars: {NAME: eve}}]}\n  b: {cmds: ['echo {{.NAME}}']}\n", "a", "bob\nhi bob\neve\n", false},
	{"task: status", "taskfile", "tasks:\n  a: {deps: [b], status: ['true', 'test -d /'], cmds: [echo no, {task: b}, {defer: echo no}, echo no]}\n  b: {cmds: [echo b]}\n", "a", "b\n", false},
	{"task: a status that fails", "taskfile", "tasks:\n  a: {status: ['true', 'false'], dir: /tmp, cmds: [pwd, {task: b}]}\n  b: {status: ['exit 0'], cmds: [echo no]}\n", "a", "/tmp\n", false},
	{"task: a defer that is reached", "taskfile", "tasks:\n  a: {cmds: [{defer: 'echo 4; exit 1'}, echo 1, {task: b}, {defer: echo 3}]}\n  b: {cmds: [echo 2]}\n", "a", "1\n2\n3\n4\n", false},
	{"task: a defer that is not reached", "taskfile", "tasks:\n  a: {preconditions: ['false'], cmds: [{defer: echo no}, echo no]}\n", "a", "", true},
	{"task: a defer below a command that fails", "taskfile", "tasks:\n  a: {cmds: ['echo 1; exit 1', {defer: echo no}, echo no]}\n", "a", "1\n", true},
	{"dagu: params and outputs", "dagu", "params: WHO=you\ntype: graph\nsteps:\n  - {name: x, command: 'echo hello $WHO', output: TEXT}\n  - {name: y, command: 'echo \"<${TEXT}>\"', depends: [x]}\n", "dag", "hello you\n<hello you>\n", false},
	{"dagu: -e in a command", "dagu", "steps:\n  - name: a\n    command: |\n      echo 1\n      false\n      echo 2\n", "dag", "1\n", true},
	{"dagu: -e in one line", "dagu", "steps:\n  - 'false; echo 2'\n", "dag", "", true},
	{"dagu: -e in a script", "dagu", "shell: bash\nsteps:\n  - name: a\n    script: |\n      echo 1\n      false\n      echo 2\n", "dag", "1\n", true},
	{"dagu: no -e with a shell", "dagu", "steps:\n  - name: a\n    shell: bash\n    command: |\n      false\n      echo 2\n", "dag", "2\n", false},
	{"dagu: a script names its shell", "dagu", "steps:\n  - name: a\n    script: |\n      #!/bin/bash\n      false\n      a=(x y)\n      echo ${a[1]}\n", "dag", "y\n", false},
	{"dagu: a condition on env", "dagu", "env: {A: x}\nsteps:\n  - {name: a, command: echo a, preconditions: [{condition: $A, expected: x}]}\n  - {name: b, command: echo b, preconditions: [{condition: \"${A}\", expected: y}]}\n", "dag", "a\n", false},
	{"dagu: a parameter with a name of flowrun", "dagu", "params: DATE=d\nsteps:\n  - {name: a, command: echo $DATE, preconditions: [{condition: $DATE, expected: d}]}\n", "dag", "d\n", false},
	{"dagu: an output of a step further down", "dagu", "type: graph\nsteps:\n  - {name: b, command: 'echo \"<$D>\"', depends: [a]}\n  - {name: a, command: echo hi, output: D}\n", "dag", "hi\n<hi>\n", false},
	{"dagu: what depends on a skipped step", "dagu", "params: A=x\ntype: graph\nsteps:\n  - {name: a, command: echo a, preconditions: [{condition: $A, expected: y}]}\n  - {name: b, command: echo b, depends: [a]}\n  - {name: c, command: echo c, depends: [b]}\n  - {name: d, command: echo d}\n", "dag", "d\n", false},
	{"dagu: what comes after a skipped step", "dagu", "params: A=x\nsteps:\n  - {name: a, command: echo a, preconditions: [{condition: $A, expected: y}]}\n  - echo b\n", "dag", "", false},
	{"dagu: continueOn skipped", "dagu", "params: A=x\nsteps:\n  - {name: a, command: echo a, continueOn: {skipped: true}, preconditions: [{condition: $A, expected: y}]}\n  - echo b\n", "dag", "b\n", false},
	{"dagu: a parameter with a type", "dagu", "params:\n  - {name: A, type: integer, default: 3}\n  - {name: B, default: x}\nsteps:\n  - echo $A $B\n", "dag", "3 x\n", false},
	{"dagu: the init handler", "dagu", "type: graph\nhandler_on: {init: {command: 'echo init; exit 3'}}\nsteps:\n  - {name: a, command: echo a}\n", "dag", "init\n", true},
	{"dagu: a variable of env with its own name", "dagu", "params: A=x\nenv: {A: \"${A}\", B: $B}\nsteps:\n  - 'echo \"$A[${B-unset}]\"'\n", "dag", "x[unset]\n", false},
	{"dagu: an output that a program reads", "dagu", "steps:\n  - {name: a, command: echo hi, output: OUT}\n  - {name: b, command: printenv OUT}\n", "dag", "hi\nhi\n", false},
	{"dagu: variables in env", "dagu", "env:\n  - A: ${HOME}/x\n  - B: $A/y\n  - PATH: \"/nothing:${PATH}\"\nsteps:\n  - 'test \"$B\" = \"$HOME/x/y\" && echo yes'\n", "dag", "yes\n", false},
	{"github: -e", "github", "name: w\njobs:\n  j:\n    steps:\n      - run: |\n          echo 1\n          false\n          echo 2\n      - run: echo 3\n      - {run: echo 4, if: always()}\n", "w", "1\n4\n", true},
	{"github: variables of a job", "github", "name: w\nenv: {A: w, B: w}\njobs:\n  j:\n    env: {B: j, C: j}\n    steps:\n      - run: echo $A $B $C\n        env: {C: s}\n      - run: echo $A $B $C\n", "w", "w j s\nw j j\n", false},
	{"github: what comes before a step that is left out", "github", "name: w\njobs:\n  j:\n    steps:\n      - run: echo kept\n      - run: echo \"V=1\" >> $GITHUB_ENV\n      - run: echo \"rm -rf /srv/$V\"\n", "w", "kept\n", false},
	{"github: outputs", "github", "name: w\njobs:\n  j:\n    steps:\n      - {id: one, run: 'echo \"v=$((1+1)) x\" >> \"$GITHUB_OUTPUT\"; echo w=PROD >> ${GITHUB_OUTPUT}'}\n      - {run: 'echo $V ${{ steps.one.outputs.v }}', env: {V: '${{ steps.one.outputs.w }}'}}\n      - {run: echo yes, if: \"steps.one.outputs.w == 'prod'\"}\n      - {run: echo no, if: \"${{ steps.one.outputs.w != 'prod' }}\"}\n", "w", "PROD 2 x\nyes\n", false},
	{"github: a condition ignores case", "github", "name: w\non: {workflow_dispatch: {inputs: {to: {default: PROD}}}}\njobs:\n  j:\n    steps:\n      - {run: echo no, if: \"inputs.to != 'prod'\"}\n      - {run: echo yes, if: \"inputs.to == 'Prod'\"}\n", "w", "yes\n", false},
	{"github: env of a job", "github", "name: w\nenv: {A: 0, B: 0, C: 0}\njobs:\n  j:\n    env: {B: 1, C: 1}\n    steps:\n      - {run: 'echo $A $B $C', env: {C: 2}}\n      - run: echo $A $B $C ${{ env.C }}\n  k:\n    needs: j\n    steps: [{run: 'echo $A $B $C'}]\n", "w", "0 1 2\n0 1 1 1\n0 0 0\n", false},
	{"cron: HOME", "cron", "HOME=/\n0 7 * * * pwd; echo $HOME\n", "pwd", "/\n/\n", false},
	{"cron: percent signs", "cron", "0 7 * * * cat%a%b\n", "cat", "a\nb\n", false},
}

func TestRuns(t *testing.T) {
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			r, err := read(c.format, c.src)
			if err != nil {
				t.Fatal(err)
			}
			var text []byte
			for _, one := range r.Tools {
				if one.Name == c.tool {
					if text, err = importer.Render(one); err != nil {
						t.Fatal(err)
					}
				}
			}
			if text == nil {
				t.Fatalf("no tool %s: %+v", c.tool, r.Rows)
			}
			got, failed := runDefinition(t, text)
			if got != c.want || failed != c.fails {
				t.Errorf("printed %q, failed %v; want %q, %v\n%s", got, failed, c.want, c.fails, text)
			}
			if c.format != "make" {
				return
			}
			needtest.Program(t, "make")
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(c.src), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("make", "--no-print-directory", c.tool)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
			out, err := cmd.Output()
			if string(out) != c.want || err != nil != c.fails {
				t.Errorf("make printed %q, %v; the test expects %q, %v", out, err, c.want, c.fails)
			}
		})
	}
}

// runDefinition runs a definition and returns what its steps printed, in the order of their ends.
func runDefinition(t *testing.T, text []byte) (string, bool) {
	t.Helper()
	def, found := decode.File("imported.yaml", text)
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	plan, err := engine.CompileDefinition(&library.Library{}, def)
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{}).Run(t.Context(), plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, s := range res.Steps {
		group := slices.ContainsFunc(res.Steps, func(o runresult.StepResult) bool { return strings.HasPrefix(o.ID, s.ID+"/") })
		if s.Output != "" && !group {
			out.WriteString(strings.TrimSuffix(s.Output, "\n") + "\n")
		}
	}
	return out.String(), res.Status != dag.Succeeded
}

func read(format, src string) (*importer.Result, error) {
	text := []byte(src)
	switch format {
	case "cron":
		return cron.Read(text, false)
	case "cron --system":
		return cron.Read(text, true)
	case "make":
		return makefile.Read(text)
	case "just":
		return just.Read(text)
	case "taskfile":
		return taskfile.Read("Taskfile.yml", text)
	case "github":
		return github.Read("ci.yaml", text)
	}
	return dagu.Read("dag.yaml", text)
}
