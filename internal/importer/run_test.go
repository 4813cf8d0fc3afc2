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
	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/tool"
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
	def, found := tool.Decode("imported.yaml", text)
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
		group := slices.ContainsFunc(res.Steps, func(o engine.StepResult) bool { return strings.HasPrefix(o.ID, s.ID+"/") })
		if s.Output != "" && !group {
			out.WriteString(strings.TrimSuffix(s.Output, "\n") + "\n")
		}
	}
	return out.String(), res.Status != dag.Succeeded
}

// TestLeftOutWithGitHub holds which steps of a job are kept after one that is left out.
func TestLeftOutWithGitHub(t *testing.T) {
	for _, c := range []struct {
		name, first, second string
		status              importer.Status
		reason              string
	}{
		{"a variable", "run: echo V=x >> $GITHUB_ENV", `run: rm -rf "/srv/$V"`, left, "it comes after first, which is left out"},
		{"PATH", "run: echo /x >> $GITHUB_PATH", `run: echo x`, left, "it comes after first"},
		{"a command", "run: npm ci ${{ github.sha }}", `run: npm test`, left, "it comes after first"},
		{"a condition", "{run: ./verify, if: github.ref == 'x'}", `run: ./release`, left, "it comes after first"},
		{"an action", "uses: verify/signature@v1", `run: ./release`, left, "it comes after first"},
		{"an action, for what always runs", "uses: verify/signature@v1", `{run: ./release, if: always()}`, left, "it comes after first"},
		{"a wrong shape", "{run: ./verify, shell: [bash]}", `run: ./release`, left, "it comes after first"},
		{"outputs whose names are unknown", "run: cat x >> $GITHUB_OUTPUT", `run: echo x`, left, "it comes after first"},
		{"one of two outputs", "run: echo v=x >> $GITHUB_OUTPUT; cat x >> $GITHUB_OUTPUT", `run: echo x`, left, "it comes after first"},
		{"an output", "run: echo v=x >> $GITHUB_OUTPUT", `run: echo ${{ steps.one.outputs.v }}`, changed, "a value is always one word"},
		{"an output in env", "run: echo v=x >> $GITHUB_OUTPUT", `{run: echo $V, env: {V: "${{ steps.one.outputs.v }}"}}`, exact, ""},
		{"an output in a condition", "run: echo v=x >> $GITHUB_OUTPUT", `{run: echo x, if: "steps.one.outputs.v == 'x'"}`, exact, ""},
		{"another output", "run: echo v=x >> $GITHUB_OUTPUT", `run: echo ${{ steps.one.outputs.w }}`, left, "steps.one.outputs.w"},
		{"a variable of the job that is left out", "run: echo x", `run: echo $J`, left, "it reads J"},
		{"what prepares the machine", "uses: actions/setup-node@v4", `run: npm ci`, changed, "would have done: first (actions/setup-node@v4)"},
		{"the checkout", "uses: actions/checkout@v4\n        with: {fetch-depth: 0}", `run: npm ci`, exact, ""},
		{"the checkout of something else", "uses: actions/checkout@v4\n        with: {repository: a/b}", `run: npm ci`, left, "it comes after first"},
		{"what does nothing for later steps", "uses: actions/upload-artifact@v4", `run: npm ci`, exact, ""},
		{"a cache that must exist", "uses: actions/cache@v4\n        with: {fail-on-cache-miss: true}", `run: npm ci`, left, "it comes after first"},
		{"what gets files", "uses: actions/download-artifact@v4", `run: npm ci`, left, "it comes after first"},
		{"what runs only after a failure", "{uses: alarm/alarm@v1, if: failure()}", `run: npm ci`, exact, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			first := "- id: one\n        name: first\n        " + c.first
			if strings.HasPrefix(c.first, "{") {
				first = "- {id: one, name: first, " + c.first[1:]
			}
			second := "{name: second, " + strings.Trim(c.second, "{}") + "}"
			if strings.HasPrefix(c.second, "{") {
				second = "{name: second, " + c.second[1:]
			} else if strings.ContainsAny(c.second, `"{`) {
				second = "name: second\n        " + c.second
			}
			r, err := read("github", "name: w\njobs:\n  j:\n    env: {J: \"${{ needs.x.outputs.y }}\"}\n    steps:\n      "+first+"\n      - "+second+"\n      - run: echo end\n")
			if err != nil {
				t.Fatal(err)
			}
			definitions(t, r)
			row := rowOf(t, r, "job j: second")
			if row.Status != c.status || !strings.Contains(row.Reason, c.reason) {
				t.Errorf("got %+v, want %s: %s", row, c.status, c.reason)
			}
		})
	}
}

