package service

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
)

// How much of what happened is remembered: as many updates, and about as many bytes of
// what steps printed.
const (
	maxUpdates = 16_384
	maxBytes   = 16 << 20
)

// feed is the row of updates. Whoever watches has a place in it and reads on from there,
// each at its own speed, so that nobody waits for anybody: who is so slow that the row has
// moved on is dropped.
type feed struct {
	mu    sync.Mutex
	max   int      // updates in the row: mostUpdates, but in tests
	row   []Update // the oldest first; their ids have no gaps
	bytes int
	last  uint64          // the id given last
	seen  map[string]mark // by run; see follower
	news  chan struct{}   // closed when the row grows; nil while nobody waits

	over chan struct{} // closed when there will be nothing more
	once sync.Once
}

// mark is how far the row has got with a run.
type mark struct {
	tool string
	seq  uint64 // the number of its last event
}

// newFeed is an empty row. Its ids follow the clock, so that those of the next service are
// higher.
func newFeed(now time.Time) *feed {
	return &feed{max: maxUpdates, last: uint64(now.UnixMilli()) << 20, seen: map[string]mark{}, over: make(chan struct{})}
}

// add puts events of a run into the row, but for those that are there.
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

// weight is about how many bytes an update holds on to.
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

// sink adds the events of a run that this process executes.
func (f *feed) sink(run, tool string) dag.Sink {
	return dag.SinkFunc(func(e dag.Event) { f.add(run, tool, e) })
}

// catchUp adds what is known of a run before this process goes on with it.
func (f *feed) catchUp(p *flowrun.RecordedRun) {
	r := p.Record
	if f.follow(r.ID, r.Tool, p.Events) {
		f.add(r.ID, r.Tool, p.Events...)
	}
}

// follow begins to tell of a run, after those of its events that have been, and says
// whether that had begun already.
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

// at is the number of the last event that was told of a run; false where none was.
func (f *feed) at(run string) (uint64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, known := f.seen[run]
	return m.seq, known
}

// known are the runs that are told of.
func (f *feed) known() map[string]mark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.seen)
}

// forget ends that.
func (f *feed) forget(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.seen, run)
}

// watch implements Service.Watch.
func (f *feed) watch(ctx context.Context, after uint64) (<-chan Update, bool) {
	f.mu.Lock()
	oldest := f.last + 1 - uint64(len(f.row))
	next, lost := after+1, false
	switch {
	case after == 0:
		next = f.last + 1
	case next < oldest:
		next, lost = oldest, true
	case next > f.last+1: // of a service whose clock was ahead
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

// tell sends updates from the one numbered next on.
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

// from is what follows in the row, or what is closed when something does; neither where
// the row has moved on.
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

// close ends every watch.
func (f *feed) close() { f.once.Do(func() { close(f.over) }) }
