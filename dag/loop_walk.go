package dag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// loopWalk walks a loop: its items wait for nothing but a free place among the active ones.
type loopWalk struct {
	*Each
	count     int // number of items
	items     Items
	keys      []string
	digest    string
	index     map[string]int32 // by key; made when it is first needed
	next      int32            // all items before it have been released or had settled
	active    int32            // number of active items
	failed    int32
	keptBytes int64 // bytes of Raw that are kept
}

// openLoop makes the frame of one walk of a loop. Its items start after it is bound.
func openLoop(each *Each, prefix string, up place) *frame {
	return &frame{walk: &loopWalk{Each: each}, prefix: prefix, parent: up}
}

func (w *loopWalk) def(int32) *Node { return &w.Item }

func (w *loopWalk) path(prefix string, i int32) ID { return ID(prefix + "[" + w.key(i) + "]") }

func (w *loopWalk) dependents(int32) []int32 { return nil }

func (w *loopWalk) timeout() time.Duration { return 0 }

func (w *loopWalk) args(v View) Args {
	if v.i >= 0 {
		return w.items.Args(int(v.i))
	}
	return v.f.parent.view().Args()
}

func (w *loopWalk) result(v View, id ID) *Result { return v.f.parent.view().Result(id) }

// expand applies step.expanded: it sets the items of the loop.
func (w *loopWalk) expand(f *frame, e *Event) {
	n := e.Items
	if e.Keys != nil {
		n = len(e.Keys)
	}
	if f.expanded || n < 0 || n > maxItems {
		return
	}
	w.count, w.keys, w.digest = n, e.Keys, e.Digest
	f.expanded, f.nodes, f.unsettled = true, make([]nodeState, n), int32(n)
}

// sameItems reports whether items are those that the loop had when it was recorded.
func (w *loopWalk) sameItems(items Items) bool {
	return items.Len() == w.count && slices.Equal(items.Keys(), w.keys) && (w.digest == "" || items.Digest() == "" || w.digest == items.Digest())
}

// bind sets the items of the loop and releases the first of them.
func (w *loopWalk) bind(s *State, f *frame, e *Event) {
	w.items, w.active = e.items, 0
	f.bound = true
	for i := range f.nodes {
		if n := &f.nodes[i]; n.status != Pending && w.countsAsActive(n.status) {
			w.active++
		}
	}
	w.releaseItems(s, f)
	s.continueBound(f)
}

// releaseItems releases items up to the limit, so that a large loop has few active items.
func (w *loopWalk) releaseItems(s *State, f *frame) {
	room := int32(w.Parallel)
	if room == 0 {
		room = s.limits.loopParallel
	}
	for int(w.next) < len(f.nodes) && (room == 0 || w.active < room) {
		i := w.next
		w.next++
		if f.nodes[i].status == Pending {
			w.active++
			s.nodeReady(f, i)
		}
	}
}

// countsAsActive reports whether a released item with that status counts against the limit.
// If the loop has no Parallel, an item that waits for its next attempt or an answer does
// not.
func (w *loopWalk) countsAsActive(st Status) bool {
	return st == Pending || st == Running || st.parked() && w.Parallel > 0
}

// statusChanged releases the next item when an active one no longer counts.
func (w *loopWalk) statusChanged(s *State, f *frame, from, to Status) {
	switch was, is := w.countsAsActive(from), w.countsAsActive(to); {
	case !f.bound:
	case !was && is:
		w.active++
	case was && !is:
		w.active--
		w.releaseItems(s, f)
	}
}

// nodeSettled drops the data of an item that nothing can read any more.
func (w *loopWalk) nodeSettled(_ *State, f *frame, i int32, bad bool) (fails bool) {
	if f.bound { // before, while events are folded from a journal, nothing is dropped: steps that run again may read it
		w.trimItem(f, i)
	}
	if bad {
		w.failed++
	}
	return bad && w.FailFast && w.cannotSucceed()
}

// cannotSucceed reports whether too many items have failed.
func (w *loopWalk) cannotSucceed() bool {
	allowed := 0
	if w.MinSuccess > 0 {
		allowed = max(w.count-w.MinSuccess, 0)
	}
	return int(w.failed) > allowed
}