// rowOf returns the row of one part.
func rowOf(t *testing.T, r *importer.Result, what string) importer.Row {
	t.Helper()
	i := slices.IndexFunc(r.Rows, func(row importer.Row) bool { return row.What == what })
	if i < 0 {
		t.Fatalf("no row %s: %+v", what, r.Rows)
	}
	return r.Rows[i]
}

// TestNeedsWithGitHub reads a job that needs another one, in both orders of the file.
func TestNeedsWithGitHub(t *testing.T) {
	for _, c := range []struct {
		name, needed string
		status       importer.Status
		reason       string
	}{
		{"a job that is carried over", "steps: [{run: echo a}]", exact, ""},
		{"a job that differs", "{timeout-minutes: 5, steps: [{uses: actions/checkout@v4}, {run: echo a}, {uses: alarm/alarm@v1, if: failure()}]}", exact, ""},
		{"a job without commands", "uses: ./.github/workflows/x.yaml", left, "it needs a, which is left out"},
		{"a job with a condition", "{if: github.ref == 'x', steps: [{run: echo a}]}", left, "it needs a, which is left out"},
		{"a job with an environment", "{environment: production, steps: [{run: echo a}]}", left, "it needs a, which is left out"},
		{"a job whose steps are left out", "steps: [{run: 'echo ${{ github.sha }}'}]", left, "it needs a, which is left out"},
		{"a job of which one step is left out", "steps: [{run: echo a}, {name: verify, uses: verify/signature@v1}]", left, "it needs a, whose part verify is left out"},
		{"a job that needs it", "{needs: b, steps: [{run: echo a}]}", left, "its needs form a cycle"},
		{"no job", "", left, "it needs a, which is not in the file"},
	} {
		a, b := "", "  b: {needs: [a], steps: [{run: echo b}]}\n"
		if c.needed != "" {
			a = "  a:\n    " + c.needed + "\n"
		}
		for order, jobs := range map[string]string{"": a + b, ", further down": b + a} {
			t.Run(c.name+order, func(t *testing.T) {
				r, err := read("github", "name: w\njobs:\n"+jobs+"  c: {steps: [{run: echo c}]}\n")
				if err != nil {
					t.Fatal(err)
				}
				text := definitions(t, r)
				if c.reason != "" && !strings.Contains(text, c.reason+".\n") {
					t.Errorf("the definition has no comment:\n%s", text)
				}
				if strings.Contains(text, "echo b") != (c.status == exact) {
					t.Errorf("the job b: want %s:\n%s", c.status, text)
				}
				if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool {
					return strings.HasPrefix(row.What, "job ") && row.Status == c.status && strings.HasSuffix(row.Reason, c.reason)
				}) {
					t.Errorf("got %+v, want %s: %s", r.Rows, c.status, c.reason)
				}
			})
		}
	}
}

