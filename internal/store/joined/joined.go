// Package joined shows the runs of two stores as those of one, such as those of this machine and those of a Temporal service.
//
// A run is found by its id in the first store, or else in the second: ids are unique. A list has the runs of both, newest
// first, so that the latest run is the latest of both. New runs, and what tools keep between their runs, are those of the first.
package joined

import (
	"context"
	"errors"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// Store implements history.Store. Safe for concurrent use if both stores are.
type Store struct {
	history.Store // the first
	second        history.Store
}

// New returns a Store with the runs of two stores.
func New(first, second history.Store) *Store { return &Store{first, second} }

// Of returns the store that has a run. Error: history.ErrNoRun.
func (s *Store) Of(ctx context.Context, id string) (history.Store, error) {
	for _, one := range []history.Store{s.Store, s.second} {
		if _, err := one.Info(ctx, id); !errors.Is(err, history.ErrNoRun) {
			return one, err
		}
	}
	return nil, history.ErrNoRun
}

// of calls f with the store that has a run.
func of[T any](ctx context.Context, s *Store, id string, f func(history.Store) (T, error)) (T, error) {
	one, err := s.Of(ctx, id)
	if err != nil {
		var none T
		return none, err
	}
	return f(one)
}

// Claim implements history.Store.
func (s *Store) Claim(ctx context.Context, id string, seq uint64) (history.Ledger, error) {
	return of(ctx, s, id, func(one history.Store) (history.Ledger, error) { return one.Claim(ctx, id, seq) })
}

// Record implements history.Store.
func (s *Store) Record(ctx context.Context, id string) (*history.Record, error) {
	return of(ctx, s, id, func(one history.Store) (*history.Record, error) { return one.Record(ctx, id) })
}

// Info implements history.Store.
func (s *Store) Info(ctx context.Context, id string) (history.RunInfo, error) {
	return of(ctx, s, id, func(one history.Store) (history.RunInfo, error) { return one.Info(ctx, id) })
}

// Events implements history.Store.
func (s *Store) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	return of(ctx, s, id, func(one history.Store) ([]dag.Event, error) { return one.Events(ctx, id, after) })
}

// Answer implements history.Store.
func (s *Store) Answer(ctx context.Context, id string, a history.Answer) error {
	one, err := s.Of(ctx, id)
	if err != nil {
		return err
	}
	return one.Answer(ctx, id, a)
}

// Cancel implements history.Store.
func (s *Store) Cancel(ctx context.Context, id, reason string) error {
	one, err := s.Of(ctx, id)
	if err != nil {
		return err
	}
	return one.Cancel(ctx, id, reason)
}

// Runs implements history.Store.
func (s *Store) Runs(ctx context.Context, q history.Query) (list []history.RunInfo, err error) {
	queries := [2]history.Query{q, q}
	if q.Before != "" {
		if queries, err = s.following(ctx, q); errors.Is(err, history.ErrNoRun) {
			return nil, nil
		} else if err != nil {
			return nil, err
		}
	}
	list, err = s.Store.Runs(ctx, queries[0])
	if err != nil {
		return nil, err
	}
	more, err := s.second.Runs(ctx, queries[1])
	if err != nil {
		return nil, err
	}
	list = append(list, more...)
	slices.SortStableFunc(list, func(a, b history.RunInfo) int { return b.Started.Compare(a.Started) })
	if q.Limit > 0 && len(list) > q.Limit {
		list = list[:q.Limit]
	}
	return list, nil
}

// following returns the query for each store, of the runs that follow q.Before in the list of both: in the other store, that is
// those that are older.
func (s *Store) following(ctx context.Context, q history.Query) (list [2]history.Query, err error) {
	has, err := s.Of(ctx, q.Before)
	if err != nil {
		return list, err
	}
	info, err := has.Info(ctx, q.Before)
	older := q
	if older.Before = ""; older.Until.IsZero() || info.Started.Before(older.Until) {
		older.Until = info.Started
	}
	if has == s.Store {
		return [2]history.Query{q, older}, err
	}
	return [2]history.Query{older, q}, err
}

// Queue implements history.Store, with the queue of the first store before that of the second: they share nothing.
func (s *Store) Queue(ctx context.Context) (history.Queue, error) {
	list, err := s.Store.Queue(ctx)
	if err != nil {
		return nil, err
	}
	more, err := s.second.Queue(ctx)
	return slices.Concat(list, more), err
}
