package runs

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/library"
)

// released fails in its second step, which has a handler, so that the third never starts.
const released = `
name: release
description: Asks
steps:
  - name: build
    approve: Built?
  - name: gate
    approve: Release?
  - name: publish
    approve: Published?
on-failure:
  - name: undo
    approve: Undone?
`

// TestDescribePlan holds what is announced before a run is continued.
func TestDescribePlan(t *testing.T) {
	run := runOf(t, released, map[string]bool{"build": true, "gate": false, "undo": true})
	lib := library.New(library.Config{})
	resume, err := run.Resume(lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	retry, err := run.Retry(lib, engine.RetryOptions{Only: "build"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		verb     string
		from     *engine.Continuation
		rest     dag.Remainder
		asks     []dag.ID
		answered dag.ID
		rejected bool
		want     string
	}{
		{"Resuming", resume, *resume.Remainder, nil, "", false,
			"  keeps its result: build|  runs again: gate, publish, undo|  note: undo has run after build; if that undid their work, stop this and use flowrun retry RUN --from build|"},
		{"Retrying", retry, *retry.Remainder, nil, "", false, "  runs again: build|"},
		{"Resuming", resume, dag.Remainder{Left: []dag.ID{"publish", "undo"}}, nil, "", false, "  runs for the first time: publish|"}, // a handler may not run at all
		{"Continuing", resume, dag.Remainder{Left: []dag.ID{"publish"}}, nil, "gate", false, "  runs for the first time: publish|"},
		{"Continuing", resume, dag.Remainder{Left: []dag.ID{"publish"}}, nil, "gate", true, ""},
		{"Continuing", resume, dag.Remainder{Waiting: []dag.ID{"build", "gate"}, Held: []dag.ID{"publish"}}, nil, "gate", false, "  waits for another answer: publish|  is still waiting: build|"},
		{"Resuming", resume, dag.Remainder{Interrupted: []dag.ID{"build", "gate"}}, []dag.ID{"gate"}, "", false,
			"  may have been running when flowrun was killed: gate|  was running when flowrun was killed, and counts as failed (on-interrupt: fail): build|"},
	} {
		g := *c.from
		g.Remainder, g.Asks = &c.rest, c.asks
		_, got := printed(func(env *ui.Env) {
			describePlan(env, &g, run, runFlags{answered: c.answered, rejected: c.rejected})
		})
		got = strings.NewReplacer(run.Record.ID, "RUN", "flowrun: ", "", "\n", "|").Replace(got)
		if want := c.verb + " run RUN of release (it failed)|" + c.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

// TestLimitOf holds how a limited run is described, and what an unknown step of it is said to be.
func TestLimitOf(t *testing.T) {
	unknown := fmt.Errorf("x: %w", &plan.StepError{Tool: "t", Step: "z"})
	for _, c := range []struct {
		record   history.Record
		to, rest string
	}{
		{history.Record{Tool: "t"}, "", ""},
		{history.Record{Tool: "t", Only: "a"}, "a and its upstream steps", "flowrun run t, without --until"},
		{history.Record{Tool: "t", Only: "a", WithoutUpstream: true}, "a alone", "flowrun run t"},
		{history.Record{Tool: "t", Only: "a", WithoutUpstream: true, RetryOf: "r1"}, "a alone", "flowrun retry r1"},
	} {
		c.record.ID = "r2"
		run := &engine.RecordedRun{Record: &c.record}
		if to, rest := limitOf(run); to != c.to || rest != c.rest {
			t.Errorf("%+v: %q, %q", c.record, to, rest)
		}
		noted := ""
		if c.to != "" {
			noted = "; run r2 was limited to " + c.to + "; to run the other steps: " + c.rest
		}
		if err := addLimitNote(run, unknown); !errors.Is(err, unknown) || err.Error() != unknown.Error()+noted {
			t.Errorf("%+v: %v", c.record, err)
		}
		if err := addLimitNote(run, history.ErrNoRun); err != history.ErrNoRun {
			t.Errorf("another error: %v", err)
		}
	}
}

// TestWarnOfCleaned: steps that the same step has run after share a line.
func TestWarnOfCleaned(t *testing.T) {
	g := &engine.Continuation{Remainder: &dag.Remainder{Cleaned: []dag.Cleaned{{Step: "a", By: "tidy"}, {Step: "b c", By: "tidy"}, {Step: "b c", By: "drop"}}}}
	_, got := printed(func(env *ui.Env) { warnOfCleaned(env, g, "r1") })
	want := "flowrun:   note: tidy has run after a, b c; if that undid their work, stop this and use flowrun retry r1 --from a\n" +
		"flowrun:   note: drop has run after b c; if that undid their work, stop this and use flowrun retry r1 --from 'b c'\n"
	if got != want {
		t.Error(got)
	}
}

// TestNothingToDo: a run without steps left says how it ended, and how interrupted steps run again.
func TestNothingToDo(t *testing.T) {
	for status, want := range map[dag.Status]string{
		dag.Succeeded:   "flowrun: run r1 has no steps left to run; it failed\n",
		dag.Interrupted: "flowrun: run r1 has no steps left to run; it failed; to run its interrupted steps again: flowrun resume r1 --rerun-interrupted\n",
	} {
		res := &runresult.Result{ID: "r1", Status: dag.Failed, Steps: []runresult.StepResult{{ID: "a", Status: dag.Skipped}, {ID: "b", Status: status}}}
		out, got := printed(func(env *ui.Env) { nothingToDo(env, res, "text") })
		if got != want || out != "" {
			t.Errorf("%s: %s%s", status, out, got)
		}
		if out, _ := printed(func(env *ui.Env) { nothingToDo(env, res, "json") }); !strings.Contains(out, `"id": "r1"`) {
			t.Errorf("no document: %s", out)
		}
	}
}

// TestCancelOfEndedRun holds what is said of runs that cannot be cancelled.
func TestCancelOfEndedRun(t *testing.T) {
	t.Setenv("FLOWRUN_STATE_DIR", t.TempDir())
	for want, info := range map[string]history.RunInfo{
		"run r1 has already ended; it succeeded (2 tolerated)":                                  {Status: dag.Succeeded, Notes: []string{"2 tolerated"}},
		"run r1 has already ended; it was cancelled":                                            {Status: dag.Cancelled},
		"run r1 is not running, because flowrun was killed; to continue it: flowrun resume r1":  {Status: dag.Interrupted},
		"run r1 is not running, because flowrun was killed; to continue it: flowrun resume  r1": {Status: dag.Interrupted, Origin: "api"}, // no service is running
	} {
		info.ID = "r1"
		if err := cancel(t.Context(), silent(), nil, info); err == nil || err.Error() != strings.Replace(want, "  ", " ", 1) {
			t.Errorf("%+v: %v", info, err)
		}
	}
}
