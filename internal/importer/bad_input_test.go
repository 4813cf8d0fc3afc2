package importer_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
func badInputs() []struct{ format, src string } {
	return []struct{ format, src string }{
		{"cron", "not a crontab"},
		{"cron", "0 7 * *\n"},
		{"cron", "61 7 * * * echo x\n"},
		{"cron", "0 7 30 2 * echo x\n"},
		{"cron", "@fortnightly echo x\n"},
		{"cron", "SHELL=/usr/bin/fish\n0 7 * * * echo x\n"},
		{"cron", "CRON_TZ=Mars/Base\n0 7 * * * echo x\n"},
		{"cron --system", "0 7 * * * root\n"},
		{"cron", "0 7 * * * root echo x\n"},
		{"make", "a: b\n\techo a\nb: a\n\techo b\n"},
		{"make", ".PHONY: a\na:\n\techo $(A)\nA = $(B)\nB = $(A)\n"},
		{"make", ".PHONY: a\na:\n\techo $(A\n"},
		{"make", "this is no Makefile\n"},
		{"make", "define X\nno end\n"},
		{"make", "SHELL := /bin/zsh\n.PHONY: a\na:\n\techo\n"},
		{"make", "A := x\nA += $(A)$(A)$(A)$(A)\n" + strings.Repeat("A := $(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)\n", 7) + ".PHONY: a\na:\n\techo $(A)\n"},
		{"taskfile", "tasks:\n  a: [\n"},
		{"taskfile", "- a\n"},
		{"taskfile", ""},
		{"taskfile", "tasks:\n  a: {deps: [b]}\n  b: {deps: [a]}\n"},
		{"taskfile", "tasks:\n  a: {deps: [missing], cmd: echo}\n"},
		{"taskfile", "tasks:\n  a: {cmd: \"echo {{.X\"}\n"},
		{"dagu", "steps:\n  - {name: a, depends: [missing], command: echo}\n"},
		{"dagu", "steps:\n  - {name: a}\n"},
		{"dagu", "steps:\n  - {name: a, command: [echo, x]}\n"},
		{"dagu", "schedule: \"never\"\nsteps:\n  - {name: a, command: echo}\n"},
		{"dagu", "steps:\n  - {name: a, command: echo, retryPolicy: {limit: many}}\n"},
		{"github", "jobs:\n  a: {steps: [{run: \"echo ${{ x\"}]}\n"},
		{"github", "on: push\n"},
		{"github", "env:\n  A: xxxxxxxx\n" + doubling() + "jobs:\n  a: {steps: [{run: \"echo ${{ env.Z }}\"}]}\n"},
		{"github", "jobs:\n  a: {steps: [{run: echo, timeout-minutes: soon}]}\n"},
		{"github", "jobs:\n  a: {strategy: {matrix: \"${{ x }}\"}, steps: [{run: echo}]}\n"},
		{"just", "a:\n  echo {{x\n"},
		{"just", "a: b\n  echo\n"},
		{"just", "a b c\n"},
		{"just", "v := ```\n  echo x\n\n  a:\n```\na:\n  echo {{v}}\n"},
		{"just", "  echo x\n"},
		{"just", "a:\n  #!/usr/bin/env perl\n  print 1\n"},
	}
}

// TestBadInputs compares what is reported, with its place, with the golden file.
func TestBadInputs(t *testing.T) {
	var b strings.Builder
	for _, in := range badInputs() {
		src := in.src
		if len(src) > 200 {
			src = src[:60] + "...\n"
		}
		fmt.Fprintf(&b, "=== %s\n%s\n---\n", in.format, strings.TrimRight(src, "\n"))
		r, err := read(in.format, in.src)
		if err != nil {
			fmt.Fprintf(&b, "%v\n", err)
			continue
		}
		definitions(t, r)
		for _, row := range r.Rows {
			fmt.Fprintf(&b, "line %d: %s: %s: %s\n", row.Line, row.What, row.Status, row.Reason)
		}
	}
	const golden = "testdata/bad.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("run with -update if this is right:\n%s", diff)
	}
}

// doubling is an environment in which each variable is twice as long as the one before it.
func doubling() string {
	var b strings.Builder
	for c := 'B'; c <= 'Z'; c++ {
		fmt.Fprintf(&b, "  %c: ${{ env.%c }}${{ env.%c }}\n", c, c-1, c-1)
	}
	return b.String()
}
