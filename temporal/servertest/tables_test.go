package servertest

import (
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// The cases in this file are the tables of docs/explanation/states.md: each kind of upstream step with each condition, before
// and after a cancel, and each policy.

// upstreams are steps named a that end in every way, and what is needed around them.
var upstreams = []struct{ name, steps, script string }{
	{name: "succeeded", steps: `- {name: a, bash: echo x}`},
	{name: "failed", steps: `- {name: a, bash: echo x; exit 3}`},
	{name: "tolerated", steps: `- {name: a, bash: echo x; exit 3, continue-on-error: true}`},
	{name: "timed-out", steps: `- {name: a, bash: echo x; sleep 300, timeout: 4s}`},
	{name: "timed-out-tolerated", steps: `- {name: a, bash: echo x; sleep 300, timeout: 4s, continue-on-error: true}`},
	{name: "fallback", steps: `- {name: a, bash: exit 3, error-handling: {fallback: echo x}}`},
	{name: "condition-false", steps: `- {name: a, run: echo x, run-condition: 1 > 2}`},
	{name: "upstream-failed", steps: "- {name: z, bash: exit 3}\n  - {name: a, run: echo x}"},
	{name: "condition-fails", steps: "- {name: z, run: echo many}\n  - {name: a, run: echo x, run-condition: '{z.output} > 1'}"},
	{name: "condition-fails-tolerated", steps: "- {name: z, run: echo many}\n  - {name: a, run: echo x, run-condition: '{z.output} > 1', continue-on-error: true}"},
	{name: "approved", steps: `- {name: a, approve: "Go on?"}`, script: "answers: {a: {approve: true, by: ann}}"},
	{name: "rejected", steps: `- {name: a, approve: "Go on?"}`, script: "answers: {a: {approve: false, by: ann, comment: not today}}"},
	{name: "unanswered", steps: `- {name: a, approve: {prompt: "Go on?", timeout: 100ms}}`},
	{name: "waited", steps: `- {name: a, wait: {for: 20ms}}`},
	{name: "loop", steps: `- {name: a, for-each: {items: [1, 2]}, bash: "echo x"}`},
	{name: "loop-of-nothing", steps: `- {name: a, for-each: {items: []}, bash: "echo x"}`},
	{name: "loop-failed", steps: `- {name: a, for-each: {items: [0, 3]}, bash: "exit {item}"}`},
	{name: "loop-tolerated", steps: `- {name: a, for-each: {items: [0, 3]}, bash: "exit {item}", continue-on-error: true}`},
	{name: "loop-min-success", steps: `- {name: a, for-each: {items: [0, 3], min-success: 1}, bash: "exit {item}"}`},
	{name: "group", steps: `- {name: a, steps: [{name: b, run: echo x}]}`},
	{name: "group-failed", steps: `- {name: a, steps: [{name: b, bash: echo x; exit 4}, {name: c, run: echo y}]}`},
}

var conditions = []string{"", "{a.output} == 'x'", "{a.output} == 'y'", "{a.output} > 1", "{a.exit-code} != 0", "{a.status} == 'failed'", "{a.attempts} == 1",
	"success()", "failure()", "success() || failure()", "always()", "cancelled()", "!cancelled()", "always() && success()", "failure() || cancelled()",
	"always() && {a.output} contains 'x'"}

// policies are steps named a with every policy.
var policies = []struct{ name, step, script string }{
	{name: "succeeds", step: "bash: echo $FLOWRUN_ATTEMPT, error-handling: {retry: {attempts: 2, delay: 5ms}, fallback: echo fb}"},
	{name: "next-succeeds", step: `bash: "echo $FLOWRUN_ATTEMPT; [ $FLOWRUN_ATTEMPT = 2 ]", error-handling: {retry: {attempts: 2, delay: 5ms}, fallback: echo fb}`},
	{name: "timeout-then-succeeds", step: `bash: "[ $FLOWRUN_ATTEMPT = 2 ] || sleep 300", timeout: 6s, error-handling: {retry: {attempts: 2, delay: 5ms}}`},
	{name: "fails", step: `bash: "echo $FLOWRUN_ATTEMPT; exit 3", error-handling: {retry: {attempts: 2, delay: 5ms}}`},
	{name: "times-out", step: `run: sleep 300, timeout: 100ms, error-handling: {retry: {attempts: 1, delay: 5ms}}`},
	{name: "fallback-succeeds", step: `bash: "exit 3", error-handling: {retry: {attempts: 2, delay: 5ms}, fallback: "echo fb $FLOWRUN_ATTEMPT"}`},
	{name: "fallback-fails", step: `bash: "exit 3", error-handling: {retry: {attempts: 1, delay: 5ms}, fallback: "exit 4"}`},
	{name: "fallback-times-out", step: `bash: "exit 3", timeout: 6s, error-handling: {fallback: "sleep 300"}`},
	{name: "fallback-fails-tolerated", step: `bash: "exit 3", continue-on-error: true, error-handling: {retry: {attempts: 1, delay: 5ms}, fallback: "exit 4"}`},
	{name: "wait", step: `wait: {for: 30ms}, error-handling: {retry: {attempts: 2}, fallback: echo fb}`},
	{name: "approved", step: `approve: "Well?"`, script: "answers: {a: {approve: true, by: ann}}"},
	{name: "rejected", step: `approve: "Well?"`, script: "answers: {a: {approve: false, by: ann}}"},
	{name: "unanswered", step: `approve: {prompt: "Well?", timeout: 60ms}`},
	{name: "unanswered-approves", step: `approve: {prompt: "Well?", timeout: 60ms, on-timeout: approve, form: {properties: {N: {type: integer, default: 3}}}}`},
	{name: "unanswered-rejects", step: `approve: {prompt: "Well?", timeout: 60ms, on-timeout: reject}`},
	{name: "step-timeout-of-approval", step: `approve: "Well?", timeout: 60ms`},
	{name: "rejected-tolerated", step: `approve: "Well?", continue-on-error: true`, script: "answers: {a: {approve: false, by: ann}}"},
	{name: "tolerated", step: `bash: "exit 3", continue-on-error: true`},
	{name: "timeout-tolerated", step: `run: sleep 300, timeout: 100ms, continue-on-error: true`},
	{name: "exit-codes", step: `bash: "exit 3", error-handling: {retry: {attempts: 2, delay: 5ms, exit-codes: 4}}`},
	{name: "exit-codes-match", step: `bash: "exit 4", error-handling: {retry: {attempts: 2, delay: 5ms, exit-codes: [3, 4]}}`},
	{name: "not-exit-codes", step: `bash: "exit $((2 + FLOWRUN_ATTEMPT))", error-handling: {retry: {attempts: 4, delay: 5ms, not-exit-codes: 5}}`},
	{name: "when", step: `bash: "echo try $FLOWRUN_ATTEMPT; exit 75", error-handling: {retry: {attempts: 4, delay: 5ms, when: "{last.attempts} < 3 && {last.exit-code} == 75"}}`},
	{name: "when-output", step: `bash: "echo try $FLOWRUN_ATTEMPT; exit 1", error-handling: {retry: {attempts: 4, delay: 5ms, when: "{last.output} contains '1'"}}`},
	{name: "when-timed-out", step: `bash: "sleep 300", timeout: 100ms, error-handling: {retry: {attempts: 2, delay: 5ms, when: "!{last.timed-out}"}}`},
	{name: "when-outputs", step: `bash: "echo n=$FLOWRUN_ATTEMPT >>\"$FLOWRUN_OUTPUT\"; exit 1", outputs: {n: integer}, error-handling: {retry: {attempts: 4, delay: 5ms, when: "{last.outputs.n} < 3"}}`},
	{name: "when-error-text", step: `bash: "echo busy >&2; exit 1", error-handling: {retry: {attempts: 1, delay: 5ms, when: "{last.error} contains 'busy'"}}`},
	{name: "linear", step: `bash: "exit 1", error-handling: {retry: {attempts: 3, delay: 5ms, backoff: linear, max-delay: 8ms}}`},
	{name: "constant", step: `bash: "exit 1", error-handling: {retry: {attempts: 3, delay: 5ms, backoff: constant}}`},
	{name: "jitter", step: `bash: "exit 1", error-handling: {retry: {attempts: 2, delay: 5ms, jitter: full}}`},
	{name: "missing-program", step: `run: no-such-program-anywhere, error-handling: {retry: {attempts: 1, delay: 5ms}}`},
	{name: "signal", step: `bash: "kill -9 $$", error-handling: {retry: {attempts: 1, delay: 5ms}}`},
	{name: "missing-directory", step: `run: echo, working-directory: /no/such/folder, error-handling: {retry: {attempts: 1, delay: 5ms}}`},
	{name: "condition-fails", step: `run: echo, run-condition: "{z.output} > 1", error-handling: {retry: {attempts: 2}, fallback: echo fb}`},
}

func tableCases() (list []*testCase) {
	for _, u := range upstreams {
		list = append(list, upstreamCase(u.name, u.steps, u.script, false), upstreamCase(u.name, u.steps, u.script, true))
	}
	for i, p := range policies {
		for j, more := range []struct{ name, text string }{{"", ""}, {"-ignored", "ignore-errors: true\n"}, {"-failing-fast", "fail-fast: true\n"}} {
			if j != i%3 && sizetest.Chosen() != sizetest.Long {
				continue
			}
			text := more.text + "steps:\n  - {name: z, run: echo zero}\n  - {name: a, " + p.step + "}\n" +
				"  - {name: b, run: \"echo {a.status} {a.attempts} {a.exit-code} {a.output}\", run-condition: always()}\n"
			list = append(list, written("policy-"+p.name+more.name, text, p.script))
		}
	}
	return list
}

// upstreamCase is a step a, and for each condition a step that waits for it. If cancelled, the run is cancelled
// after a has ended and before the conditions are evaluated.
func upstreamCase(name, steps, script string, cancelled bool) *testCase {
	name, waits := "upstream-"+name, "[a]"
	text := "steps:\n  " + steps + "\n"
	if cancelled {
		name, waits = name+"-cancelled", "[a, hang]"
		text += "  - {name: hang, wait-for: a, run-condition: 'success() || failure()', bash: \"touch " + dirMark + "/hangs; sleep 300\"}\n"
		script = strings.TrimPrefix(script+"\ncancel: hangs", "\n")
	}
	for i, c := range conditions {
		text += fmt.Sprintf("  - {name: p%d, wait-for: %s, run: \"echo {a.status} {a.output}\"", i, waits)
		if c != "" {
			text += fmt.Sprintf(", run-condition: %q", c)
		}
		text += "}\n"
	}
	return written(name, text, script)
}

// written is a case with a script that is certain to be correct.
func written(name, text, script string) *testCase {
	c := &testCase{name: name, text: text}
	if script != "" {
		c.text = "x-script:\n  " + strings.ReplaceAll(script, "\n", "\n  ") + "\n" + text
	}
	return c
}