// TestGuardsOfGitHub holds which keys of a job and of a workflow leave it out, and what is written for the others.
func TestGuardsOfGitHub(t *testing.T) {
	for keys, has := range map[string]string{
		"environment: production":                                             "",
		"strange: x":                                                          "",
		"services: {db: {image: postgres}}":                                   "",
		"container: {image: debian, volumes: [/a]}":                           "",
		"container: {image: debian, env: {A: '${{ secrets.A }}'}}":            "",
		"container: '${{ matrix.image }}'":                                    "",
		"continue-on-error: '${{ matrix.x }}'":                                "",
		"timeout-minutes: soon":                                               "",
		"container: debian, services: {db: {image: x, options: --memory 1g}}": "",
		"container: debian, services: {db: {image: x, volumes: [a]}}":         "",
		"outputs: {x: y}":                                                     "echo GUARDED",
		"concurrency: {group: deploy}":                                        "max-active-runs: 1",
		"concurrency: deploy":                                                 "max-active-runs: 1",
		"container: debian:12":                                                "container:\n          image: debian:12\n          network: true\n        sh: |-\n          set -e\n          echo GUARDED",
		"container: {image: debian, env: {A: c, B: c}}, env: {A: j}":          "variables:\n            A: j\n            B: c\n",
		"container: debian, defaults: {run: {shell: bash}}":                   "bash: |-",
		"container: debian, services: {db: {image: 'postgres:17', env: {P: x}, ports: ['5432:5432'], options: '--health-cmd \"pg_isready -U x\" --health-interval=10s --health-timeout 5s --health-retries 5'}}": "services:\n            db:\n              image: postgres:17\n              env:\n                P: x\n              health:\n                command: pg_isready -U x\n                interval: 10s\n                timeout: 5s\n                retries: 5",
		"container: debian, services: {db: {image: x, options: \"--health-cmd 'ping || exit 1'\"}}":                                                                                                              "command: sh -c 'ping || exit 1'",
	} {
		r, err := read("github", "jobs:\n  a: {"+keys+", steps: [{run: echo GUARDED}]}\n  b: {steps: [{run: echo b}]}\n")
		if err != nil {
			t.Errorf("%s: %v", keys, err)
			continue
		}
		text := definitions(t, r)
		if strings.Contains(text, "GUARDED") != (has != "") || !strings.Contains(text, has) {
			t.Errorf("%s: want %q:\n%s%+v", keys, has, text, r.Rows)
		}
	}
}

func TestDaguReasons(t *testing.T) {
	for _, c := range []struct {
		src    string
		status importer.Status
		reason string
	}{
		{"params: DATE=d\n", changed, "the parameter DATE is DATE_PARAM"},
		{"params: {a-b: d}\n", left, "a name has up to 60 letters"},
		{"schedule: 0 7 * * *\nmax_active_runs: 3\n", changed, "a run over the limit of 3 is queued"},
		{"type: graph\nsteps:\n  - {name: b, command: echo b, depends: [a]}\n  - {name: a, command: echo a, executor: docker}\n  - {name: c, command: echo c}\n", left, "it needs a, which is left out"},
		{"steps:\n  - {name: b, command: echo b, depends: [a]}\n  - {name: a, command: echo a, depends: [b]}\n", left, "its depends form a cycle"},
		{"steps:\n  - {name: a, command: echo a}\n  - {name: b, command: echo b}\n  - {name: c, command: echo b, depends: [a]}\n", changed, "the steps without depends start at once"},
		{"steps:\n  - {name: a, run: etl/extract}\n", left, "a DAG or a command"},
		{"steps:\n  - {name: a, run: ./extract}\n", exact, ""},
		{"maxCleanUpTimeSec: 300\nqueue: x\nrestartWaitSec: 1\nsteps: [echo x]\n", left, "flowrun has no counterpart; it does not change what the steps do"},
		{"handlerOn: {init: {command: echo x, executor: docker}}\n", left, "its init handler: flowrun has no counterpart for executor"},
		{"log_output: separate\n", left, "write it in the tool or in the settings"},
		{"handlerOn: {Init: {command: echo x}}\n", changed, "it is the first step"},
		{"params: A=b\nsteps: [{name: a, command: echo x, preconditions: [{condition: A, expected: b}]}]\n", left, "does not evaluate its preconditions"},
		{"params: A=b\nsteps: [{name: a, command: 'echo ${{ params.A }}'}]\n", left, "Dagu replaces ${{ params.A }}, flowrun does not"},
		{"params: [{name: A, type: integer, required: true}]\n", changed, "flowrun does not check the type of A"},
		{"params: [{name: A, default: 3, description: How many}]\n", exact, ""},
		{"params: [{name: A, eval: date}]\n", left, "the parameter A has eval"},
		{"steps: ['[[ a == a ]]']\n", changed, "it has no shell"},
		{"steps: ['echo -e x']\n", changed, "it has no shell"},
		{"steps: [source x]\n", changed, "it has no shell"},
		{"steps: [/opt/run --all=1 x.txt]\n", exact, ""},
		{"shell: bash\nsteps: [{name: a, command: '[[ a == a ]]'}]\n", exact, ""},
		{"steps: [{name: a, shell: bash, command: '[[ a == a ]]'}]\n", exact, ""},
		{"steps: [{name: a, command: bash, script: '[[ a == a ]]'}]\n", exact, ""},
		{"steps: [{name: a, script: \"#!/bin/bash\\n[[ a == a ]]\"}]\n", exact, ""},
		{"steps: [{script: \"#!/usr/bin/perl\\nprint 1\"}]\n", left, "flowrun has no steps for #!/usr/bin/perl"},
	} {
		if !strings.Contains(c.src, "steps") {
			c.src += "steps: [echo x]\n"
		}
		r, err := read("dagu", c.src)
		if err != nil {
			t.Fatal(err)
		}
		definitions(t, r)
		if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool { return row.Status == c.status && strings.Contains(row.Reason, c.reason) }) ||
			c.status == exact && worst(r.Rows) != exact {
			t.Errorf("%s: got %+v, want %s: %s", c.src, r.Rows, c.status, c.reason)
		}
	}
}

