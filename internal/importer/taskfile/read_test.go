package taskfile_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/taskfile"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

func read(src string) (*importer.Result, error) { return taskfile.Read("Taskfile.yml", []byte(src)) }

var features = []importtest.Feature{
	{"`cmds`, `cmd`, `desc`", "tasks:\n  a:\n    desc: Do it\n    cmds: [echo a, echo b]\n", importtest.Exact, "description: Do it\n\nsteps:\n  - name: a\n    bash: |-\n      set -e\n      echo a\n      echo b"},
	{"`deps`", "tasks:\n  a:\n    deps: [b, c]\n    cmd: echo a\n  b: {internal: false, cmd: echo b}\n  c: {cmd: echo c}\n", importtest.Exact, "- name: c\n    parallel: true"},
	{"calls of tasks, with `vars`", "tasks:\n  a:\n    cmds:\n      - task: b\n        vars: {X: y}\n  b: {internal: true, cmd: \"echo {{.X}}\"}\n", importtest.Changed, "bash: echo y"},
	{"`vars` with fixed values", "vars: {V: x}\ntasks:\n  a: {cmd: \"echo {{.V}}\"}\n", importtest.Changed, "bash: echo x"},
	{"`{{.X | default \"y\"}}`, `requires`", "tasks:\n  a: {cmd: 'echo {{.X | default \"y\"}}'}\n", importtest.Changed, "default: y"},
	{"`env`, `dotenv`", "env: {A: b}\ntasks:\n  a: {cmd: env}\n", importtest.Changed, "A: b"},
	{"`sources`, `generates`", "tasks:\n  a: {cmd: make, sources: [\"*.c\"], generates: [out]}\n", importtest.Changed, "inputs:\n        - '*.c'"},
	{"`preconditions`", "tasks:\n  a: {cmd: echo x, preconditions: [test -f x]}\n", importtest.Exact, "bash: test -f x"},
	{"`prompt`, also a list", "tasks:\n  a: {cmd: echo x, prompt: ['sure?', 'really?']}\n", importtest.Changed, "approve: really?"},
	{"`platforms`", "tasks:\n  a: {cmd: echo x, platforms: [linux, darwin]}\n", importtest.Changed, "platforms: [linux, macos]"},
	{"`ignore_error`", "tasks:\n  a:\n    cmds:\n      - {cmd: \"false\", ignore_error: true}\n", importtest.Exact, "false || true"},
	{"`defer`", "tasks:\n  a:\n    cmds:\n      - defer: echo bye\n      - echo hi\n", importtest.Exact, "finally:"},
	{"`status`", "tasks:\n  a: {cmd: echo x, status: [test -f x]}\n", importtest.Exact, "run-condition: '{a-status.exit-code} != 0'"},
	{"`sh:` variables", "tasks:\n  a: {cmd: \"echo {{.V}}\", vars: {V: {sh: date}}}\n", importtest.Left, ""},
	{"`for`", "tasks:\n  a:\n    cmds:\n      - {for: [x], cmd: echo}\n", importtest.Left, ""},
	{"`{{.CLI_ARGS}}`, functions of templates", "tasks:\n  a: {cmd: \"echo {{.CLI_ARGS}}\"}\n", importtest.Left, ""},
	{"`includes`", "includes: {b: ./b}\ntasks:\n  a: {cmd: echo x}\n", importtest.Left, ""},
}

func TestFeatures(t *testing.T) { importtest.Features(t, "Taskfiles (go-task)", read, features) }

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
var badInputs = []string{
	"tasks:\n  a: [\n",
	"- a\n",
	"",
	"tasks:\n  a: {deps: [b]}\n  b: {deps: [a]}\n",
	"tasks:\n  a: {deps: [missing], cmd: echo}\n",
	"tasks:\n  a: {cmd: \"echo {{.X\"}\n",
}

func TestBadInputs(t *testing.T) { importtest.BadInputs(t, read, badInputs) }

func FuzzRead(f *testing.F) { importtest.Fuzz(f, read, features, badInputs) }
