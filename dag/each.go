package dag

import (
	"context"
	"fmt"
	"strings"
)

// Each is what a loop does: Item once for every one of Items.
type Each struct {
	// Items lists what the loop goes over. It is called in a worker when the loop
	// has started, and once more when the run is taken up again: then it must
	// answer the same. What it refuses fails the loop with ReasonInput.
	Items func(ctx context.Context, c *Call) (Items, error)
	// Item is the node of every item: what runs (Runner, Graph or Each), When, Policy and
	// Sure. It has no id of its own; its events are about test[KEY]. It sees the
	// arguments of its item and the results that the loop's own node sees.
	Item Node

	// Parallel bounds how many items are under way at once, waits between tries
	// included. 0 keeps as many under way as there are slots.
	Parallel int
	// MinSuccess is how many items must succeed, or all where there are fewer; one
	// that was skipped, or whose failure is tolerated, has not. 0: none may fail. A
	// loop over nothing succeeds in any case.
	MinSuccess int
	// FailFast cancels the rest once too many items have failed for the loop to
	// succeed. Items that were skipped do not count for that.
	FailFast bool

	// Keep is how many bytes of the items' stdout Gather can see. Raw of what is
	// printed beyond that is dropped, and marked as truncated.
	Keep int64
	// Gather may complete the loop's result (its output) from those of its items, in
	// the order of the items. It is called in a worker, when all of them have settled.
	Gather func(v View, items []*Result, r *Result)
}

// Items are what a loop goes over. They are read from several goroutines.
type Items interface {
	Len() int
	// Keys names the items, each once, without brackets; nil names them by number,
	// from 0.
	Keys() []string
	// Digest tells these items from others with the same keys, "" where nothing does.
	// It goes into the journal.
	Digest() string
	// Args are the arguments of one item.
	Args(i int) Args
}

// MaxItems is how many items a loop may go over.
const MaxItems = 1_000_000

// checkItems says what is wrong with the items of a loop.
func checkItems(items Items) error {
	n, keys := items.Len(), items.Keys()
	switch {
	case n > MaxItems:
		return fmt.Errorf("cannot loop over %d items: the maximum is %d", n, MaxItems)
	case keys == nil:
		return nil
	case len(keys) != n:
		return fmt.Errorf("cannot loop over %d items with %d keys", n, len(keys))
	}
	seen := make(map[string]int, n)
	for i, key := range keys {
		if strings.ContainsAny(key, "[]") {
			return fmt.Errorf("cannot use %q as the key of item %d: a key cannot contain brackets", key, i)
		}
		if first, twice := seen[key]; twice {
			return fmt.Errorf("items %d and %d have the same key %q", first, i, key)
		}
		seen[key] = i
	}
	return nil
}
