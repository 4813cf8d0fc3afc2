package dagu_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		src    string
		status importer.Status
		reason string
	}{
		{"params: DATE=d\n", importtest.Changed, "the parameter DATE is DATE_PARAM"},
		{"params: {a-b: d}\n", importtest.Left, "a name has up to 60 letters"},
		{"schedule: 0 7 * * *\nmax_active_runs: 3\n", importtest.Changed, "a run over the limit of 3 is queued"},
		{"type: graph\nsteps:\n  - {name: b, command: echo b, depends: [a]}\n  - {name: a, command: echo a, executor: docker}\n  - {name: c, command: echo c}\n", importtest.Left, "it needs a, which is left out"},
		{"steps:\n  - {name: b, command: echo b, depends: [a]}\n  - {name: a, command: echo a, depends: [b]}\n", importtest.Left, "its depends form a cycle"},
		{"steps:\n  - {name: a, command: echo a}\n  - {name: b, command: echo b}\n  - {name: c, command: echo b, depends: [a]}\n", importtest.Changed, "the steps without depends start at once"},
		{"steps:\n  - {name: a, run: etl/extract}\n", importtest.Left, "a DAG or a command"},
		{"steps:\n  - {name: a, run: ./extract}\n", importtest.Exact, ""},
		{"maxCleanUpTimeSec: 300\nqueue: x\nrestartWaitSec: 1\nsteps: [echo x]\n", importtest.Left, "flowrun has no counterpart; it does not change what the steps do"},
		{"handlerOn: {init: {command: echo x, executor: docker}}\n", importtest.Left, "its init handler: flowrun has no counterpart for executor"},
		{"log_output: separate\n", importtest.Left, "write it in the tool or in the settings"},
		{"handlerOn: {Init: {command: echo x}}\n", importtest.Changed, "it is the first step"},
		{"params: A=b\nsteps: [{name: a, command: echo x, preconditions: [{condition: A, expected: b}]}]\n", importtest.Left, "does not evaluate its preconditions"},
		{"params: A=b\nsteps: [{name: a, command: 'echo ${{ params.A }}'}]\n", importtest.Left, "Dagu replaces ${{ params.A }}, flowrun does not"},
		{"params: [{name: A, type: integer, required: true}]\n", importtest.Changed, "flowrun does not check the type of A"},
		{"params: [{name: A, default: 3, description: How many}]\n", importtest.Exact, ""},
		{"params: [{name: A, eval: date}]\n", importtest.Left, "the parameter A has eval"},
		{"steps: ['[[ a == a ]]']\n", importtest.Changed, "it has no shell"},
		{"steps: ['echo -e x']\n", importtest.Changed, "it has no shell"},
		{"steps: [source x]\n", importtest.Changed, "it has no shell"},
		{"steps: [/opt/run --all=1 x.txt]\n", importtest.Exact, ""},
		{"shell: bash\nsteps: [{name: a, command: '[[ a == a ]]'}]\n", importtest.Exact, ""},
		{"steps: [{name: a, shell: bash, command: '[[ a == a ]]'}]\n", importtest.Exact, ""},
		{"steps: [{name: a, command: bash, script: '[[ a == a ]]'}]\n", importtest.Exact, ""},
		{"steps: [{name: a, script: \"#!/bin/bash\\n[[ a == a ]]\"}]\n", importtest.Exact, ""},
		{"steps: [{script: \"#!/usr/bin/perl\\nprint 1\"}]\n", importtest.Left, "flowrun has no steps for #!/usr/bin/perl"},
	} {
		if !strings.Contains(c.src, "steps") {
			c.src += "steps: [echo x]\n"
		}
		r, err := read(c.src)
		if err != nil {
			t.Fatal(err)
		}
		importtest.Definitions(t, r)
		if !slices.ContainsFunc(r.Rows, func(row importer.Row) bool { return row.Status == c.status && strings.Contains(row.Reason, c.reason) }) ||
			c.status == importtest.Exact && importtest.Worst(r.Rows) != importtest.Exact {
			t.Errorf("%s: got %+v, want %s: %s", c.src, r.Rows, c.status, c.reason)
		}
	}
}

// TestChain holds what the steps of a chain wait for if some have depends.
func TestChain(t *testing.T) {
	r, err := read("type: chain\nsteps:\n  - echo a\n  - echo b\n  - {id: c, command: echo c, depends: step-1}\n  - {name: d, command: echo d, depends: []}\n  - echo e\n")
	if err != nil {
		t.Fatal(err)
	}
	importtest.Definitions(t, r)
	var got []string
	for _, s := range r.Tools[0].Steps {
		got = append(got, s.Name+" after "+strings.Join(s.WaitFor, ", "))
	}
	if want := []string{"step-1 after ", "step-2 after step-1", "c after step-1, step-2", "d after ", "step-5 after d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRetries holds the retry of a step.
func TestRetries(t *testing.T) {
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
		r, err := read("steps: [{name: a, command: ./x, retryPolicy: " + policy + "}]\n")
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(importtest.Definitions(t, r)), " ")
		for _, row := range r.Rows {
			text += row.Reason
		}
		keys := strings.NewReplacer("{", "", "}", "", ", b", " b", ", d", " d", ", m", " m", ", e", " e").Replace(want)
		if !strings.Contains(text, keys) {
			t.Errorf("%s: want %s:\n%s", policy, keys, text)
		}
	}
}
