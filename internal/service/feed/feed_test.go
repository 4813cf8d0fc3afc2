package feed

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestFeedBounds checks that the feed is bounded in number and in bytes, that a slow
// subscriber is dropped, and that it delays nobody.
func TestFeedBounds(t *testing.T) {
	t.Parallel()
	for name, printed := range map[string]int{"many": 0, "large": 4 << 10} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(time.Now())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				slow, _ := f.Watch(ctx, 0)
				first := f.last + 1
				for n := range uint64(2 * maxUpdates) {
					f.Add("run", "tool", dag.Event{Seq: n + 1, Result: &dag.Result{Stdout: &dag.Output{Inline: strings.Repeat("x", printed)}}})
				}
				if len(f.updates) > maxUpdates || f.bytes > maxBytes || len(f.updates) < 1000 {
					t.Errorf("%d updates of %d bytes are kept", len(f.updates), f.bytes)
				}
				n := 0
				for batch := range slow {
					for _, u := range batch {
						if u.ID != first+uint64(n) {
							t.Fatalf("update %d instead of %d", u.ID, first+uint64(n))
						}
						n++
					}
				}
				if n > maxBatch {
					t.Errorf("%d updates came before it was dropped", n)
				}
				if again, lost := f.Watch(ctx, first); !lost || (<-again)[0].ID != f.updates[0].ID {
					t.Error("a place before the row is not reported")
				}
			})
		})
	}
}

// TestFeedBatches checks that a subscriber gets the first update soon, and a stream of updates in few
// batches.
func TestFeedBatches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := New(time.Now())
		began := time.Now()
		updates, _ := f.Watch(t.Context(), 0)
		go func() {
			for n := range uint64(1000) {
				f.Add("run", "tool", dag.Event{Seq: n + 1})
				time.Sleep(time.Millisecond)
			}
			f.Close()
		}()
		batches := 0
		for range updates {
			if batches++; batches == 1 && time.Since(began) > batchDelay {
				t.Errorf("the first batch came after %v", time.Since(began))
			}
		}
		if batches > 12 {
			t.Errorf("%d batches in a second", batches)
		}
	})
}

// TestFeedOnce checks that an event which arrives from a sink and from the Store is
// reported once.
func TestFeedOnce(t *testing.T) {
	t.Parallel()
	f := New(time.Now())
	for _, seqs := range [][]uint64{{1, 2}, {1, 2, 3}, {3}, {4, 5}} {
		for _, n := range seqs {
			f.Add("run", "tool", dag.Event{Seq: n})
		}
	}
	var got []string
	for _, u := range f.updates {
		got = append(got, fmt.Sprint(u.Event.Seq))
	}
	if strings.Join(got, " ") != "1 2 3 4 5" {
		t.Error(got)
	}
}
