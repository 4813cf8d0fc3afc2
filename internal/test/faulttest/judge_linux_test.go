package faulttest

import (
	"context"
	"database/sql"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/flowrun/flowrun/dag"
)

// standing is where a step stands by the record.
type standing struct {
	started, finished bool
	status            dag.Status // when it has finished
}

// standings are where the steps stand after so many events.
func (s *story) standings(events int) map[string]standing {
	all := map[string]standing{}
	for _, e := range s.events[:events] {
		step := string(e.Node)
		switch e.Kind {
		case dag.StepStarted:
			all[step] = standing{started: true}
		case dag.StepFinished:
			all[step] = standing{started: all[step].started, finished: true, status: e.Result.Status}
		case dag.RunResumed:
			for _, back := range e.Reset {
				maps.DeleteFunc(all, func(step string, _ standing) bool {
					return step == string(back) || strings.HasPrefix(step, string(back)+"/") || strings.HasPrefix(step, string(back)+"[")
				})
			}
		}
	}
	return all
}

// judge holds a story that has come to its end against what must never be.
func (s *story) judge() {
	s.Helper()
	list := s.traces()
	s.nothingTwice(list)
	s.onlyRecorded(list)
	s.inOrder(list)
	s.whole(list)
	s.nothingLeft()
	if s.Failed() {
		s.Log(s.tale())
	}
}

// nothingTwice: a step whose end was on record when a life began does not start in
// it, unless it is sent back. A step with on-interrupt: fail starts once, but for
// --rerun-interrupted and when it did not even start.
func (s *story) nothingTwice(list []trace) {
	s.Helper()
	begun := map[string]bool{}
	for _, d := range list {
		if d.what != "start" {
			continue
		}
		l := s.lives[d.life-1]
		was := s.standings(l.before)
		if was[d.step].finished && !s.back(d.step, was, l.rerun) {
			s.Errorf("life %d starts %s, whose end was on record", d.life, d.step)
		}
		if begun[d.step] && d.step == s.job.once && !l.rerun {
			s.Errorf("life %d starts %s a second time, which says on-interrupt: fail", d.life, d.step)
		}
		begun[d.step] = true
	}
}

// back says whether a step runs again although it has ended: it did not end well,
// or something it waits for did not.
func (s *story) back(step string, was map[string]standing, rerun bool) bool {
	switch was[step].status {
	case dag.Failed, dag.TimedOut, dag.Cancelled:
		return true
	case dag.Interrupted:
		return rerun
	}
	return slices.ContainsFunc(strings.Fields(s.job.waits[step]), func(up string) bool { return s.back(up, was, rerun) })
}

// onlyRecorded: no step has started more often than is on record.
func (s *story) onlyRecorded(list []trace) {
	s.Helper()
	for _, l := range s.lives {
		starts := map[string]int{}
		for _, d := range list {
			if d.what == "start" && d.life == l.number {
				starts[d.step]++
			}
		}
		for _, e := range s.events[l.before:l.after] {
			if e.Kind == dag.StepStarted {
				starts[string(e.Node)]--
			}
		}
		for step, n := range starts {
			if n > 0 {
				s.Errorf("life %d has started %s %d times more than is on record", l.number, step, n)
			}
		}
	}
}

// inOrder: what an engine had started has ended before the next one starts anything.
// And a step's key is the same in all its tries.
func (s *story) inOrder(list []trace) {
	s.Helper()
	newest, keys := 0, map[string]string{}
	for _, d := range list {
		if d.life < newest {
			s.Errorf("%s of life %d still ran (%s) when life %d had started a step", d.step, d.life, d.what, newest)
		}
		newest = max(newest, d.life)
		if want := s.run + "/" + d.step; d.key != want || keys[d.step] != "" && keys[d.step] != d.key {
			s.Errorf("FLOWRUN_IDEMPOTENCY_KEY of %s is %q, want %q", d.step, d.key, want)
		}
		keys[d.step] = d.key
	}
}

// whole: each step has come to an end, and what succeeded has been done.
func (s *story) whole(list []trace) {
	s.Helper()
	ended := map[string]bool{}
	for _, d := range list {
		ended[d.step] = ended[d.step] || d.what == "end"
	}
	failed := false
	for step, st := range s.standings(len(s.events)) {
		switch {
		case !st.finished:
			s.Errorf("%s has not ended, but the run has", step)
		case st.status == dag.Succeeded && !ended[step] && !s.nested(step):
			s.Errorf("%s has succeeded, and was not done", step)
		case st.status != dag.Succeeded && st.status != dag.Reused && st.status != dag.Skipped && step != s.job.once && !slices.Contains(s.job.fails, step):
			s.Errorf("%s ends %s", step, st.status)
		}
		failed = failed || st.status == dag.Interrupted
	}
	last := s.events[len(s.events)-1]
	if want := map[bool]dag.Status{true: dag.Failed, false: dag.Succeeded}[failed]; last.Kind != dag.RunFinished || last.Result.Status != want {
		s.Errorf("the run ends with %q, want that it %s", s.lines[len(s.lines)-1], want)
	}
	for _, e := range s.events {
		if e.Kind == dag.StepFinished && e.Node == "end" && e.Result.Status == dag.Succeeded && e.Result.Stdout.Inline != "left right word\n" {
			s.Errorf("end prints %q: results of earlier steps are wrong", e.Result.Stdout.Inline)
		}
	}
}

// nested says whether a step holds others.
func (s *story) nested(step string) bool {
	return slices.ContainsFunc(s.events, func(e dag.Event) bool {
		return strings.HasPrefix(string(e.Node), step+"/") || strings.HasPrefix(string(e.Node), step+"[")
	})
}

// nothingLeft: no process, no file, and nothing to do.
func (s *story) nothingLeft() {
	s.Helper()
	if left := s.marked(); len(left) > 0 {
		s.Errorf("processes are left: %q", left)
	}
	if left, err := os.ReadDir(s.path("tmp")); err != nil || len(left) > 0 {
		s.Errorf("temporary files are left: %v %v", left, err)
	}
	if l := s.live("", "resume", s.run); l.code != 0 || l.after > l.before {
		s.Errorf("the run has ended, and resume exits with %d after %d events", l.code, l.after-l.before)
	}
}

// integrity asks SQLite whether the history is sound.
func (b killBed) integrity(t *testing.T) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.state, "history.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(context.Background(), "PRAGMA integrity_check").Scan(&found); err != nil || found != "ok" {
		t.Errorf("the history is damaged: %s %v", found, err)
	}
}
