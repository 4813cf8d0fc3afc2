package importer_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
)

// TestTaskfileAndJustRows holds rows and their reasons: what flowrun does not do the same is not exact.
func TestTaskfileAndJustRows(t *testing.T) {
	const export = "a:\n  echo x\n"
	for _, c := range []struct {
		format, src, what string
		status            importer.Status
		reason            string
		has               string // in the definitions
	}{
		{"just", "set dotenv-load\n" + export, "set dotenv-load", changed, "the environment wins", ""},
		{"just", "unexport FOO\n" + export, "recipe a", changed, "unexport FOO is left out", "# Changed: unexport FOO is left out"},
		{"just", "set strange\n" + export, "recipe a", changed, "set strange is left out", "# Changed: set strange is left out"},
		{"just", "set export\nv := `date`\n" + export, "recipe a", changed, "the variable v is not exported", ""},
		{"just", "v := if \"a\" == \"b\" { \"c\" } else { \"d\" }\n" + export, "variable v", left, "flowrun does not evaluate if-expressions", ""},
		{"just", "v := if \"a\" == \"b\" { \"c\" } else { \"d\" }\n" + export, "recipe a", exact, "", ""},

		{"just", "set script-interpreter := ['bash', '-c']\n" + export, "recipe a", exact, "", "sh: |-\n      set -u"},
		{"just", "v := if os() == 'x' {\n  'a'\n} else {\n  'b'\n}\na:\n  echo {{v}}\n", "recipe a", left, "it uses v: its value has several lines", ""},
		{"just", "a:\n  ls {{justfile_directory()}}/x {{ invocation_directory() / 'y' }}\n", "recipe a", changed, "justfile_directory() is the folder in which flowrun was started", "ls {WORKSPACE}/x {WORKSPACE}/y"},
		{"just", "export V := justfile_dir()\n" + export, "recipe a", changed, "justfile_directory() is the folder", "V: '{WORKSPACE}'"},
		{"just", "d := justfile_directory()\na v=d:\n  ls {{v}}\n", "recipe a", left, "a default: flowrun has no defaults that name a folder", ""},
		{"just", "set working-directory := justfile_directory() / 'x'\na:\n  ls\n", "recipe a", exact, "", "working-directory: '{WORKSPACE}/x'"},
		{"just", "a v=justfile_directory():\n  ls {{v}}\n", "recipe a", left, "", ""},
		{"just", "set default-list\n" + export, "recipe a", exact, "", ""},
		{"just", "a who='you and me':\n  echo '{{who}}' \"it's {{who}}\"\n", "recipe a", changed, "", "default: you and me"},
		{"just", "a args='--x --y':\n  go {{args}}\n", "recipe a", changed, "", "type: array"},
		{"just", "a args='--x \"y z\"':\n  go {{args}}\n", "recipe a", changed, "the default of args is one word", ""},
		{"just", "a: b\nb who:\n  echo {{who}}\n", "recipe a", left, "it needs b, which has parameters without a default", ""},
		{"just", "[linux]\na: b\n[linux]\nb:\n  echo b\n", "recipe a", exact, "", "platforms: [linux]"},
		{"just", "a: b\n[linux]\nb:\n  echo b\n", "recipe a", left, "for some platforms only", ""},
		{"just", "set working-directory := `pwd`\n" + export, "recipe a", left, "set working-directory: flowrun does not evaluate `pwd`", ""},

		{"taskfile", "set: [pipefail, noglob]\ntasks:\n  a: {cmd: echo x}\n", "set", exact, "", "set -f\n      set -o pipefail"},
		{"taskfile", "set: [pipefail]\ntasks:\n  a: {cmd: echo x}\n", "set", exact, "", "set -o pipefail"},
		{"taskfile", "tasks:\n  a: {cmd: pwd, dir: sub/x}\n", "task a", exact, "", "mkdir -p -- sub/x"},
		{"taskfile", "tasks:\n  a: {cmd: pwd, dir: my folder}\n", "task a", changed, "the folder my folder must exist", ""},
		{"taskfile", "tasks:\n  a: {cmd: pwd, dir: ./}\n", "task a", exact, "", "\nsteps:\n  - name: a\n    working-directory: ./"},
		{"taskfile", "tasks:\n  a: {cmd: echo x, platforms: [windows]}\n", "task a", changed, "go-task skips it and succeeds", "platforms: [windows]"},
		{"taskfile", "tasks:\n  a: {cmd: 'echo {{.V}}', requires: {vars: [V]}, vars: {V: x}}\n", "task a", exact, "", "bash: echo x"},
		{"taskfile", "tasks:\n  a: {cmd: 'echo {{.V}}', requires: {vars: [V]}}\n", "task a", changed, "a variable of the environment does not give V", "required: true"},
		{"taskfile", "tasks:\n  a: {cmd: 'echo {{.V | default \"y\"}}'}\n", "task a", changed, "a variable of the environment does not give V", "default: y"},
		{"taskfile", "tasks:\n  a: {cmd: 'echo {{.V}}', vars: {V: 2024-01-02}}\n", "task a", left, "go-task reads 2024-01-02 as a time", ""},

		{"taskfile", "vars: {NAME: '{{.NAME | default \"bob\"}}'}\ntasks:\n  a: {cmd: 'echo {{.NAME}} {{.NAME}}'}\n", "variable NAME", changed, "it is a parameter", "default: bob"},
		{"taskfile", "vars: {NAME: '{{.NAME | default \"bob\"}}', ALL: 'hi {{.NAME}}'}\ntasks:\n  a: {cmds: [{task: b}, 'echo {{.ALL}}']}\n  b: {internal: true, cmds: ['echo {{.NAME}}']}\n", "task a", changed, "", "echo hi {NAME}"},
		{"taskfile", "vars: {NAME: '{{default \"bob\" .NAME}}'}\nenv: {N: '{{.NAME}}'}\ntasks:\n  a: {cmd: 'echo x'}\n", "task a", changed, "env N of the file is left out", ""},
		{"taskfile", "env: {N: {sh: date}}\ntasks:\n  a: {cmd: 'rm -rf /srv/$N'}\n", "task a", left, "it reads N, which env of the file sets to a value that is known only when it runs", ""},
		{"taskfile", "tasks:\n  a: {cmd: 'echo x', vars: {V: {sh: 'test -f licence'}}}\n", "task a", left, "its variable V is the output of a command, and go-task stops if that fails", ""},
		{"taskfile", "vars: {V: {sh: 'test -f licence'}}\ntasks:\n  a: {cmd: 'echo x'}\n", "task a", changed, "the command of the variable V, after whose failure go-task runs nothing, of the file is left out", "echo x"},
		{"just", "x := `test -f licence`\na:\n  echo x\n", "recipe a", changed, "the command or the call in the variable x, after whose failure just runs nothing, is left out", "echo x"},
		{"just", "x := env('NOPE')\na:\n  echo x\n", "recipe a", changed, "the command or the call in the variable x, after whose failure just runs nothing, is left out", "echo x"},
		{"taskfile", "env: {N: {sh: date}}\ntasks:\n  a: {cmd: 'echo $N', env: {N: x}}\n", "task a", changed, "env N of the file is left out", "echo $N"},
		{"taskfile", "dotenv: ['{{.E}}']\ntasks:\n  a: {cmd: 'rm -rf /srv/$N'}\n", "task a", left, "it reads N, which dotenv of the file may set", ""},
		{"taskfile", "tasks:\n  a: {cmd: echo x, prompt: ['sure?', 'really?', '']}\n", "task a", changed, "its question is an approval", "approve: sure?\n  - name: confirm-2\n    approve: really?\n  - name: a\n"},
		{"taskfile", "tasks:\n  a: {cmd: echo x, prompt: ''}\n", "task a", exact, "", "echo x"},
		{"taskfile", "tasks:\n  a: {cmds: [{task: b, ignore_error: true}, echo x]}\n  b: {cmd: echo b, prompt: 'sure?'}\n", "task a", left, "flowrun would ignore also the answer no", ""},
		{"taskfile", "tasks:\n  a: {deps: [b], cmd: echo x}\n  b: {internal: true, cmd: echo b, prompt: {a: b}}\n", "task a", left, "it needs b, which is left out: line 3: prompt: expected a text, found a mapping", ""},
		{"taskfile", "tasks:\n  a: {cmd: echo x, platforms: [freebsd]}\n", "task a", left, "its platforms have no counterpart", ""},
		{"taskfile", "tasks:\n  a: {cmd: 'echo {{.E}}', requires: {vars: [{name: E, enum: [dev, prod]}]}}\n", "task a", changed, "", "enum: [dev, prod]"},
		{"taskfile", "tasks:\n  a: {cmd: echo x, vars: {E: y}, requires: {vars: [{name: E, enum: [dev, prod]}]}}\n", "task a", left, "flowrun does not check the values of E", ""},
		{"taskfile", "tasks:\n  a: {cmd: echo x, sources: [x], status: [y]}\n", "task a", left, "status together with sources", ""},
		{"taskfile", "tasks:\n  a: {cmd: echo x, cmds: [echo y]}\n", "task a", left, "it has cmd and cmds", ""},
		{"taskfile", "tasks:\n  a: {cmds: [{cmd: echo x, task: b}]}\n  b: {cmd: echo b}\n", "task a", left, "a command has cmd and task", ""},
		{"taskfile", "vars: {NAME: '{{.NAME | default \"bob\"}}'}\ntasks:\n  a: {cmd: 'echo x'}\n", "task a", exact, "", "bash: echo x"},
	} {
		t.Run(c.format+" "+c.what+" "+c.reason, func(t *testing.T) {
			r, err := read(c.format, c.src)
			if err != nil {
				t.Fatal(err)
			}
			if text := definitions(t, r); !strings.Contains(text, c.has) {
				t.Errorf("the definitions do not contain %q:\n%s", c.has, text)
			}
			if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool {
				return row.What == c.what && row.Status == c.status && strings.Contains(row.Reason, c.reason)
			}) {
				t.Errorf("%s: got %+v, want %s %s: %s", c.src, r.Rows, c.what, c.status, c.reason)
			}
		})
	}
}

// TestTaskfileNumbers holds the texts that go-task makes of numbers in YAML.
func TestTaskfileNumbers(t *testing.T) {
	for written, want := range map[string]string{
		"10": "10", "010": "8", "0o17": "15", "0x1F": "31", "0b11": "3", "1_000": "1000", "-5": "-5", "+5": "5",
		"1.50": "1.5", ".5": "0.5", "1e3": "1000", "1e21": "1e+21", "True": "true", "FALSE": "false", "yes": "yes",
		"1.2.3": "1.2.3", `"010"`: "010", "'1.50'": "1.50", "v010": "v010",
	} {
		for _, src := range []string{
			"tasks:\n  a: {cmd: 'echo [{{.V}}]', vars: {V: " + written + "}}\n",
			"vars: {V: " + written + "}\ntasks:\n  a: {cmd: 'echo [{{.V}}]'}\n",
		} {
			r, err := read("taskfile", src)
			if err != nil {
				t.Fatal(err)
			}
			if text := definitions(t, r); !strings.Contains(text, "echo ["+want+"]") {
				t.Errorf("%s: want %s:\n%s", written, want, text)
			}
		}
	}
}
