package importer_test

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/cron"
	"github.com/flowrun/flowrun/internal/importer/dagu"
	"github.com/flowrun/flowrun/internal/importer/github"
	"github.com/flowrun/flowrun/internal/importer/just"
	"github.com/flowrun/flowrun/internal/importer/makefile"
	"github.com/flowrun/flowrun/internal/importer/taskfile"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

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

// definitions renders all tools and compiles them.
func definitions(t *testing.T, r *importer.Result) string {
	t.Helper()
	var all []string
	for _, one := range r.Tools {
		text, err := importer.Render(one)
		if err != nil {
			t.Fatal(err)
		}
		def, found := tool.Decode(one.Name+".yaml", text)
		if err := found.Err(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if _, err := engine.CompileDefinition(&library.Library{}, def); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		all = append(all, string(text))
	}
	for _, row := range r.Rows {
		name, path, _ := strings.Cut(row.To, "/")
		i := slices.IndexFunc(r.Tools, func(t *importer.Tool) bool { return t.Name == name })
		if row.To != "" && (i < 0 || path != "" && !hasStep(r.Tools[i], path)) {
			t.Errorf("a row names %s, which is not written: %+v", row.To, row)
		}
	}
	return strings.Join(all, "---\n")
}

// hasStep reports whether a tool has a step at a path such as group/step.
func hasStep(t *importer.Tool, path string) bool {
	list := slices.Concat(t.Steps, t.OnSuccess, t.OnFailure, t.Finally)
	for name := range strings.SplitSeq(path, "/") {
		i := slices.IndexFunc(list, func(s *importer.Step) bool { return s.Name == name })
		if i < 0 {
			return false
		}
		list = list[i].Steps
	}
	return true
}

// feature is a row of a table in docs/reference/importing.md.
type feature struct {
	format, name, src string
	status            importer.Status
	has               string // in the definition
}

const (
	exact   = importer.Exact
	changed = importer.Changed
	left    = importer.LeftOut
)

func features() []feature {
	const job = "on: workflow_dispatch\njobs:\n  a:\n    steps:\n"
	return []feature{
		{"cron", "the five time fields, names, ranges, steps", "0 7 * * mon-fri echo x", changed, "cron: 0 7 * * mon-fri"},
		{"cron", "`@daily` and the like", "@daily echo x", changed, "cron: '@daily'"},
		{"cron", "`@reboot`, random times (`0~59`)", "@reboot echo x", left, "Left out: the schedule @reboot"},
		{"cron", "`*/2` in one day field and another day field", "0 7 */2 * 1 echo x", left, "Left out: the schedule"},
		{"cron", "a step without a range (`5/10`)", "5/10 * * * * echo x", changed, "# Changed: some crons run 5/10 only at 5"},
		{"cron", "six time fields", "0 */6 * * * * echo x", left, ""},
		{"cron", "variables", "A=b c\n", exact, ""},
		{"cron", "`SHELL` (sh, bash)", "SHELL=/bin/bash\n", exact, ""},
		{"cron", "`CRON_TZ`, `TZ`", "CRON_TZ=Europe/Zurich\n", exact, ""},
		{"cron", "`MAILTO`", "MAILTO=me\n", left, ""},
		{"cron", "`%` in a command", "0 7 * * * cat%a%b", changed, "input: |\n      a\n      b"},
		{"cron", "the user of a system crontab (`--system`)", "0 7 * * * root echo x", changed, "as the user root"},

		{"make", "targets in `.PHONY` with their prerequisites", ".PHONY: a b\na: b\n\techo a\nb:\n\techo b\n", exact, "- name: b\n    sh: echo b\n  - name: a"},
		{"make", "targets that are files", "out:\n\techo x > out\n", changed, "flowrun always runs it"},
		{"make", "recipe lines, each in a shell of its own; `@`, `-`", ".PHONY: a\na:\n\t@cd /tmp\n\t-false\n\tpwd\n", exact, "(\n      cd /tmp\n      ) || exit\n      false || true\n      pwd"},
		{"make", "variables (`=` `:=` `?=` `+=`)", "V := x\n", changed, ""},
		{"make", "prerequisites without a rule", ".PHONY: a\na: go.mod\n\techo a\n", changed, "sh: test -e go.mod\n  - name: a"},
		{"make", "`$@`, `$<`, `$^`, `$$`", ".PHONY: a b\na: b\n\techo $@ $< $^ $$HOME\nb:\n\techo b\n", exact, "sh: echo a b b $HOME"},
		{"make", "`$(MAKE)`", ".PHONY: a\na:\n\t$(MAKE) -C sub\n", exact, "sh: make -C sub"},
		{"make", "functions: `$(shell ...)`, `$(wildcard ...)`", ".PHONY: a\na:\n\techo $(shell date)\n", left, ""},
		{"make", "variables that the file does not set", ".PHONY: a\na:\n\techo $(UNKNOWN)\n", left, ""},
		{"make", "`$(HOME)`, `$(PATH)`, `$(CURDIR)`, `$(PWD)`", ".PHONY: a\na:\n\techo $(HOME) $(CURDIR)\n", changed, "echo {HOME} {WORKSPACE}"},
		{"make", "`MAKEFLAGS`, `unexport`", "MAKEFLAGS += -k\n.PHONY: a\na:\n\techo x\n", left, "Changed: make runs with the options of MAKEFLAGS: -k"},
		{"make", "`.POSIX`", ".POSIX:\n.PHONY: a\na:\n\techo x; echo y\n", exact, "set -e"},
		{"make", "conditionals (`ifeq`, `ifdef`)", "ifeq (a,b)\nendif\n", left, ""},
		{"make", "`include`", "include other.mk\n", left, ""},
		{"make", "pattern rules, double-colon rules", "%.o: %.c\n\tcc $<\n", left, ""},
		{"make", "`.ONESHELL`, `.RECIPEPREFIX`", ".ONESHELL:\n", left, ""},

		{"taskfile", "`cmds`, `cmd`, `desc`", "tasks:\n  a:\n    desc: Do it\n    cmds: [echo a, echo b]\n", exact, "description: Do it\n\nsteps:\n  - name: a\n    bash: |-\n      set -e\n      echo a\n      echo b"},
		{"taskfile", "`deps`", "tasks:\n  a:\n    deps: [b, c]\n    cmd: echo a\n  b: {internal: false, cmd: echo b}\n  c: {cmd: echo c}\n", exact, "- name: c\n    parallel: true"},
		{"taskfile", "calls of tasks, with `vars`", "tasks:\n  a:\n    cmds:\n      - task: b\n        vars: {X: y}\n  b: {internal: true, cmd: \"echo {{.X}}\"}\n", changed, "bash: echo y"},
		{"taskfile", "`vars` with fixed values", "vars: {V: x}\ntasks:\n  a: {cmd: \"echo {{.V}}\"}\n", changed, "bash: echo x"},
		{"taskfile", "`{{.X | default \"y\"}}`, `requires`", "tasks:\n  a: {cmd: 'echo {{.X | default \"y\"}}'}\n", changed, "default: y"},
		{"taskfile", "`env`, `dotenv`", "env: {A: b}\ntasks:\n  a: {cmd: env}\n", changed, "A: b"},
		{"taskfile", "`sources`, `generates`", "tasks:\n  a: {cmd: make, sources: [\"*.c\"], generates: [out]}\n", changed, "inputs:\n        - '*.c'"},
		{"taskfile", "`preconditions`", "tasks:\n  a: {cmd: echo x, preconditions: [test -f x]}\n", exact, "bash: test -f x"},
		{"taskfile", "`prompt`, also a list", "tasks:\n  a: {cmd: echo x, prompt: ['sure?', 'really?']}\n", changed, "approve: really?"},
		{"taskfile", "`platforms`", "tasks:\n  a: {cmd: echo x, platforms: [linux, darwin]}\n", changed, "platforms: [linux, macos]"},
		{"taskfile", "`ignore_error`", "tasks:\n  a:\n    cmds:\n      - {cmd: \"false\", ignore_error: true}\n", exact, "false || true"},
		{"taskfile", "`defer`", "tasks:\n  a:\n    cmds:\n      - defer: echo bye\n      - echo hi\n", exact, "finally:"},
		{"taskfile", "`status`", "tasks:\n  a: {cmd: echo x, status: [test -f x]}\n", exact, "run-condition: '{a-status.exit-code} != 0'"},
		{"taskfile", "`sh:` variables", "tasks:\n  a: {cmd: \"echo {{.V}}\", vars: {V: {sh: date}}}\n", left, ""},
		{"taskfile", "`for`", "tasks:\n  a:\n    cmds:\n      - {for: [x], cmd: echo}\n", left, ""},
		{"taskfile", "`{{.CLI_ARGS}}`, functions of templates", "tasks:\n  a: {cmd: \"echo {{.CLI_ARGS}}\"}\n", left, ""},
		{"taskfile", "`includes`", "includes: {b: ./b}\ntasks:\n  a: {cmd: echo x}\n", left, ""},

		{"dagu", "`command`, `script`, `shell`", "steps:\n  - {name: a, command: echo x, shell: bash}\n", exact, "bash: echo x"},
		{"dagu", "commands without `shell`", "steps:\n  - {name: a, command: \"echo a | cat\"}\n", changed, "# Changed: flowrun runs steps without shell in sh"},
		{"dagu", "`depends`", "steps:\n  - {name: a, command: echo a}\n  - {name: b, command: echo b, depends: [a]}\n", exact, "wait-for: [a]"},
		{"dagu", "steps without `depends` and `type`", "steps:\n  - {name: a, command: echo a}\n  - {name: b, command: echo b}\n", changed, "old versions start them together"},
		{"dagu", "`env`, `params` with names", "params: A=b\nshell: sh\nsteps:\n  - {name: a, command: echo $A}\n", exact, "A: '{A}'"},
		{"dagu", "`params` with `type`, `enum`", "params: [{name: A, type: string, enum: [x, y]}]\nsteps:\n  - {name: a, command: echo x}\n", changed, "enum: [x, y]"},
		{"dagu", "`output`", "shell: sh\nsteps:\n  - {name: a, command: date, output: D}\n  - {name: b, command: \"echo ${D}\", depends: [a]}\n", exact, "D: '{a.output}'"},
		{"dagu", "`schedule`", "schedule: \"0 7 * * *\"\nsteps:\n  - {name: a, command: echo x}\n", changed, "cron: 0 7 * * *\n    overlap: skip"},
		{"dagu", "`retryPolicy` with `limit`, `intervalSec`, `exitCode` and a `backoff` of 2", "steps:\n  - {name: a, command: echo x, retryPolicy: {limit: 3, intervalSec: 5, exitCode: [1], backoff: 2}}\n", exact, "backoff: exponential"},
		{"dagu", "`continueOn`", "steps:\n  - {name: a, command: echo x, continueOn: {failure: true}}\n", exact, "continue-on-error: true"},
		{"dagu", "`preconditions` that compare a parameter or a variable of `env` with a text", "params: A=b\nsteps:\n  - {name: a, command: echo x, preconditions: [{condition: $A, expected: b}]}\n", exact, "run-condition: '''{A}'' == ''b'''"},
		{"dagu", "`handlerOn` (success, failure, exit)", "handlerOn: {exit: {command: echo bye}}\nsteps:\n  - {name: a, command: echo x}\n", exact, "finally:"},
		{"dagu", "`handlerOn` (init)", "handlerOn: {init: {command: echo hi}}\nsteps:\n  - {name: a, command: echo x}\n", changed, "- name: on-init\n    sh: echo hi\n  - name: a"},
		{"dagu", "`timeoutSec`, `maxActiveRuns`", "timeoutSec: 60\nmaxActiveRuns: 1\nsteps:\n  - {name: a, command: echo x}\n", exact, "timeout: 60s"},
		{"dagu", "parameters without names (`$1`)", "params: foo\nsteps:\n  - {name: a, command: echo $1}\n", left, ""},
		{"dagu", "`executor`, `parallel`, `repeatPolicy`, sub-DAGs", "steps:\n  - {name: a, command: echo x, executor: docker}\n", left, ""},
		{"dagu", "preconditions of the whole DAG", "preconditions: [test -f x]\nsteps:\n  - {name: a, command: echo x}\n", left, ""},
		{"dagu", "`mailOn`, `smtp`", "mailOn: {failure: true}\nsteps:\n  - {name: a, command: echo x}\n", left, "# Left out: mailOn: notify of a tool sends e-mails."},

		{"github", "`run`, `shell` (bash, sh, python)", job + "      - run: echo x\n", changed, "set -e\n          echo x"},
		{"github", "`needs`", "jobs:\n  a: {steps: [{run: echo a}]}\n  b: {needs: a, steps: [{run: echo b}]}\n", changed, "wait-for: [a]"},
		{"github", "`env` with fixed values", "env: {A: b}\n" + job + "      - run: echo ${{ env.A }}\n", changed, "echo b"},
		{"github", "`matrix`, `include`, `exclude`, `max-parallel`", "jobs:\n  a:\n    strategy: {matrix: {os: [x, y]}}\n    steps: [{run: \"echo ${{ matrix.os }}\"}]\n", changed, "Changed: all combinations run on this machine"},
		{"github", "`if` with one comparison or `always()`", job + "      - {run: echo x, if: always()}\n", changed, "run-condition: always()"},
		{"github", "`on: schedule`", "on: {schedule: [{cron: \"0 7 * * *\"}]}\njobs:\n  a: {steps: [{run: echo a}]}\n", changed, "timezone: UTC"},
		{"github", "inputs of `workflow_dispatch`", "on: {workflow_dispatch: {inputs: {who: {default: x}}}}\njobs:\n  a: {steps: [{run: \"echo ${{ inputs.who }}\"}]}\n", changed, "echo {who}"},
		{"github", "a secret in `env`, under its own name", job + "      - {run: ./x, env: {TOKEN: \"${{ secrets.TOKEN }}\"}}\n", changed, "env: TOKEN"},
		{"github", "`working-directory`, `timeout-minutes`, `continue-on-error`", job + "      - {run: ./x, working-directory: sub, timeout-minutes: 2}\n", changed, "timeout: 120s"},
		{"github", "`uses`", job + "      - uses: actions/checkout@v4\n      - run: echo x\n", left, "Left out: step 1"},
		{"github", "`on: push` and other events", "on: push\njobs:\n  a: {steps: [{run: echo a}]}\n", left, ""},
		{"github", "other expressions", job + "      - run: echo x\n      - run: echo ${{ github.sha }}\n", left, "Left out: step 2"},
		{"github", "`$GITHUB_OUTPUT` with names that can be found", job + "      - {id: a, run: echo v=b >> $GITHUB_OUTPUT}\n      - {run: echo x, if: \"steps.a.outputs.v == 'b'\"}\n", changed, "run-condition: '''{a-2.outputs.v}'' matches"},
		{"github", "`$GITHUB_ENV`, `$GITHUB_PATH` and other outputs", job + "      - run: echo x\n      - run: echo a=b >> $GITHUB_ENV\n", left, "Left out: step 2"},
		{"github", "`container`, and `services` of a job with a `container`", "jobs:\n  a: {container: alpine, services: {db: {image: 'redis:8'}}, steps: [{run: echo a}]}\n", changed, "image: redis:8"},
		{"github", "`services` of a job without `container`", "jobs:\n  a: {services: {db: {image: 'redis:8'}}, steps: [{run: echo a}]}\n", left, ""},
		{"github", "`concurrency`", "concurrency: deploy\njobs:\n  a: {steps: [{run: echo a}]}\n", changed, "max-active-runs: 1"},
		{"github", "`environment` and other keys of a job", "jobs:\n  a: {environment: production, steps: [{run: echo a}]}\n", left, ""},

		{"just", "recipes and dependencies, also after `&&`", "a: b && c\n  echo a\nb:\n  echo b\nc:\n  echo c\n", exact, "- name: b\n    sh: |-\n      set -u\n      echo b\n  - name: a"},
		{"just", "lines, each in a shell of its own; `@`, `-`", "a:\n  @cd /tmp\n  -false\n  pwd\n", exact, "false || true"},
		{"just", "parameters, also `+` and `*`", "a who='x' *rest:\n  echo {{who}} {{rest}}\n", changed, "echo {who} {rest}"},
		{"just", "variables with fixed values, `+`, `/`", "v := 'x' / \"y\"\na:\n  echo {{v}}\n", changed, "echo x/y"},
		{"just", "`export` and `set export`", "export V := 'x'\na:\n  echo $V\n", changed, "V: x"},
		{"just", "shebang recipes (bash, sh, python)", "a:\n  #!/usr/bin/env python3\n  print(1)\n", exact, "python: print(1)"},
		{"just", "`set shell` (bash, sh), `set export`", "set shell := ['bash', '-c']\nset export\na:\n  echo x\n", exact, "bash: "},
		{"just", "`set dotenv-load`", "set dotenv-load\na:\n  echo x\n", changed, "path: .env"},
		{"just", "`set working-directory`, `[working-directory]`", "set working-directory := 'sub'\na:\n  echo x\n", exact, "working-directory: sub"},
		{"just", "`[private]`, `_names`", "a: _b\n  echo a\n_b:\n  echo b\n", changed, "name: _b"},
		{"just", "`[linux]`, `[macos]`, `[windows]`, `[unix]`", "[linux]\na:\n  echo x\n", exact, "platforms: [linux]"},
		{"just", "`[confirm]`", "[confirm('Sure?')]\na:\n  echo x\n", changed, "approve: Sure?"},
		{"just", "`justfile_directory()`, `invocation_directory()`", "a:\n  ls {{justfile_directory()}}\n", changed, "ls {WORKSPACE}"},
		{"just", "commands in backticks, other functions, `if`", "v := `date`\na:\n  echo {{v}}\n", left, ""},
		{"just", "dependencies with arguments", "a: (b 'x')\n  echo a\nb y:\n  echo {{y}}\n", left, ""},
		{"just", "`alias`, `import`, `mod`", "alias b := a\na:\n  echo x\n", left, ""},
		{"just", "`set positional-arguments`, other attributes", "set positional-arguments\na:\n  echo x\n", left, ""},
	}
}

// worst is the status of the row that differs most from exact.
func worst(rows []importer.Row) importer.Status {
	order := []importer.Status{exact, changed, left}
	at := 0
	for _, r := range rows {
		at = max(at, slices.Index(order, r.Status))
	}
	return order[at]
}

// TestFeatures holds each row of docs/reference/importing.md against a file with that feature, and the page against the table.
func TestFeatures(t *testing.T) {
	page, err := os.ReadFile(filepath.FromSlash("../../docs/reference/importing.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, f := range features() {
		t.Run(f.format+" "+f.name, func(t *testing.T) {
			format := f.format
			if strings.Contains(f.name, "--system") {
				format += " --system"
			}
			r, err := read(format, f.src)
			if err != nil {
				t.Fatal(err)
			}
			text := definitions(t, r)
			if got := worst(r.Rows); len(r.Rows) == 0 || got != f.status {
				t.Errorf("got %s, want %s: %+v", got, f.status, r.Rows)
			}
			if !strings.Contains(text, f.has) {
				t.Errorf("the definition does not contain %q:\n%s", f.has, text)
			}
		})
		want = append(want, "| "+f.name+" | "+string(f.status)+" |")
	}
	var got []string
	for _, line := range strings.Split(string(page), "\n") {
		line = strings.ReplaceAll(line, `\|`, "|")
		if strings.HasSuffix(line, " | left out |") || strings.HasSuffix(line, " | exact |") || strings.HasSuffix(line, " | changed |") {
			got = append(got, line)
		}
	}
	slices.SortFunc(got, cmp.Compare[string])
	slices.SortFunc(want, cmp.Compare[string])
	if !slices.Equal(got, want) {
		t.Errorf("the tables of docs/reference/importing.md differ:\ngot\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
