package engine_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/flowruntest"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestNeverRuns: a condition is reported as never true only if the step does not run, however the other step ends.
func TestNeverRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, toolKeys, first, condition string
		warned                           bool
	}{
		{"plain", "", "bash: BODY", "{a.exit-code} != 0", true},
		{"plain, more", "", "bash: BODY", "{a.exit-code} > 0", true},
		{"retried", "", "bash: BODY, error-handling: {retry: {attempts: 1, delay: 1}}", "{a.exit-code} != 0", true},
		{"with a fallback", "", "bash: BODY, error-handling: {fallback: exit 4}", "{a.exit-code} != 0", true},
		{"a loop", "", "bash: BODY, for-each: {items: [1, 2]}", "{a.exit-code} != 0", true},
		{"a loop that may have failures", "", "bash: BODY, for-each: {items: [1, 2], min-success: 1}", "{a.exit-code} != 0", true},
		{"a group", "", "steps: [{name: in, bash: BODY}]", "{a.exit-code} != 0", true},
		{"skipped by its condition", "", "bash: BODY, run-condition: '{CODE} == 3'", "{a.exit-code} != 0", false},
		{"skipped by its condition, more", "", "bash: BODY, run-condition: '{CODE} == 3'", "{a.exit-code} > 0", true},
		{"a skipped loop", "", "bash: BODY, for-each: {items: [1, 2]}, run-condition: '{CODE} == 3'", "{a.exit-code} != 0", false},
		{"tolerated", "", "bash: BODY, continue-on-error: true", "{a.exit-code} != 0", false},
		{"tolerated by the tool", "ignore-errors: true\n", "bash: BODY", "{a.exit-code} != 0", false},
		{"of any outcome", "", "bash: BODY", "{a.exit-code} != 0 && always()", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := fmt.Sprintf("parameters: {CODE: {description: c, type: number}}\n%ssteps:\n  - {name: a, %s}\n  - {name: b, bash: echo, run-condition: %q}\n",
				c.toolKeys, strings.ReplaceAll(c.first, "BODY", "'exit {CODE}'"), c.condition)
			b := newBed(t)
			plan := b.compile(text)
			warned := slices.ContainsFunc(plan.Warnings, func(d tool.Diagnostic) bool { return d.Code == "never-runs" })
			if warned != c.warned {
				t.Errorf("warned: %t", warned)
			}
			ran := false
			for _, code := range []int{0, 3} {
				exit := flowruntest.Answer{Exit: code}
				script := flowruntest.New().On("a", exit).On("a[*]", exit).On("a/in", exit).On("b")
				params := map[string]any{"CODE": code}
				res := script.Run(t, plan, params)
				v, err := plan.Preview(b.world, params)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range v.Steps {
					if s.ID == "b" && s.Condition != "" && s.Verdict == expr.False && res.Result.Step("b").Status.Executed() {
						t.Errorf("with the code %d it ran, against its preview", code)
					}
				}
				ran = ran || res.Result.Step("b").Status == dag.Succeeded
			}
			if ran == c.warned {
				t.Errorf("the step ran: %t", ran)
			}
		})
	}
}
