package tool

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// RetryRun specifies how a whole run of the tool is retried: as a new run, after this one has ended. Of Retry it has
// attempts and the delays.
type RetryRun struct {
	Retry
	On    []string // reasons and statuses of runs that are retried, as RetryRunWords lists them; never empty
	Reuse bool     // what has succeeded keeps its result; false: every step runs again
}

// After reports whether a run that ended with that status and reason is retried.
func (r *RetryRun) After(status, reason string) bool {
	if neverRetried(reason) != "" || !slices.Contains(retryStatuses, status) {
		return false
	}
	return slices.Contains(r.On, status) || slices.Contains(r.On, reason)
}

// retryStatuses are the statuses of runs that can be retried.
var retryStatuses = []string{"failed", "timed-out"}

// retryReasons are the reasons of such runs: those of the step that failed first.
var retryReasons = []string{"exit", "timeout", "artifacts", "condition", "cpu-limit", "file-size-limit", "http-request", "http-response", "items",
	"memory-limit", "output-limit", "output-too-large", "outputs", "panic", "process-limit", "repeat", "script", "script-lost", "script-memory", "script-timeout",
	"service", "sql", "ssh-connection", "start-failed", "state", "state-conflict", "unanswered"}

// neverRetried returns why no run with that reason is retried, whatever retry-run names; "" for others.
func neverRetried(reason string) string {
	switch reason {
	case "cancelled", "forced":
		return "somebody has stopped the run"
	case "input":
		return "the same value would be rejected again"
	case "interrupted":
		return "a step that flowrun was killed in, and that must not run twice, needs a person"
	case "not-started":
		return "the run could not start"
	case "rejected":
		return "a person has decided"
	}
	return ""
}

// RetryRunWords returns what the key on of retry-run can name: statuses and reasons of runs.
func RetryRunWords() []string { return slices.Concat(retryStatuses, retryReasons) }

func retryRunField() keytable.Field {
	o := keytable.NewObject("retry-run", "How often, when and after which failures a whole run is retried.", retryRunFields).WithCheck(checkRetryRun)
	return keytable.Nested("retry-run", "", o, "Retries of a whole run of the tool that failed or timed out, as new runs. Runs of other tools that use it ignore it. See retry-run.md.", func(t *Draft) *RetryRun {
		t.RetryRun = &RetryRun{Retry: *defaultRetry(), Reuse: true}
		return t.RetryRun
	})
}

func retryRunFields() []keytable.Field {
	fields := keytable.FieldsOf(retryObject, func(r *RetryRun) *Retry { return &r.Retry }, "attempts", "delay", "backoff", "max-delay", "jitter")
	for i := range fields {
		fields[i].Requirement = ""
		if fields[i].Key == "attempts" {
			fields[i].Doc = "Number of retries after the first run."
		}
	}
	return append(fields,
		retriedAfter(),
		keytable.Boolean("reuse", "", "Whether steps that succeeded keep their results, as with flowrun retry. With false, every step runs again.", func(r *RetryRun, v bool) { r.Reuse = v }).WithDefault("true"),
	)
}

// retriedAfter is the field on.
func retriedAfter() keytable.Field {
	f := keytable.Choices("on", "", RetryRunWords(), "Statuses and reasons of runs that are retried, such as [timed-out, http-request]. The reason of a run that failed is that of the step that failed first. failed is every failure but those that no retry can help.",
		func(r *RetryRun, v []string) { r.On = v }).AsRequired()
	set := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		n = keytable.Deref(n)
		words := []*yaml.Node{n}
		if n.Kind == yaml.SequenceNode {
			words = n.Content
		}
		for _, w := range words {
			w = keytable.Deref(w)
			if why := neverRetried(w.Value); why != "" {
				d.Fail(w, "bad-retry", fmt.Sprintf("no run is retried after %q: %s", w.Value, why), "remove it")
				return
			}
		}
		set(d, into, n)
	}
	return f
}

func checkRetryRun(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	checkRetry(d, &into.(*RetryRun).Retry, n, content)
	const hint = "add 'on:', the statuses and reasons after which the run is retried, such as [timed-out, exit]"
	on := keytable.ValueOf(content, "on")
	switch {
	case on == nil:
		d.Fail(n, "bad-retry", "retry-run does not say after what a run is retried", hint)
	case keytable.Deref(on).Kind == yaml.SequenceNode && len(keytable.Deref(on).Content) == 0:
		d.Fail(on, "bad-retry", "the list of what a run is retried after is empty", hint)
	}
}
