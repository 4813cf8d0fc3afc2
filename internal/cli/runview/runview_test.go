package runview

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// step is a step with an end state.
func step(id string, s dag.Status) runresult.StepResult {
	return runresult.StepResult{ID: id, Status: s}
}

// TestShownSteps checks that of a loop with many items only those that did not succeed are listed, with what is in them.
func TestShownSteps(t *testing.T) {
	list := []runresult.StepResult{step("a", dag.Succeeded), step("few", dag.Succeeded), step("few[x]", dag.Succeeded), step("l", dag.Failed)}
	for i := range MaxItems + 5 {
		s := dag.Succeeded
		if i%10 == 3 {
			s = dag.Failed
		}
		list = append(list, step(fmt.Sprintf("l[%d]", i), s), step(fmt.Sprintf("l[%d]/in", i), s))
	}
	list = append(list, step("b", dag.Skipped))
	for limit, want := range map[int]string{5: "a few few[x] l l[3] l[3]/in l[13] l[13]/in l[23] l[23]/in b", 1: "a few few[x] l l[3] l[3]/in b", 0: "a few few[x] l b"} {
		shown, notes := ShownSteps(list, limit)
		var ids []string
		for _, s := range shown {
			ids = append(ids, s.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("%d: %s, want %s", limit, got, want)
		}
		if diff := cmp.Diff(map[string]string{"l": "25 items: 22 succeeded, 3 failed"}, notes); diff != "" {
			t.Error(diff)
		}
	}
}

// TestStepNote holds what is said of a step beside its state.
func TestStepNote(t *testing.T) {
	for want, s := range map[string]runresult.StepResult{
		"":                                      {Status: dag.Succeeded, Attempts: 1, Reason: "cache"},
		"exit 3, 2 attempts":                    {Status: dag.Failed, ExitCode: 3, Attempts: 2, Reason: dag.ReasonExit},
		"exit 1, fallback, no luck":             {Status: dag.Failed, ExitCode: 1, Fallback: true, Reason: dag.ReasonExit, Message: "no luck"},
		"its condition cannot be evaluated":     {Status: dag.Failed, Reason: dag.ReasonCondition},
		"exit 1, rejected by ann":               {Status: dag.Failed, ExitCode: 1, Reason: "rejected", Message: "rejected by ann"},
		"output truncated at its buffer-limit":  {Status: dag.Succeeded, Truncated: true},
		"exit 124, the step exceeded its limit": {Status: dag.TimedOut, ExitCode: 124, Reason: dag.ReasonTimeout, Message: "the step exceeded its limit"},
	} {
		if got := StepNote(&s); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestTook holds how long a run or a step took, or has taken so far.
func TestTook(t *testing.T) {
	at := time.Unix(1e9, 0)
	after := func(s int) time.Time { return at.Add(time.Duration(s) * time.Second) }
	for _, c := range []struct {
		run         runresult.Result
		want, short string
	}{
		{runresult.Result{Status: dag.Succeeded, Started: at, Ended: after(90), AsOf: after(999)}, "1m30s", "1m30s"},
		{runresult.Result{Status: dag.Running, Started: at, AsOf: after(5)}, "5.0s so far", "5.0s+"},
		{runresult.Result{Status: dag.Waiting, Started: at, AsOf: after(5), Waited: 4 * time.Second}, "5.0s so far, of which 4.0s waiting", "5.0s+"},
		{runresult.Result{Status: dag.Failed, Started: at, Ended: after(9), Waited: time.Second, Idle: 2 * time.Second}, "9.0s, of which 1.0s waiting and 2.0s not running", "9.0s"},
		{runresult.Result{Status: dag.Failed, Started: at, Ended: after(9), Waited: time.Millisecond, Idle: time.Second}, "9.0s, of which 1.0s not running", "9.0s"},
		{runresult.Result{Status: dag.Interrupted, Started: at, LastSign: after(8), AsOf: after(999)}, "8.0s until the last sign of life at " + after(8).Local().Format(time.DateTime), "8.0s"},
	} {
		if got := RunTook(&c.run); got != c.want {
			t.Errorf("%s: %q, want %q", c.run.Status, got, c.want)
		}
		if got := Took(c.run.Duration(), c.run.Status); got != c.short {
			t.Errorf("%s: %q, want %q", c.run.Status, got, c.short)
		}
	}
	if got := StepTook(&runresult.StepResult{Status: dag.Pending}); got != "" {
		t.Errorf("a step that has not started took %q", got)
	}
}

// TestSuggestNext holds the commands that are named after a run.
func TestSuggestNext(t *testing.T) {
	asks := func(id string, until time.Time) runresult.StepResult {
		return runresult.StepResult{ID: id, Status: dag.Waiting, Wait: &dag.Wait{Asks: true, Until: until}}
	}
	for _, c := range []struct {
		name    string
		result  runresult.Result
		changed []string
		want    string
	}{
		{"success", runresult.Result{Status: dag.Succeeded}, nil, ""},
		{"failure", runresult.Result{Status: dag.Failed, Steps: []runresult.StepResult{step("a", dag.Succeeded), step("l[x y]", dag.Failed)}}, nil, "to see its output: flowrun logs R 'l[x y]'|to continue: flowrun resume R"},
		{"nothing has run", runresult.Result{Status: dag.Failed, Reason: dag.ReasonNotStarted, Tool: "t"}, nil, "no step has run; after fixing the cause, start it again: flowrun run t"},
		{"all steps succeeded", runresult.Result{Status: dag.Failed, Steps: []runresult.StepResult{step("a", dag.Succeeded)}}, nil, "no step is left to run; run the tool again"},
		{"only interrupted", runresult.Result{Status: dag.Failed, Steps: []runresult.StepResult{step("g", dag.Failed), step("g/a", dag.Interrupted)}}, nil,
			"to see its output: flowrun logs R g|to run its interrupted steps again: flowrun resume R --rerun-interrupted"},
		{"changed", runresult.Result{Status: dag.Cancelled}, []string{"/x/a.yaml", "/x/b.yaml"},
			"to continue: flowrun resume R|/x/a.yaml, /x/b.yaml have changed since the run began, and the old text runs; to use the current text: flowrun resume R --latest"},
		{"questions", runresult.Result{Status: dag.Waiting, Steps: []runresult.StepResult{asks("a", time.Time{}), step("b", dag.Running)}}, nil, "to answer: flowrun approve R a, or flowrun reject R a"},
		{"too late", runresult.Result{Status: dag.Waiting, Steps: []runresult.StepResult{asks("a", time.Unix(1, 0))}}, nil, "the time to answer a is over; to continue: flowrun resume R"},
	} {
		var out bytes.Buffer
		c.result.ID = "R"
		SuggestNext(&ui.Env{Terminal: ui.Terminal{Stderr: &out, Stdout: &out}}, &c.result, c.changed)
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], "flowrun: ")
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestUsage holds what is said of the CPU time and the memory of a step.
func TestUsage(t *testing.T) {
	for want, u := range map[string]dag.Usage{"": {}, "2.0s CPU, 1.0 MB": {User: 2 * time.Second, MaxRSS: 1 << 20}, "3.1 KB": {System: time.Millisecond, MaxRSS: 3 << 10}} {
		if got := usageNote(u); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
