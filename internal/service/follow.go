package service

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/service/feed"
	"github.com/flowrun/flowrun/internal/service/recorded"
)

const (
	// pollInterval is the interval of checking whether other processes have written to the
	// Store.
	pollInterval = 500 * time.Millisecond
	// ownerCheckInterval is the interval of checking open runs in any case: the death of an owner
	// writes nothing to the Store.
	ownerCheckInterval = 2 * time.Second
)

// runCounts counts the queued and the waiting runs of the state directory at the last check.
type runCounts struct{ queued, waiting int }

// follower adds the events of runs in other processes to the feed, and finds runs without
// an owner. Only one goroutine may use it.
type follower struct {
	store       history.Store
	readChanges func() (int64, error) // Config.Changes
	feed        *feed.Feed
	runs        *recorded.Runs
	executor    *executor.Executor
	adopter     *adopter
	retrier     *retrier

	newest   string // the id of the newest run seen
	changes  int64
	polledAt time.Time
	counts   atomic.Pointer[runCounts] // read by other goroutines
	seen     uint64                    // what openRuns summarizes, at the last check
	version  atomic.Uint64             // grows when seen changes; read by other goroutines
}

// begin marks everything recorded so far as known. Only later events are reported.
func (f *follower) begin(ctx context.Context) error {
	f.counts.Store(new(runCounts))
	runs, err := f.store.Runs(ctx, history.Query{Limit: 1})
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		f.newest = runs[0].ID
	}
	open, err := f.store.Runs(ctx, history.Query{Open: true})
	if err != nil {
		return err
	}
	for _, info := range open {
		events, err := f.events(ctx, info.ID, 0)
		if err != nil {
			return err
		}
		f.feed.Follow(info.ID, info.Tool, events)
	}
	return nil
}

// follow polls until quit is closed.
func (f *follower) follow(quit <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if f.changed() {
			f.poll(ctx)
		}
		select {
		case <-quit:
			return
		case <-tick.C:
		}
	}
}

// changed reports whether it is time to read the Store.
func (f *follower) changed() bool {
	if time.Since(f.polledAt) >= ownerCheckInterval {
		return true
	}
	if f.readChanges == nil {
		return true
	}
	n, err := f.readChanges()
	if err != nil || n == f.changes {
		return false
	}
	f.changes = n
	return true
}

// poll reads what is new. If a read fails, the next poll repeats it.
func (f *follower) poll(ctx context.Context) {
	settled := f.followedElsewhere()
	open, err := f.store.Runs(ctx, history.Query{Open: true})
	if err != nil {
		return
	}
	fresh, err := f.fresh(ctx)
	if err != nil {
		return
	}
	f.polledAt = time.Now()
	f.runs.RemoveUnused(f.polledAt)
	for _, info := range fresh {
		f.feed.Follow(info.ID, info.Tool, nil)
	}
	live := map[string]bool{}
	for _, info := range open {
		live[info.ID] = true
		f.addEvents(ctx, info)
	}
	for _, info := range fresh {
		if !live[info.ID] {
			f.addEvents(ctx, info)
		}
	}
	for id, tool := range settled {
		if !live[id] {
			f.addEvents(ctx, history.RunInfo{ID: id, Tool: tool})
			f.feed.Forget(id)
		}
	}
	now := countRuns(open)
	f.counts.Store(&now)
	f.adopter.endLeftovers(ctx, open)
	f.adopter.adopt(ctx, open)
	f.adopter.resumeWaiting(ctx, open)
	f.retrier.beginDue(ctx, time.Now())
	if now := f.adopter.parked.summary(open); now != f.seen {
		f.seen = now
		f.version.Add(1)
	}
}

// fresh returns the runs that started since the last poll. If there are very many, it omits
// the oldest: a service that was stopped for a day does not report the whole day.
func (f *follower) fresh(ctx context.Context) ([]history.RunInfo, error) {
	const most = 4096
	for n := 8; ; n *= 8 {
		list, err := f.store.Runs(ctx, history.Query{Limit: n})
		if err != nil || len(list) == 0 {
			return nil, err
		}
		for i, info := range list {
			if info.ID == f.newest {
				f.newest = list[0].ID
				return list[:i], nil
			}
		}
		if len(list) < n || n >= most {
			f.newest = list[0].ID
			return list, nil
		}
	}
}

// addEvents adds the new events of a run that another process executes.
func (f *follower) addEvents(ctx context.Context, info history.RunInfo) {
	if f.executor.Owns(info.ID) {
		return
	}
	after, known := f.feed.LastSeq(info.ID)
	events, err := f.events(ctx, info.ID, after)
	if err != nil {
		return
	}
	if !known { // it had ended, and was then resumed
		events = sinceResumed(events)
		f.feed.Follow(info.ID, info.Tool, nil)
	}
	f.feed.Add(info.ID, info.Tool, events...)
}

// events returns all events of a run after the one numbered after.
func (f *follower) events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	var list []dag.Event
	for {
		more, err := f.store.Events(ctx, id, after)
		if err != nil || len(more) == 0 {
			return list, err
		}
		list, after = append(list, more...), more[len(more)-1].Seq
	}
}

// sinceResumed returns the events of a run from its last resume on.
func sinceResumed(events []dag.Event) []dag.Event {
	for i := len(events) - 1; i > 0; i-- {
		if events[i].Kind == dag.RunResumed {
			return events[i:]
		}
	}
	return events
}

// followedElsewhere returns the runs that the feed follows and this process does not execute.
func (f *follower) followedElsewhere() map[string]string {
	list := f.feed.Followed()
	for id := range list {
		if f.executor.Owns(id) {
			delete(list, id)
		}
	}
	return list
}

// countRuns counts the queued and the waiting runs.
func countRuns(open []history.RunInfo) (now runCounts) {
	for _, info := range open {
		switch info.Status {
		case dag.Pending:
			now.queued++
		case dag.Waiting:
			now.waiting++
		}
	}
	return now
}