// reopen drops the items; the loop computes them again.
func (w *loopWalk) reopen(_ *State, f *frame) {
	*w = loopWalk{Each: w.Each, count: w.count, keys: w.keys, digest: w.digest, index: w.index}
	f.bound = false
	for i := range f.nodes {
		if n := &f.nodes[i]; n.status.Settled() && n.res.taints() {
			w.failed++
		}
	}
}

func (w *loopWalk) completer(f *frame) func(*Result) {
	if w.Gather == nil {
		return nil
	}
	return func(r *Result) {
		results := make([]*Result, len(f.nodes))
		for i := range f.nodes {
			results[i] = f.nodes[i].res
		}
		w.Gather(f.parent.view(), results, r)
	}
}

// trimItem drops from the result of a settled item what nothing can read any more, and
// stdout beyond the limit of Keep.
func (w *loopWalk) trimItem(f *frame, i int32) {
	if c := f.children[i]; c != nil {
		c.dropOutput()
	}
	n := f.node(i)
	raw := 0
	if n.res.Stdout != nil {
		raw = len(n.res.Stdout.Raw)
	}
	w.keptBytes += int64(raw)
	fits := raw == 0 || w.keptBytes <= w.Keep
	if n.res = n.res.trimmed(fits, true); !fits {
		n.res.Stdout.Truncated = true
	}
}

// dropOutput frees the output that the results of an ended walk keep for references.
func (f *frame) dropOutput() {
	for i := range f.nodes {
		if n := &f.nodes[i]; n.res != nil {
			n.res = n.res.trimmed(false, false)
		}
	}
	for _, c := range f.children {
		c.dropOutput()
	}
}

// summarize returns the result of a loop whose items have all settled.
func (w *loopWalk) summarize(f *frame) *Result {
	r := &Result{Status: Succeeded}
	failed, good, cancelled := []int32{}, 0, false
	for i := range f.nodes {
		n := &f.nodes[i]
		switch {
		case n.status == Succeeded || n.status == Reused:
			good++
		case n.status == Cancelled:
			cancelled = true
		case n.res.taints():
			failed = append(failed, int32(i))
		}
	}
	enough := len(failed) == 0
	if w.MinSuccess > 0 {
		enough = good >= min(w.MinSuccess, len(f.nodes))
	}
	switch {
	case f.timedOut:
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	case cancelled && (f.stopped != ReasonFailFast || !w.cannotSucceed()): // the fail-fast may be that of an outer graph
		r.Status, r.ExitCode, r.Reason = Cancelled, ExitCancelled, f.stopped
	case !enough:
		r.Status, r.ExitCode, r.Reason = Failed, 1, ReasonItems
		if len(failed) > 0 {
			bad := f.nodes[failed[0]].res
			r.ExitCode, r.Reason = max(bad.ExitCode, 1), bad.Reason
		}
		r.Message = w.failureMessage(f, failed, good)
	}
	return r
}

// failureMessage describes why a loop failed, with the first items that did.
func (w *loopWalk) failureMessage(f *frame, failed []int32, good int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d items failed", len(failed), len(f.nodes))
	if m := w.MinSuccess; m > 0 {
		fmt.Fprintf(&b, ", %d succeeded, but %d must succeed", good, m)
	}
	const maxNamed = 5
	for n, i := range failed[:min(len(failed), maxNamed)] {
		b.WriteString([...]string{": ", ", "}[min(n, 1)])
		b.WriteString(string(f.path(i)))
	}
	if len(failed) > maxNamed {
		fmt.Fprintf(&b, " and %d more", len(failed)-maxNamed)
	}
	return b.String()
}

// key returns the name of item i.
func (w *loopWalk) key(i int32) string {
	if w.keys == nil {
		return strconv.Itoa(int(i))
	}
	return w.keys[i]
}

// lookup returns the index of the item with that [KEY].
func (w *loopWalk) lookup(part string) (int32, bool) {
	key, opens := strings.CutPrefix(part, "[")
	key, closes := strings.CutSuffix(key, "]")
	switch {
	case !opens || !closes:
		return 0, false
	case w.keys == nil:
		i, err := strconv.Atoi(key)
		return int32(i), err == nil && 0 <= i && i < w.count && strconv.Itoa(i) == key
	case w.index == nil:
		w.index = make(map[string]int32, len(w.keys))
		for i, k := range w.keys {
			w.index[k] = int32(i)
		}
	}
	i, ok := w.index[key]
	return i, ok
}
