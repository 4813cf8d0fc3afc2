package dag

import (
	"context"
	"fmt"
	"strings"
)

// Each is a loop: it runs Item once for each of Items.
type Each struct {
	// Items returns the items of the loop. A worker calls it when the loop has started, and
	// again when the run is resumed; then it must return the same items. An error fails the
	// loop with ReasonInput.
	Items func(ctx context.Context, c *Call) (Items, error)
	// Item is the node that runs for each item: its Runner, Graph or Each, with When,
	// Policy and DurableStart. It has no id; its events have paths like test[KEY]. It sees
	// the arguments of its item, and the results that the node of the loop sees.
	Item Node

	// Parallel limits how many items are active at the same time; one that waits for its
	// next attempt counts. 0 means as many as there are slots.
	Parallel int
	// MinSuccess is how many items must succeed; if there are fewer items, all must. An
	// item that was skipped, or whose failure is tolerated, does not count as a success. 0
	// means that no item may fail. A loop without items always succeeds.
	MinSuccess int
	// FailFast cancels the other items when so many have failed that the loop cannot
	// succeed any more. Skipped items do not count as failed here.
	FailFast bool

	// Keep is how many bytes of the items' stdout Gather can read. Raw beyond that is
	// dropped and the output is marked as truncated.
	Keep int64
	// Gather may complete the result of the loop (its output) from the results of the
	// items, which are in the order of the items. A worker calls it after all items have
	// settled.
	Gather func(v View, items []*Result, r *Result)
}

// Items are the items of a loop. Implementations must be safe for concurrent use.
type Items interface {
	Len() int
	// Keys returns the names of the items, without duplicates and without brackets. nil
	// means that the items are numbered from 0.
	Keys() []string
	// Digest distinguishes these items from others with the same keys; "" if nothing does.
	// It is recorded in the journal.
	Digest() string
	// Args returns the arguments of item i.
	Args(i int) Args
}

// maxItems is the largest number of items of a loop.
const maxItems = 1_000_000

// checkItems returns an error that describes what is wrong with the items of a loop, or
// nil.
func checkItems(items Items) error {
	n, keys := items.Len(), items.Keys()
	switch {
	case n > maxItems:
		return fmt.Errorf("cannot loop over %d items: the maximum is %d", n, maxItems)
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
