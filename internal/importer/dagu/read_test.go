package dagu_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/dagu"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

func read(src string) (*importer.Result, error) { return dagu.Read("dag.yaml", []byte(src)) }

var features = []importtest.Feature{
	{"`command`, `script`, `shell`", "steps:\n  - {name: a, command: echo x, shell: bash}\n", importtest.Exact, "bash: echo x"},
	{"commands without `shell`", "steps:\n  - {name: a, command: \"echo a | cat\"}\n", importtest.Changed, "# Changed: flowrun runs steps without shell in sh"},
	{"`depends`", "steps:\n  - {name: a, command: echo a}\n  - {name: b, command: echo b, depends: [a]}\n", importtest.Exact, "wait-for: [a]"},
	{"steps without `depends` and `type`", "steps:\n  - {name: a, command: echo a}\n  - {name: b, command: echo b}\n", importtest.Changed, "old versions start them together"},
	{"`env`, `params` with names", "params: A=b\nshell: sh\nsteps:\n  - {name: a, command: echo $A}\n", importtest.Exact, "A: '{A}'"},
	{"`params` with `type`, `enum`", "params: [{name: A, type: string, enum: [x, y]}]\nsteps:\n  - {name: a, command: echo x}\n", importtest.Changed, "enum: [x, y]"},
	{"`output`", "shell: sh\nsteps:\n  - {name: a, command: date, output: D}\n  - {name: b, command: \"echo ${D}\", depends: [a]}\n", importtest.Exact, "D: '{a.output}'"},
	{"`schedule`", "schedule: \"0 7 * * *\"\nsteps:\n  - {name: a, command: echo x}\n", importtest.Changed, "cron: 0 7 * * *\n    overlap: skip"},
	{"`retryPolicy` with `limit`, `intervalSec`, `exitCode` and a `backoff` of 2", "steps:\n  - {name: a, command: echo x, retryPolicy: {limit: 3, intervalSec: 5, exitCode: [1], backoff: 2}}\n", importtest.Exact, "backoff: exponential"},
	{"`continueOn`", "steps:\n  - {name: a, command: echo x, continueOn: {failure: true}}\n", importtest.Exact, "continue-on-error: true"},
	{"`preconditions` that compare a parameter or a variable of `env` with a text", "params: A=b\nsteps:\n  - {name: a, command: echo x, preconditions: [{condition: $A, expected: b}]}\n", importtest.Exact, "run-condition: '''{A}'' == ''b'''"},
	{"`handlerOn` (success, failure, exit)", "handlerOn: {exit: {command: echo bye}}\nsteps:\n  - {name: a, command: echo x}\n", importtest.Exact, "finally:"},
	{"`handlerOn` (init)", "handlerOn: {init: {command: echo hi}}\nsteps:\n  - {name: a, command: echo x}\n", importtest.Changed, "- name: on-init\n    sh: echo hi\n  - name: a"},
	{"`timeoutSec`, `maxActiveRuns`", "timeoutSec: 60\nmaxActiveRuns: 1\nsteps:\n  - {name: a, command: echo x}\n", importtest.Exact, "timeout: 60s"},
	{"parameters without names (`$1`)", "params: foo\nsteps:\n  - {name: a, command: echo $1}\n", importtest.Left, ""},
	{"`executor`, `parallel`, `repeatPolicy`, sub-DAGs", "steps:\n  - {name: a, command: echo x, executor: docker}\n", importtest.Left, ""},
	{"preconditions of the whole DAG", "preconditions: [test -f x]\nsteps:\n  - {name: a, command: echo x}\n", importtest.Left, ""},
	{"`mailOn`, `smtp`", "mailOn: {failure: true}\nsteps:\n  - {name: a, command: echo x}\n", importtest.Left, "# Left out: mailOn: notify of a tool sends e-mails."},
}

func TestFeatures(t *testing.T) { importtest.Features(t, "Dagu", read, features) }

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
var badInputs = []string{
	"steps:\n  - {name: a, depends: [missing], command: echo}\n",
	"steps:\n  - {name: a}\n",
	"steps:\n  - {name: a, command: [echo, x]}\n",
	"schedule: \"never\"\nsteps:\n  - {name: a, command: echo}\n",
	"steps:\n  - {name: a, command: echo, retryPolicy: {limit: many}}\n",
}

func TestBadInputs(t *testing.T) { importtest.BadInputs(t, read, badInputs) }

func FuzzRead(f *testing.F) { importtest.Fuzz(f, read, features, badInputs) }