// TestDaguChain holds what the steps of a chain wait for if some have depends.
func TestDaguChain(t *testing.T) {
	r, err := read("dagu", "type: chain\nsteps:\n  - echo a\n  - echo b\n  - {id: c, command: echo c, depends: step-1}\n  - {name: d, command: echo d, depends: []}\n  - echo e\n")
	if err != nil {
		t.Fatal(err)
	}
	definitions(t, r)
	var got []string
	for _, s := range r.Tools[0].Steps {
		got = append(got, s.Name+" after "+strings.Join(s.WaitFor, ", "))
	}
	if want := []string{"step-1 after ", "step-2 after step-1", "c after step-1, step-2", "d after ", "step-5 after d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDaguRetries holds the retry of a step.
func TestDaguRetries(t *testing.T) {
	for policy, want := range map[string]string{
		"{limit: 3, intervalSec: 5}": "{attempts: 3, delay: 5s, backoff: constant}",
		"{limit: 3}":                 "{attempts: 3, delay: 1ms, backoff: constant}",
		"{limit: 3, intervalSec: 0}": "{attempts: 3, delay: 1ms, backoff: constant}",
		"{limit: 3, intervalSec: 5, backoff: true, maxIntervalSec: 1}":  "maxIntervalSec of its retryPolicy is less than intervalSec",
		"{limit: 3, intervalSec: 5, backoff: true, maxIntervalSec: 60}": "{attempts: 3, delay: 5s, backoff: exponential, max-delay: 60s}",
		"{limit: 3, interval_sec: 5, backoff: 2.0, exit_code: [6, 22]}": "{attempts: 3, delay: 5s, backoff: exponential, exit-codes: [6, 22]}",
		"{limit: 3, intervalSec: 5, backoff: false, exitCode: 6}":       "{attempts: 3, delay: 5s, backoff: constant, exit-codes: [6]}",
		"{limit: 3, intervalSec: 5, backoff: 1.5}":                      "flowrun doubles the interval of a retry, and does not multiply it by 1.5",
		"{limit: 3, intervalSec: 5, exitCode: [many]}":                  "exitCode of its retryPolicy is not understood",
		"{limit: 3, intervalSec: 5, maxIntervalSec: x}":                 "maxIntervalSec of its retryPolicy is not understood",
	} {
		r, err := read("dagu", "steps: [{name: a, command: ./x, retryPolicy: "+policy+"}]\n")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(definitions(t, r)), " ")
		for _, row := range r.Rows {
			text += row.Reason
		}
		keys := strings.NewReplacer("{", "", "}", "", ", b", " b", ", d", " d", ", m", " m", ", e", " e").Replace(want)
		if !strings.Contains(text, keys) {
			t.Errorf("%s: want %s:\n%s", policy, keys, text)
		}
	}
}
