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
	// New is called for each item that the Watcher sees for the first time. A service that starts sees all of them.
	New func(ctx context.Context, i Item)
	Log *slog.Logger

	mu    sync.Mutex
	items []Item
}

// Items returns what the last search found.
func (w *Watcher) Items() []Item {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.items)
}

// Watch searches until ctx ends.
func (w *Watcher) Watch(ctx context.Context) {
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
	for _, i := range slices.Backward(found) { // oldest first
		if !before[i.Run+i.Key()] {
			w.log(i)
			w.New(ctx, i)
		}
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
