// Package feed passes the events of all runs of a state directory on to subscribers, as one
// numbered sequence.
//
// # The model
//
// Whoever knows of an event adds it: the executor of a run in this process, and the follower of
// the history for runs of other processes. The feed knows how far each run's events have been
// added, so that both may add the same event. It holds only recent updates; the complete record
// is the history.
package feed

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// The feed keeps at most maxUpdates updates, which hold about maxBytes of the output of
// steps.
const (
	maxUpdates = 16_384
	maxBytes   = 16 << 20
)

// Update is one event, as subscribers of the service receive it.
type Update struct {
	// ID grows from update to update, even across restarts of the service.
	ID uint64
	// Run is the id of the run.
	Run string
	// Tool is the name of the run's tool.
	Tool string
	// Event is the event.
	Event dag.Event

	once    sync.Once
	encoded []byte
}

// Encoded returns what encode makes of the update. It is called once for all subscribers, so they
// must all pass the same function, and must not change the bytes.
func (u *Update) Encoded(encode func(*Update) []byte) []byte {
	u.once.Do(func() { u.encoded = encode(u) })
	return u.encoded
}

// Feed is a bounded queue of updates. Each subscriber reads from its own position, at its
// own speed, so that no subscriber delays another. A subscriber is dropped when its
// position has been removed from the queue. Safe for concurrent use.
type Feed struct {
	mu        sync.Mutex
	max       int       // limit of updates, see Limit
	updates   []*Update // the oldest first; ids are consecutive
	bytes     int
	last      uint64              // id of the newest update
	positions map[string]position // by run
	added     chan struct{}       // closed when an update is added; nil while no subscriber waits

	closed chan struct{} // closed when no more updates will come
	once   sync.Once
}

// position is the position that the feed has reached in the events of a run.
type position struct {
	tool string
	seq  uint64 // the number of its last event
}

// New returns an empty feed. Ids start at the current time, so that those of a later
// service are higher.
func New(now time.Time) *Feed {
	return &Feed{max: maxUpdates, last: uint64(now.UnixMilli()) << 20, positions: map[string]position{}, closed: make(chan struct{})}
}

// Add appends events of a run, without those that were added before.
func (f *Feed) Add(run, tool string, events ...dag.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range events {
		if e.Seq <= f.positions[run].seq {
			continue
		}
		f.positions[run] = position{tool, e.Seq}
		f.last++
		u := &Update{ID: f.last, Run: run, Tool: tool, Event: e.Detached()}
		f.updates = append(f.updates, u)
		f.bytes += memorySize(u)
	}
	for len(f.updates) > f.max || f.bytes > maxBytes && len(f.updates) > 1 {
		f.bytes -= memorySize(f.updates[0])
		f.updates[0] = nil
		f.updates = f.updates[1:]
	}
	if f.added != nil {
		close(f.added)
		f.added = nil
	}
}

// memorySize returns roughly how many bytes an update keeps in memory, encoded and not.
func memorySize(u *Update) int {
	n := 300 + len(u.Event.Node)
	for _, key := range u.Event.Keys {
		n += len(key)
	}
	if r := u.Event.Result; r != nil {
		n += 150
		for _, o := range []*dag.Output{r.Stdout, r.Stderr} {
			if o != nil {
				n += len(o.Inline)
			}
		}
	}
	return 2 * n
}

// Sink returns a sink that adds the events of a run executed by this process.
func (f *Feed) Sink(run, tool string) dag.Sink {
	return dag.SinkFunc(func(e dag.Event) { f.Add(run, tool, e) })
}

// CatchUp adds the recorded events of a run before this process resumes it.
func (f *Feed) CatchUp(p *engine.RecordedRun) {
	r := p.Record
	if f.Follow(r.ID, r.Tool, p.Events) {
		f.Add(r.ID, r.Tool, p.Events...)
	}
}

// Follow starts to follow a run after its past events. It reports whether the run was
// Followed already.
func (f *Feed) Follow(run, tool string, past []dag.Event) (already bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, already = f.positions[run]; !already {
		m := position{tool: tool}
		if len(past) > 0 {
			m.seq = past[len(past)-1].Seq
		}
		f.positions[run] = m
	}
	return already
}

// Last returns the number of the newest update, or of the one before the first. A Watch after it gets all that come
// later.
func (f *Feed) Last() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.last
}

// LastSeq returns the number of the last event that was added for a run. It reports false if the
// run is not followed.
func (f *Feed) LastSeq(run string) (uint64, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	m, known := f.positions[run]
	return m.seq, known
}

// Followed returns the tools of the runs that are followed, by run.
func (f *Feed) Followed() map[string]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	tools := make(map[string]string, len(f.positions))
	for run, m := range f.positions {
		tools[run] = m.tool
	}
	return tools
}

// Forget stops following a run.
func (f *Feed) Forget(run string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.positions, run)
}

// Limit sets the limit of updates, which is 16384 in a new feed.
func (f *Feed) Limit(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.max = n
}

// Watch subscribes to the updates numbered above after, or if after is 0 to those from now on.
// lost reports that updates are missing before the first one. The channel is closed when ctx ends,
// when the feed is closed, or when the subscriber is so slow that it is dropped.
func (f *Feed) Watch(ctx context.Context, after uint64) (<-chan []*Update, bool) {
	f.mu.Lock()
	oldest := f.last + 1 - uint64(len(f.updates))
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
	c := make(chan []*Update)
	go func() {
		defer close(c)
		f.send(ctx, c, next)
	}()
	return c, lost
}

// send sends updates to a subscriber, starting with the one numbered next.
func (f *Feed) send(ctx context.Context, c chan<- []*Update, next uint64) {
	var sent time.Time
	for {
		batch, news := f.batchFrom(next)
		if batch == nil && news == nil {
			return
		}
		if len(batch) > 0 {
			select {
			case c <- batch:
				next += uint64(len(batch))
				sent = time.Now()
			case <-ctx.Done():
				return
			case <-f.closed:
				return
			}
			continue
		}
		select {
		case <-news:
		case <-ctx.Done():
			return
		case <-f.closed:
			return
		}
		time.Sleep(max(batchDelay, batchInterval-time.Since(sent)))
	}
}

// A run of many short steps must not wake every subscriber for each of its events. So a subscriber
// waits batchDelay for more updates after the first one, and gets new batches at most once in
// batchInterval.
const (
	batchDelay    = 20 * time.Millisecond
	batchInterval = 100 * time.Millisecond
)

// maxBatch is the maximum number of updates that a subscriber gets at once.
const maxBatch = 256

// batchFrom returns a batch of updates starting at next. If there are none yet, it returns a
// channel that is closed when one is added. It returns neither if next has been removed
// from the queue.
func (f *Feed) batchFrom(next uint64) ([]*Update, <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	behind := f.last + 1 - next
	switch {
	case behind > uint64(len(f.updates)):
		return nil, nil
	case behind > 0:
		rest := f.updates[uint64(len(f.updates))-behind:]
		return slices.Clone(rest[:min(len(rest), maxBatch)]), nil
	case f.added == nil:
		f.added = make(chan struct{})
	}
	return nil, f.added
}

// Close ends every subscription.
func (f *Feed) Close() { f.once.Do(func() { close(f.closed) }) }
