package service

import (
	"context"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

const (
	// changesEvery is the interval of checking whether other processes have written to the
	// Store.
	changesEvery = 500 * time.Millisecond
	// ownersEvery is the interval of checking open runs in any case: the death of an owner
	// writes nothing to the Store.
	ownersEvery = 2 * time.Second
)

// standing counts the queued and the waiting runs of the state directory at the last check.
type standing struct{ queued, resting int }

// follower adds the events of runs in other processes to the feed, and finds runs without
// an owner. Only one goroutine may use it.
type follower struct {
	service *Service
	newest  string // the id of the newest run seen
	changes int64
	looked  time.Time
}

// begin marks everything recorded so far as known. Only later events are reported.
func (f *follower) begin(ctx context.Context) error {
	s := f.service
	runs, err := s.Store.Runs(ctx, flowrun.Query{Limit: 1})
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		f.newest = runs[0].ID
	}
	open, err := s.Store.Runs(ctx, flowrun.Query{Open: true})
	if err != nil {
		return err
	}
	for _, info := range open {
		events, err := f.events(ctx, info.ID, 0)
		if err != nil {
			return err
		}
		s.feed.follow(info.ID, info.Tool, events)
	}
	return nil
}

// follow polls until quit is closed.
func (f *follower) follow(quit <-chan struct{}) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	tick := time.NewTicker(changesEvery)
	defer tick.Stop()
	for {
		if f.changed() {
			f.look(ctx)
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
	if time.Since(f.looked) >= ownersEvery {
		return true
	}
	if f.service.Changes == nil {
		return true
	}
	n, err := f.service.Changes()
	if err != nil || n == f.changes {
		return false
	}
	f.changes = n
	return true
}

// look reads what is new. If a read fails, the next poll repeats it.
func (f *follower) look(ctx context.Context) {
	s := f.service
	settled := s.settled()
	open, err := s.Store.Runs(ctx, flowrun.Query{Open: true})
	if err != nil {
		return
	}
	fresh, err := f.fresh(ctx)
	if err != nil {
		return
	}
	f.looked = time.Now()
	for _, info := range fresh {
		s.feed.follow(info.ID, info.Tool, nil)
	}
	live := map[string]bool{}
	for _, info := range open {
		live[info.ID] = true
		f.tell(ctx, info)
	}
	for _, info := range fresh {
		if !live[info.ID] {
			f.tell(ctx, info)
		}
	}
	for id, m := range settled {
		if !live[id] {
			f.tell(ctx, flowrun.RunInfo{ID: id, Tool: m.tool})
			s.feed.forget(id)
		}
	}
	s.stand(open)
	s.adopt(ctx, open)
	s.wake(ctx, open)
}

// fresh returns the runs that started since the last poll. If there are very many, it omits
// the oldest: a service that was stopped for a day does not report the whole day.
func (f *follower) fresh(ctx context.Context) ([]flowrun.RunInfo, error) {
	const most = 4096
	for n := 8; ; n *= 8 {
		list, err := f.service.Store.Runs(ctx, flowrun.Query{Limit: n})
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

// tell adds the new events of a run that another process executes.
func (f *follower) tell(ctx context.Context, info flowrun.RunInfo) {
	s := f.service
	if s.owns(info.ID) {
		return
	}
	after, known := s.feed.at(info.ID)
	events, err := f.events(ctx, info.ID, after)
	if err != nil {
		return
	}
	if !known { // it had ended, and was then resumed
		events = sinceResumed(events)
		s.feed.follow(info.ID, info.Tool, nil)
	}
	s.feed.add(info.ID, info.Tool, events...)
}

// events returns all events of a run after the one numbered after.
func (f *follower) events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	var list []dag.Event
	for {
		more, err := f.service.Store.Events(ctx, id, after)
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

// settled returns the runs that the feed follows and this process does not execute.
func (s *Service) settled() map[string]mark {
	list := s.feed.known()
	for id := range list {
		if s.owns(id) {
			delete(list, id)
		}
	}
	return list
}

// stands counts the queued and the waiting runs.
func stands(open []flowrun.RunInfo) (now standing) {
	for _, info := range open {
		switch info.Status {
		case dag.Pending:
			now.queued++
		case dag.Waiting:
			now.resting++
		}
	}
	return now
}

// stand stores these counts.
func (s *Service) stand(open []flowrun.RunInfo) {
	now := stands(open)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.standing = now
}
