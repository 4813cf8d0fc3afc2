// Package runfilter reads the words with which people and programs choose runs of a list (a state, an origin, a
// label), and lists the runs that they choose, a page at a time. A Store applies what its Query can say; the
// rest is checked here, run by run. flowrun runs and the HTTP API ask it, so that one word means the same to both.
package runfilter

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Statuses returns the states that a run can have, as text.
func Statuses() (words []string) {
	for _, s := range []dag.Status{dag.Running, dag.Pending, dag.Waiting, dag.Succeeded, dag.Failed, dag.Cancelled, dag.TimedOut, dag.Interrupted} {
		words = append(words, s.String())
	}
	return words
}

// Kinds are the words of SetOrigin that mean all origins of a kind, such as schedule:NAME for every NAME.
func Kinds() []string { return []string{"schedule", "backfill", "webhook", "file", "after"} }

// Direct is the word of SetOrigin for runs that were started directly: they have no origin.
const Direct = "cli"

// Filter chooses runs that match all of it. The zero Filter chooses all runs.
type Filter struct {
	// Query is what the Store applies. If it has WithParams, the runs of a Page have their parameters.
	Query history.Query

	conditions  []func(history.RunInfo) bool
	needsParams bool // the conditions read them
}

// AddStatus adds a state to those of which a run must have one.
func (f *Filter) AddStatus(word string) error {
	s, err := dag.ParseStatus(word)
	if err != nil {
		return err
	}
	f.Query.Status = append(f.Query.Status, s)
	return nil
}

// SetOrigin limits the filter to one origin (see flowrun.WithOrigin), to a kind of origins (see Kinds), or to
// Direct. "" does not limit it.
func (f *Filter) SetOrigin(word string) {
	switch {
	case word == Direct:
		f.Query.Direct = true
	case slices.Contains(Kinds(), word):
		f.Query.Kind = word
	default:
		f.Query.Origin = word
	}
}

// AddParam limits the filter to runs with a parameter, written as NAME=VALUE. A value that is not text is compared
// as it is shown; a secret one never matches, because it is not recorded.
func (f *Filter) AddParam(word string) error {
	name, want, ok := strings.Cut(word, "=")
	if !ok || name == "" {
		return errors.New("has no name and value")
	}
	f.needsParams = true
	f.AddCondition(func(i history.RunInfo) bool {
		v, known := i.Params[name]
		return known && value.Plain(v) == want
	})
	return nil
}

// AddLabel limits the filter to runs with a label, written as NAME=VALUE, or as NAME for any value.
func (f *Filter) AddLabel(word string) error {
	name, value, equal := strings.Cut(word, "=")
	if err := label.CheckName(name); err != nil {
		return err
	}
	if equal {
		if err := label.Check(name, value); err != nil {
			return err
		}
	}
	f.Query.Labels = append(f.Query.Labels, history.Label{Name: name, Value: value})
	return nil
}

// AddCondition adds a condition that runs must meet.
func (f *Filter) AddCondition(met func(history.RunInfo) bool) {
	f.conditions = append(f.conditions, met)
}

// examinedAtOnce is how many runs are read at once to check conditions.
const examinedAtOnce = 500

// Page returns at most Query.Limit runs, newest first, and the id after which the list continues, which is "" at its
// end. It stops after a time, with what it has found by then, unless that time is zero.
func (f *Filter) Page(ctx context.Context, runs func(context.Context, history.Query) ([]history.RunInfo, error), until time.Time) (page []history.RunInfo, next string, err error) {
	limit, q := f.Query.Limit, f.Query
	q.WithParams = q.WithParams || f.needsParams
	if limit > 0 {
		q.Limit++ // shows whether there are more
		if len(f.conditions) > 0 {
			q.Limit = max(q.Limit, examinedAtOnce)
		}
	}
	for {
		list, err := runs(ctx, q)
		if err != nil {
			return nil, "", err
		}
		for _, info := range list {
			if f.meets(info) {
				if limit > 0 && len(page) == limit {
					return page, q.Before, nil
				}
				if !f.Query.WithParams {
					info.Params = nil
				}
				page = append(page, info)
			}
			q.Before = info.ID
		}
		switch {
		case limit == 0 || len(list) < q.Limit:
			return page, "", nil
		case !until.IsZero() && time.Now().After(until):
			return page, q.Before, nil
		}
	}
}

// Count returns how many runs the filter selects, if the Store can count them without reading each.
func (f *Filter) Count(ctx context.Context, s history.Store) (n int, known bool) {
	counter, can := s.(interface {
		Count(context.Context, history.Query) (int, bool, error)
	})
	if !can || len(f.conditions) > 0 {
		return 0, false
	}
	n, known, err := counter.Count(ctx, f.Query)
	return n, known && err == nil
}

// meets reports whether a run meets the conditions.
func (f *Filter) meets(info history.RunInfo) bool {
	return !slices.ContainsFunc(f.conditions, func(met func(history.RunInfo) bool) bool { return !met(info) })
}
