package service

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

// The feed keeps at most maxUpdates updates, which hold about maxBytes of the output of
// steps.
const (
	maxUpdates = 16_384
	maxBytes   = 16 << 20
)

// feed is a bounded queue of updates. Each subscriber reads from its own position, at its
// own speed, so that no subscriber delays another. A subscriber is dropped when its
// position has been removed from the queue.
type feed struct {
	mu    sync.Mutex
	max   int      // limit of updates; maxUpdates except in tests
	row   []Update // the oldest first; ids are consecutive
	bytes int
	last  uint64          // id of the newest update
	seen  map[string]mark // by run; see follower
	news  chan struct{}   // closed when an update is added; nil while no subscriber waits

	over chan struct{} // closed when no more updates will come
	once sync.Once
}

// mark is the position that the feed has reached in the events of a run.
type mark struct {
	tool string
	seq  uint64 // the number of its last event
}

// newFeed returns an empty feed. Ids start at the current time, so that those of a later
// service are higher.
func newFeed(now time.Time) *feed {
	return &feed{max: maxUpdates, last: uint64(now.UnixMilli()) << 20, seen: map[string]mark{}, over: make(chan struct{})}
}

// add appends events of a run, without those that were added before.
func (f *feed) add(run, tool string, events ...dag.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		if e.Seq <= f.seen[run].seq {
			continue
		}
		f.seen[run] = mark{tool, e.Seq}
		f.last++
		u := Update{ID: f.last, Run: run, Tool: tool, Event: e.Detached()}
		f.row = append(f.row, u)
		f.bytes += weight(&u)
	}
	for len(f.row) > f.max || f.bytes > maxBytes && len(f.row) > 1 {
		f.bytes -= weight(&f.row[0])
		f.row[0] = Update{}
		f.row = f.row[1:]
	}
	if f.news != nil {
		close(f.news)
		f.news = nil
	}
}

// weight returns roughly how many bytes an update keeps in memory.
func weight(u *Update) int {
	n := 400 + len(u.Event.Node)
	for _, key := range u.Event.Keys {
		n += len(key)
	}
	if r := u.Event.Result; r != nil {
		n += 200
		for _, o := range []*dag.Output{r.Stdout, r.Stderr} {
			if o != nil {
				n += len(o.Inline)
			}
		}
	}
	return n
}

// sink returns a sink that adds the events of a run executed by this process.
func (f *feed) sink(run, tool string) dag.Sink {
	return dag.SinkFunc(func(e dag.Event) { f.add(run, tool, e) })
}

// catchUp adds the recorded events of a run before this process resumes it.
func (f *feed) catchUp(p *flowrun.RecordedRun) {
	r := p.Record
	if f.follow(r.ID, r.Tool, p.Events) {
		f.add(r.ID, r.Tool, p.Events...)
	}
}

// follow starts to follow a run after its past events. It reports whether the run was
// followed already.
func (f *feed) follow(run, tool string, past []dag.Event) (already bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, already = f.seen[run]; !already {
		m := mark{tool: tool}
		if len(past) > 0 {
			m.seq = past[len(past)-1].Seq
		}
		f.seen[run] = m
	}
	return already
}

// at returns the number of the last event that was added for a run. It reports false if the
// run is not followed.
func (f *feed) at(run string) (uint64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, known := f.seen[run]
	return m.seq, known
}

// known returns the runs that are followed.
func (f *feed) known() map[string]mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}

// forget stops following a run.
func (f *feed) forget(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.seen, run)
}

// watch implements API.Watch.
func (f *feed) watch(ctx context.Context, after uint64) (<-chan Update, bool) {
	f.mu.Lock()
	oldest := f.last + 1 - uint64(len(f.row))
	next, lost := after+1, false
	switch {
	case after == 0:
		next = f.last + 1
	case next < oldest:
		next, lost = oldest, true
	case next > f.last+1: // the id came from a service whose clock was ahead
		next, lost = f.last+1, true
	}
	f.mu.Unlock()
	c := make(chan Update)
	go func() {
		defer close(c)
		f.tell(ctx, c, next)
	}()
	return c, lost
}

// tell sends updates to a subscriber, starting with the one numbered next.
func (f *feed) tell(ctx context.Context, c chan<- Update, next uint64) {
	for {
		batch, news := f.from(next)
		if batch == nil && news == nil {
			return
		}
		for _, u := range batch {
			select {
			case c <- u:
				next++
			case <-ctx.Done():
				return
			case <-f.over:
				return
			}
		}
		if len(batch) > 0 {
			continue
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		case <-f.over:
			return
		}
	}
}

// from returns a batch of updates starting at next. If there are none yet, it returns a
// channel that is closed when one is added. It returns neither if next has been removed
// from the queue.
func (f *feed) from(next uint64) ([]Update, <-chan struct{}) {
	const most = 64
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := f.last + 1 - next
	switch {
	case behind > uint64(len(f.row)):
		return nil, nil
	case behind > 0:
		rest := f.row[uint64(len(f.row))-behind:]
		return append([]Update(nil), rest[:min(len(rest), most)]...), nil
	case f.news == nil:
		f.news = make(chan struct{})
	}
	return nil, f.news
}

// close ends every subscription.
func (f *feed) close() { f.once.Do(func() { close(f.over) }) }
