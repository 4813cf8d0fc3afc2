package attention

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
)

const (
	// lookInterval is how often a Watcher asks whether something has changed.
	lookInterval = time.Second
	// maxInterval is the longest time between two searches: time passes without any change, and definitions change outside of
	// the history.
	maxInterval = 30 * time.Second
)

// Watcher keeps the items of a service. Safe for concurrent use.
type Watcher struct {
	// Source returns where items are found now.
	Source func() Source
	// Version returns a number that changes when something may have changed.
	Version func() uint64
	// New is called with the items that a search finds for the first time, oldest first. A service that starts finds all of them.
	// One call at a time is made; it may take long, and searches go on meanwhile. It should return when ctx ends.
	New func(ctx context.Context, items []Item)
	Log *slog.Logger

	mu    sync.Mutex
	items []Item

	calls   sync.WaitGroup // of New
	calling chan struct{}  // has a value during a call of New
}

// Items returns what the last search found.
func (w *Watcher) Items() []Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.items)
}

// Watch searches until ctx ends. It returns when the last call of New has.
func (w *Watcher) Watch(ctx context.Context) {
	w.calling = make(chan struct{}, 1)
	defer w.calls.Wait()
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	var version uint64
	var searched time.Time
	for {
		if now := w.Version(); now != version || time.Since(searched) >= maxInterval {
			w.search(ctx)
			version, searched = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// search finds the items of now.
func (w *Watcher) search(ctx context.Context) {
	found, err := Find(ctx, w.Source())
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		w.Log.Warn("cannot find everything that needs attention", "error", err.Error())
	}
	before := map[string]bool{}
	for _, i := range w.Items() {
		before[i.Run+i.Key()] = true
	}
	w.mu.Lock()
	w.items = found
	w.mu.Unlock()
	var fresh []Item
	for _, i := range slices.Backward(found) { // oldest first
		if !before[i.Run+i.Key()] {
			w.log(i)
			fresh = append(fresh, i)
		}
	}
	if len(fresh) > 0 {
		w.calls.Go(func() {
			w.calling <- struct{}{}
			defer func() { <-w.calling }()
			w.New(ctx, fresh)
		})
	}
}

// log logs an item. Its step is written without the keys of loops, and questions are left out: both can have values of callers.
func (w *Watcher) log(i Item) {
	var facts []any
	for _, f := range []struct{ name, value string }{{"run", i.Run}, {"tool", i.Tool}, {"schedule", i.Schedule}, {"step", string(dag.ID(i.Step).WithoutKeys())}} {
		if f.value != "" {
			facts = append(facts, f.name, f.value)
		}
	}
	message := i.Reason
	if i.Kind == Waiting {
		message = KindOf(i.Kind).Meaning
	}
	w.Log.Warn("a person is needed", append([]any{"kind", i.Kind}, append(facts, "message", message, "do", i.Do)...)...)
}
