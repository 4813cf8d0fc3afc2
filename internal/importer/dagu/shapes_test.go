package dagu_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// keys are the keys that the reader knows.
var keys = []importtest.Keys{
	{"KEY: VALUE\nshell: sh\nsteps: [{name: a, command: echo GUARDED}]\n", map[string]string{
		"name": importtest.Text, "description": importtest.Text, "type": importtest.Text, "dotenv": importtest.Texts, "timeoutSec": importtest.Text, "maxActiveRuns": importtest.Text,
		"workingDir": importtest.Text, "handlerOn": importtest.Map, "params": "[[w]]", "env": "[[w]]", "schedule": "[[w]]"}},
	{"shell: VALUE\nsteps: [{name: a, command: echo GUARDED}]\n", map[string]string{"shell": importtest.Texts}},
	{"steps: [{command: echo GUARDED, KEY: VALUE}]\n", map[string]string{
		"name": importtest.Text, "id": importtest.Text, "description": importtest.Text, "depends": importtest.Texts, "shell": importtest.Texts, "dir": importtest.Text, "workingDir": importtest.Text,
		"env": "[[w]]", "output": importtest.Text, "retryPolicy": importtest.Map, "continueOn": "[w]", "timeoutSec": importtest.Text, "preconditions": "[[w]]", "args": importtest.Texts}},
	{"steps: [{name: a, command: echo GUARDED, retryPolicy: {KEY: VALUE}}]\n", map[string]string{
		"limit": importtest.Text, "intervalSec": importtest.Text, "backoff": importtest.Text, "maxIntervalSec": importtest.Text, "exitCode": importtest.Texts}},
	{"steps: [{name: a, command: echo GUARDED, continueOn: {KEY: VALUE}}]\n", map[string]string{"failure": importtest.Bool, "skipped": importtest.Bool}},
	{"params: A=b\nsteps: [{name: a, command: echo GUARDED, preconditions: [{condition: $A, expected: b, KEY: VALUE}]}]\n", map[string]string{"condition": importtest.Text, "expected": importtest.Text}},
	{"params: [{name: A, KEY: VALUE}]\nsteps: [{name: a, command: echo GUARDED}]\n", map[string]string{
		"default": importtest.Text, "description": importtest.Text, "required": importtest.Bool}},
	{"steps: [{name: a, KEY: VALUE}]\n", map[string]string{"command": importtest.Text, "script": importtest.Text}},
}

func TestWrongShapes(t *testing.T) { importtest.WrongShapes(t, read, keys) }

func TestRightShapes(t *testing.T) {
	importtest.RightShapes(t, read,
		"schedule: {start: [0 7 * * *]}\nparams: {A: b}\nenv: [{B: b}, C=d]\nsteps: {a: {command: echo GUARDED}}\n",
		"steps: [echo GUARDED, [echo a, echo b]]\n",
	)
}
