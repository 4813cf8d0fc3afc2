package runview

import (
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/os/shellword"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// suggestAnswers shows the commands that answer the questions of a waiting run.
func suggestAnswers(env *ui.Env, r *runresult.Result) {
	const most = 5
	asked := 0
	for _, s := range r.Steps {
		if s.Wait == nil || !s.Wait.Asks {
			continue
		}
		if until := s.Wait.Until; !until.IsZero() && time.Now().After(until) {
			ui.Suggest(env, "the time to answer %s is over; to continue: flowrun resume %s", s.ID, r.ID)
			return
		}
		if asked++; asked > most {
			ui.Suggest(env, "for all questions: flowrun show %s", r.ID)
			return
		}
		ui.Suggest(env, "to answer: flowrun approve %s %s, or flowrun reject %[1]s %[2]s", r.ID, shellword.Sh(s.ID))
	}
}

// ChangedNote returns what to know about a run whose definitions, in these files, have changed since it began, "" if
// there are none.
func ChangedNote(files []string, run string) string {
	if len(files) == 0 {
		return ""
	}
	have := " has"
	if len(files) > 1 {
		have = " have"
	}
	short := make([]string, len(files))
	for i, file := range files {
		short[i] = console.ShortPath(file)
	}
	return ui.Listed(short) + have + " changed since the run began, and the old text runs; to use the current text: flowrun resume " + run + " --latest"
}

// SuggestNext prints the commands that are useful after a run that did not succeed. changed are the files of its
// definitions that have changed since it began.
func SuggestNext(env *ui.Env, r *runresult.Result, changed []string) {
	switch r.Status {
	case dag.Failed, dag.TimedOut, dag.Cancelled, dag.Interrupted:
	case dag.Waiting:
		suggestAnswers(env, r)
		suggestLatest(env, r, changed)
		return
	default:
		return
	}
	if dag.IsNotStarted(r.Reason) {
		ui.Suggest(env, "no step has run; after fixing the cause, start it again: flowrun run %s", shellword.Sh(r.Tool))
		return
	}
	if step := r.FirstFailed(); step != "" {
		ui.Suggest(env, "to see its output: flowrun logs %s %s", r.ID, shellword.Sh(step))
	}
	if allSucceeded(r) {
		ui.Suggest(env, "no step is left to run; run the tool again")
		return
	}
	if onlyInterrupted(r) {
		ui.Suggest(env, "to run its interrupted steps again: flowrun resume %s --rerun-interrupted", r.ID)
	} else {
		ui.Suggest(env, "to continue: flowrun resume %s", r.ID)
	}
	suggestLatest(env, r, changed)
}

func suggestLatest(env *ui.Env, r *runresult.Result, changed []string) {
	if note := ChangedNote(changed, r.ID); note != "" {
		ui.Suggest(env, "%s", note)
	}
}

// allSucceeded reports whether a run failed at its end, after all of its steps: its outputs could not be made, or its
// state could not be kept. A resume has nothing to do.
func allSucceeded(r *runresult.Result) bool {
	return r.Status == dag.Failed && len(r.Steps) > 0 && !slices.ContainsFunc(r.Steps, func(s runresult.StepResult) bool {
		return s.Status != dag.Succeeded && s.Status != dag.Reused && s.Status != dag.Skipped && !slices.Contains(r.Tolerated, s.ID)
	})
}

// onlyInterrupted reports whether a run has ended and only steps that count as failed because they
// were interrupted (on-interrupt: fail) kept it from succeeding. A resume runs none of them again
// unless --rerun-interrupted demands it.
func onlyInterrupted(r *runresult.Result) bool {
	around := map[string]bool{} // interrupted steps, and those around them
	for _, s := range r.Steps {
		if s.Status == dag.Interrupted {
			around[s.ID] = true
			for _, outer := range dag.ID(s.ID).Ancestors() {
				around[string(outer)] = true
			}
		}
	}
	return len(around) > 0 && r.Status != dag.Interrupted && !slices.ContainsFunc(r.Steps, func(s runresult.StepResult) bool {
		again := s.Status == dag.Failed || s.Status == dag.TimedOut || s.Status == dag.Cancelled
		return again && !around[s.ID] && !slices.Contains(r.Tolerated, s.ID)
	})
}
