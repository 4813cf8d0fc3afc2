// Package findrun finds the run that a person or a model names for an act: by its id, by a prefix of it, or as the
// latest run that the act can do something with.
package findrun

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/library"
)

// Act is what is done with a run. It decides which run history.Latest means.
type Act int

const (
	Read   Act = iota // any run
	Answer            // approve and reject: a run with an open question
	Cancel            // a run that has not ended, even if no process executes it
	Stop              // a run that a process executes
	Resume            // a run that has stopped and did not succeed
	Retry             // the same, to run what is missing in a new run
	Rerun             // a run that has stopped, of which steps that succeeded run again too
)

// rule is what decides whether an act is for a run, and its words.
type rule struct {
	statuses []dag.Status // of the runs; nil is any
	newest   string       // what history.Latest means
	lacking  string       // says that there is no such run
}

func (a Act) rule() rule {
	stopped := []dag.Status{dag.Failed, dag.TimedOut, dag.Cancelled, dag.Interrupted, dag.Waiting}
	switch a {
	case Answer:
		return rule{[]dag.Status{dag.Waiting, dag.Running, dag.Interrupted}, "the newest run that waits for an answer", "no run is waiting for an answer"}
	case Cancel:
		return rule{rundocs.ActiveStatuses(), "the newest active run", "no run is active"}
	case Stop:
		return rule{[]dag.Status{dag.Running, dag.Pending}, "the newest active run", "no process is executing a run"}
	case Resume:
		return rule{stopped, "the newest run that can be resumed", "no run can be resumed"}
	case Retry:
		return rule{stopped, "the newest run that can be retried", "no run has anything to retry"}
	case Rerun:
		return rule{append(stopped, dag.Succeeded), "the newest run that has ended", "no run has ended"}
	}
	return rule{nil, "the newest run", history.ErrNoRun.Error()}
}

// Statuses returns the statuses of the runs that the act is for; nil is any.
func (a Act) Statuses() []dag.Status { return a.rule().statuses }

// Newest describes the run that history.Latest means for the act.
func (a Act) Newest() string { return a.rule().newest }

// Lacking says that there is no run for the act.
func (a Act) Lacking() string { return a.rule().lacking }

// Acts returns all acts.
func Acts() []Act { return []Act{Read, Answer, Cancel, Stop, Resume, Retry, Rerun} }

// noneError means that there is no run for an act. If there are other runs, it wraps outcome.ErrNoneSuits, else
// history.ErrNoRun.
type noneError struct {
	act    Act
	newest *history.RunInfo // nil if there are no runs at all
}

func (e *noneError) Error() string {
	text := fmt.Sprintf("cannot find run %q: %s", history.Latest, e.act.Lacking())
	if n := e.newest; n != nil {
		text += fmt.Sprintf("; the newest run is %s of %s, which %s", n.ID, n.Tool, StatusText(n.Status, n.Notes...))
	}
	return text
}

func (e *noneError) Unwrap() error {
	if e.newest == nil {
		return history.ErrNoRun
	}
	return outcome.ErrNoneSuits
}

// Finder finds runs in a store.
type Finder struct {
	Store   history.Store
	Library func() *library.Library
	Folder  string                     // the latest run is one of this folder, if it has one; "" prefers none
	Tool    string                     // the latest run is one of this tool; "" is any
	Shown   func(history.RunInfo) bool // whether the latest run can be this one; nil is any
}

// Find returns the id of the run that a word means for an act. Errors: history.ErrNoRun; a *history.AmbiguousError;
// outcome.ErrNoneSuits if the latest run is asked for and the act is for none of the runs.
func (f *Finder) Find(ctx context.Context, a Act, word string) (string, error) {
	if word != history.Latest {
		return history.FindRun(ctx, f.Store, word)
	}
	for _, folder := range slices.Compact([]string{f.Folder, ""}) {
		id, err := f.latest(ctx, a, history.Query{Folder: folder, Tool: f.Tool, Status: a.Statuses()})
		if err != nil || id != "" {
			return id, err
		}
	}
	if a != Read {
		if id, err := f.Find(ctx, Read, word); err == nil {
			newest, err := f.Store.Info(ctx, id)
			return "", cmp.Or(err, error(&noneError{a, &newest}))
		}
	}
	return "", &noneError{act: a}
}

// most is how many of the newest runs the latest one is looked for among.
const most = 1000

// latest returns the id of the newest run of a query that is for an act, or "".
func (f *Finder) latest(ctx context.Context, a Act, q history.Query) (string, error) {
	if q.Limit = most; a == Read && f.Shown == nil {
		q.Limit = 1
	}
	list, err := f.Store.Runs(ctx, q)
	for _, info := range list {
		if f.Shown != nil && !f.Shown(info) {
			continue
		}
		if suits, err := f.suits(ctx, a, info); err != nil || suits {
			return info.ID, err
		}
	}
	return "", err
}

// suits reports whether the act can do something with a run that has one of its statuses.
func (f *Finder) suits(ctx context.Context, a Act, info history.RunInfo) (bool, error) {
	switch a {
	case Resume, Retry, Rerun:
		return info.Reason != dag.ReasonNotStarted, nil
	case Answer:
		run, err := engine.LoadRun(ctx, f.Store, f.Library(), info.ID)
		if err != nil {
			return false, err
		}
		return slices.ContainsFunc(run.Questions(), func(q history.Question) bool {
			return !slices.Contains(run.Info.Answered, q.Wait)
		}), nil
	}
	return true, nil
}
