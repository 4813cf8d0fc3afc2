package taskfile_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestRows checks rows and their reasons: what flowrun does not do the same is not exact.
func TestRows(t *testing.T) {
	importtest.Rows(t, read, []importtest.Case{
		{"set: [pipefail, noglob]\ntasks:\n  a: {cmd: echo x}\n", "set", importtest.Exact, "", "set -f\n      set -o pipefail"},
		{"set: [pipefail]\ntasks:\n  a: {cmd: echo x}\n", "set", importtest.Exact, "", "set -o pipefail"},
		{"tasks:\n  a: {cmd: pwd, dir: sub/x}\n", "task a", importtest.Exact, "", "mkdir -p -- sub/x"},
		{"tasks:\n  a: {cmd: pwd, dir: my folder}\n", "task a", importtest.Changed, "the folder my folder must exist", ""},
		{"tasks:\n  a: {cmd: pwd, dir: ./}\n", "task a", importtest.Exact, "", "\nsteps:\n  - name: a\n    working-directory: ./"},
		{"tasks:\n  a: {cmd: echo x, platforms: [windows]}\n", "task a", importtest.Changed, "go-task skips it and succeeds", "platforms: [windows]"},
		{"tasks:\n  a: {cmd: 'echo {{.V}}', requires: {vars: [V]}, vars: {V: x}}\n", "task a", importtest.Exact, "", "bash: echo x"},
		{"tasks:\n  a: {cmd: 'echo {{.V}}', requires: {vars: [V]}}\n", "task a", importtest.Changed, "a variable of the environment does not give V", "required: true"},
		{"tasks:\n  a: {cmd: 'echo {{.V | default \"y\"}}'}\n", "task a", importtest.Changed, "a variable of the environment does not give V", "default: y"},
		{"tasks:\n  a: {cmd: 'echo {{.V}}', vars: {V: 2024-01-02}}\n", "task a", importtest.Left, "go-task reads 2024-01-02 as a time", ""},
		{"vars: {NAME: '{{.NAME | default \"bob\"}}'}\ntasks:\n  a: {cmd: 'echo {{.NAME}} {{.NAME}}'}\n", "variable NAME", importtest.Changed, "it is a parameter", "default: bob"},
		{"vars: {NAME: '{{.NAME | default \"bob\"}}', ALL: 'hi {{.NAME}}'}\ntasks:\n  a: {cmds: [{task: b}, 'echo {{.ALL}}']}\n  b: {internal: true, cmds: ['echo {{.NAME}}']}\n", "task a", importtest.Changed, "", "echo hi {NAME}"},
		{"vars: {NAME: '{{default \"bob\" .NAME}}'}\nenv: {N: '{{.NAME}}'}\ntasks:\n  a: {cmd: 'echo x'}\n", "task a", importtest.Changed, "env N of the file is left out", ""},
		{"env: {N: {sh: date}}\ntasks:\n  a: {cmd: 'rm -rf /srv/$N'}\n", "task a", importtest.Left, "it reads N, which env of the file sets to a value that is known only when it runs", ""},
		{"tasks:\n  a: {cmd: 'echo x', vars: {V: {sh: 'test -f licence'}}}\n", "task a", importtest.Left, "its variable V is the output of a command, and go-task stops if that fails", ""},
		{"vars: {V: {sh: 'test -f licence'}}\ntasks:\n  a: {cmd: 'echo x'}\n", "task a", importtest.Changed, "the command of the variable V, after whose failure go-task runs nothing, of the file is left out", "echo x"},
		{"env: {N: {sh: date}}\ntasks:\n  a: {cmd: 'echo $N', env: {N: x}}\n", "task a", importtest.Changed, "env N of the file is left out", "echo $N"},
		{"dotenv: ['{{.E}}']\ntasks:\n  a: {cmd: 'rm -rf /srv/$N'}\n", "task a", importtest.Left, "it reads N, which dotenv of the file may set", ""},
		{"tasks:\n  a: {cmd: echo x, prompt: ['sure?', 'really?', '']}\n", "task a", importtest.Changed, "its question is an approval", "approve: sure?\n  - name: confirm-2\n    approve: really?\n  - name: a\n"},
		{"tasks:\n  a: {cmd: echo x, prompt: ''}\n", "task a", importtest.Exact, "", "echo x"},
		{"tasks:\n  a: {cmds: [{task: b, ignore_error: true}, echo x]}\n  b: {cmd: echo b, prompt: 'sure?'}\n", "task a", importtest.Left, "flowrun would ignore also the answer no", ""},
		{"tasks:\n  a: {deps: [b], cmd: echo x}\n  b: {internal: true, cmd: echo b, prompt: {a: b}}\n", "task a", importtest.Left, "it needs b, which is left out: line 3: prompt: expected a text, found a mapping", ""},
		{"tasks:\n  a: {cmd: echo x, platforms: [freebsd]}\n", "task a", importtest.Left, "its platforms have no counterpart", ""},
		{"tasks:\n  a: {cmd: 'echo {{.E}}', requires: {vars: [{name: E, enum: [dev, prod]}]}}\n", "task a", importtest.Changed, "", "enum: [dev, prod]"},
		{"tasks:\n  a: {cmd: echo x, vars: {E: y}, requires: {vars: [{name: E, enum: [dev, prod]}]}}\n", "task a", importtest.Left, "flowrun does not check the values of E", ""},
		{"tasks:\n  a: {cmd: echo x, sources: [x], status: [y]}\n", "task a", importtest.Left, "status together with sources", ""},
		{"tasks:\n  a: {cmd: echo x, cmds: [echo y]}\n", "task a", importtest.Left, "it has cmd and cmds", ""},
		{"tasks:\n  a: {cmds: [{cmd: echo x, task: b}]}\n  b: {cmd: echo b}\n", "task a", importtest.Left, "a command has cmd and task", ""},
		{"vars: {NAME: '{{.NAME | default \"bob\"}}'}\ntasks:\n  a: {cmd: 'echo x'}\n", "task a", importtest.Exact, "", "bash: echo x"},
		{"tasks:\n  a: {cmds: [{task: b}]}\n  b: {internal: true, vars: {V: '{{default \"x\" .V}}'}, cmds: ['echo {{.V}}']}\n", "task a", importtest.Changed, "the default of V is written into the commands", "bash: echo x"},
		{"tasks:\n  a: {cmds: [{task: b, vars: {V: y}}]}\n  b: {internal: true, vars: {V: '{{default \"x\" .V}}'}, cmds: ['echo {{.V}}']}\n", "task a", importtest.Exact, "", "bash: echo y"},
	})
}

// TestNumbers holds the texts that go-task makes of numbers in YAML.
func TestNumbers(t *testing.T) {
	for written, want := range map[string]string{
		"10": "10", "010": "8", "0o17": "15", "0x1F": "31", "0b11": "3", "1_000": "1000", "-5": "-5", "+5": "5",
		"1.50": "1.5", ".5": "0.5", "1e3": "1000", "1e21": "1e+21", "True": "true", "FALSE": "false", "yes": "yes",
		"1.2.3": "1.2.3", `"010"`: "010", "'1.50'": "1.50", "v010": "v010",
	} {
		for _, src := range []string{
			"tasks:\n  a: {cmd: 'echo [{{.V}}]', vars: {V: " + written + "}}\n",
			"vars: {V: " + written + "}\ntasks:\n  a: {cmd: 'echo [{{.V}}]'}\n",
		} {
			r, err := read(src)
			if err != nil {
				t.Fatal(err)
			}
			if text := importtest.Definitions(t, r); !strings.Contains(text, "echo ["+want+"]") {
				t.Errorf("%s: want %s:\n%s", written, want, text)
			}
		}
	}
}
