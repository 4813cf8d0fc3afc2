// Package recorded reads runs of the history for the pages and requests of a service.
package recorded

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// Definitions are the available definitions, for plans of runs.
type Definitions interface {
	// Library returns the current Library.
	Library() *library.Library
	// Compiled returns the plan of a tool if it has been compiled.
	Compiled(tool string) []*engine.Plan
}

// Runs loads runs, and keeps those that were read last. Pages read the run that they show again and
// again, and several pages may show one run: its definitions are compiled once, and only new events
// are read. Safe for concurrent use.
type Runs struct {
	store       history.Store
	definitions Definitions

	mu    sync.Mutex
	runs  map[string]*recentRun
	bytes int // of all runs
	max   int // limit of bytes; maxRecentBytes except in tests
}

// recentRun is one run.
type recentRun struct {
	mu    sync.Mutex          // held while the run is read, so that requests at the same time read it once
	run   *engine.RecordedRun // nil until it has been read
	shown *engine.RecordedRun // the last snapshot of it

	// Guarded by Runs.mu.
	used  time.Time
	bytes int
}

// A run is kept until nobody has read it for maxRecentAge. All of them hold about maxRecentBytes.
const (
	maxRecentAge   = time.Minute
	maxRecentBytes = 64 << 20
)

// New returns the runs of a Store.
func New(store history.Store, definitions Definitions) *Runs {
	return &Runs{store: store, definitions: definitions, runs: map[string]*recentRun{}, max: maxRecentBytes}
}

// Load reads a run that is not kept: the caller may change it.
func (c *Runs) Load(ctx context.Context, id string) (*engine.RecordedRun, error) {
	info, err := c.store.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	return engine.LoadRun(ctx, c.store, c.definitions.Library(), id, c.definitions.Compiled(info.Tool)...)
}

// RecordedRun returns a run as it is now: the same value to all callers until something happens in
// the run, so that they can keep what they make of it. Nobody may change it.
func (c *Runs) RecordedRun(ctx context.Context, id string) (*engine.RecordedRun, error) {
	r := c.entry(id)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := c.read(ctx, id, r); err != nil {
		c.remove(id, r)
		return nil, err
	}
	c.keep(id, r)
	if r.shown == nil || r.shown.Record != r.run.Record || len(r.shown.Events) != len(r.run.Events) || !reflect.DeepEqual(r.shown.Info, r.run.Info) {
		r.shown = r.run.Snapshot()
	}
	return r.shown, nil
}

// entry returns the entry of a run, a new one if there is none.
func (c *Runs) entry(id string) *recentRun {
	c.mu.Lock()
	defer c.mu.Unlock()
	r := c.runs[id]
	if r == nil {
		r = new(recentRun)
		c.runs[id] = r
	}
	r.used = time.Now()
	return r
}

// read reads a run, or what has happened in it since it was read.
func (c *Runs) read(ctx context.Context, id string, r *recentRun) (err error) {
	if r.run != nil {
		started := r.run.Info.Started
		if err := r.run.Refresh(ctx, c.store); err != nil || r.run.Info.Started.Equal(started) {
			return err
		}
		// The run was removed from the history, and a repeated request has started another one with its id.
	}
	r.run, err = c.Load(ctx, id)
	return err
}

// keep adds what was read of a run to the sum, and removes the runs that were not read for the
// longest time while there are too many bytes.
func (c *Runs) keep(id string, r *recentRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[id] != r {
		return // it was removed while it was read
	}
	c.bytes -= r.bytes
	r.bytes = memoryOf(r.run)
	c.bytes += r.bytes
	for c.bytes > c.max {
		c.drop(c.oldest())
	}
}

// oldest returns the run that nobody has read for the longest time. The caller holds mu.
func (c *Runs) oldest() (oldest string) {
	var used time.Time
	for id, r := range c.runs {
		if oldest == "" || r.used.Before(used) {
			oldest, used = id, r.used
		}
	}
	return oldest
}

// memoryOf returns roughly how many bytes a run holds: each event, and what the state and the
// plan have of its step.
func memoryOf(p *engine.RecordedRun) int {
	const perEvent, perStep = 500, 3000
	return perEvent*len(p.Events) + perStep*len(p.Plan.Graph().Nodes())
}

// remove removes an entry that could not be read.
func (c *Runs) remove(id string, r *recentRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.runs[id] == r {
		c.drop(id)
	}
}

// RemoveUnused removes the runs that nobody has read for a while.
func (c *Runs) RemoveUnused(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, r := range c.runs {
		if now.Sub(r.used) > maxRecentAge {
			c.drop(id)
		}
	}
}

// drop removes an entry. The caller holds mu.
func (c *Runs) drop(id string) {
	c.bytes -= c.runs[id].bytes
	delete(c.runs, id)
}
