package dag

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// rounds is what a frame that is the walk of a loop has beside its nodes.
type rounds struct {
	*Each
	known  bool // how many items there are
	items  Items
	keys   []string
	digest string
	index  map[string]int32 // of keys, made when first asked for
	next   int32            // items before it have been released or had settled
	active int32            // under way
	bad    int32
	kept   int64 // bytes of Raw held
}

// expand folds in what a loop goes over.
func (s *State) expand(f *frame, n int, keys []string, digest string) {
	r := f.rounds
	if keys != nil {
		n = len(keys)
	}
	if r.known || n < 0 || n > MaxItems {
		return
	}
	r.known, r.keys, r.digest = true, keys, digest
	f.nodes, f.open = make([]nodeState, n), int32(n)
}

// same says whether a loop still goes over what it went over when it was folded.
func (r *rounds) same(n int, items Items) bool {
	return items.Len() == n && slices.Equal(items.Keys(), r.keys) && (r.digest == "" || items.Digest() == "" || r.digest == items.Digest())
}

// hand gives a loop its items and lets the first of them go.
func (s *State) hand(f *frame, items Items) {
	r := f.rounds
	r.items, r.active = items, 0
	f.bound = true
	for i := range f.nodes {
		if n := &f.nodes[i]; n.status == Running || n.status.aloof() && r.Parallel > 0 {
			r.active++
		}
	}
	s.fill(f)
	s.wake(f)
}

// fill releases items while there is room for them: a loop over many keeps few
// under way.
func (s *State) fill(f *frame) {
	r := f.rounds
	room := int32(r.Parallel)
	if room == 0 {
		room = s.width
	}
	for int(r.next) < len(f.nodes) && (room == 0 || r.active < room) {
		i := r.next
		r.next++
		if f.nodes[i].status == Pending {
			r.active++
			s.release(f, i)
		}
	}
}

// passed makes room for the next item when one has settled or, where nothing but
// slots bounds the loop, waits for its next try.
func (s *State) passed(f *frame) {
	if f.bound {
		f.rounds.active--
		s.fill(f)
	}
}

// lost says whether a loop can no longer succeed.
func (f *frame) lost() bool {
	allowed := 0
	if m := f.rounds.MinSuccess; m > 0 {
		allowed = max(len(f.nodes)-m, 0)
	}
	return int(f.rounds.bad) > allowed
}

// lean is a settled item's result as the loop keeps it: without what nobody can
// read any more, and without stdout beyond what Gather may see. What is folded from a
// journal stays as it is: part of it may run again, and read the rest.
func (f *frame) lean(i int32, res *Result) *Result {
	if !f.bound {
		return res
	}
	if c := f.children[i]; c != nil {
		c.dropText()
	}
	if res.Stdout == nil && res.Stderr == nil && res.Value == nil {
		return res
	}
	lean := *res
	lean.Stderr, lean.Value = res.Stderr.withoutRaw(), nil
	if o := res.Stdout; o != nil && o.Raw != "" {
		if f.rounds.kept += int64(len(o.Raw)); f.rounds.kept > f.rounds.Keep {
			lean.Stdout = o.withoutRaw()
			lean.Stdout.Truncated = true
		}
	}
	return &lean
}

// dropText frees what the results of a walk that has ended hold for references.
func (f *frame) dropText() {
	for i := range f.nodes {
		n := &f.nodes[i]
		if r := n.res; r != nil && (r.Stdout != nil || r.Stderr != nil || r.Value != nil) {
			lean := *r
			lean.Stdout, lean.Stderr, lean.Value = r.Stdout.withoutRaw(), r.Stderr.withoutRaw(), nil
			n.res = &lean
		}
	}
	for _, c := range f.children {
		c.dropText()
	}
}

func (o *Output) withoutRaw() *Output {
	if o == nil || o.Raw == "" {
		return o
	}
	lean := *o
	lean.Raw = ""
	return &lean
}

// gather is the result of a loop whose items have all settled.
func (f *frame) gather() *Result {
	r, each := &Result{Status: Succeeded}, f.rounds
	failed, good, cancelled := []int32{}, 0, false
	for i := range f.nodes {
		n := &f.nodes[i]
		switch {
		case n.status == Succeeded || n.status == Reused:
			good++
		case n.status == Cancelled:
			cancelled = true
		case n.res.bad():
			failed = append(failed, int32(i))
		}
	}
	enough := len(failed) == 0
	if each.MinSuccess > 0 {
		enough = good >= min(each.MinSuccess, len(f.nodes))
	}
	switch {
	case f.late:
		r.Status, r.ExitCode, r.Reason = TimedOut, ExitTimeout, ReasonTimeout
	case cancelled && (f.stopped != ReasonFailFast || !f.lost()): // another's fail-fast, it may be
		r.Status, r.ExitCode, r.Reason = Cancelled, ExitCancelled, f.stopped
	case !enough:
		r.Status, r.ExitCode, r.Reason = Failed, 1, ReasonItems
		if len(failed) > 0 {
			bad := f.nodes[failed[0]].res
			r.ExitCode, r.Reason = max(bad.ExitCode, 1), bad.Reason
		}
		r.Message = f.complaint(failed, good)
	}
	return r
}

// complaint says why a loop failed, naming the first few items that did.
func (f *frame) complaint(failed []int32, good int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %d items failed", len(failed), len(f.nodes))
	if m := f.rounds.MinSuccess; m > 0 {
		fmt.Fprintf(&b, ", %d succeeded and %d must", good, m)
	}
	const most = 5
	for n, i := range failed[:min(len(failed), most)] {
		b.WriteString([...]string{": ", ", "}[min(n, 1)])
		b.WriteString(string(f.path(i)))
	}
	if len(failed) > most {
		fmt.Fprintf(&b, " and %d more", len(failed)-most)
	}
	return b.String()
}

// key is the name of an item.
func (r *rounds) key(i int32) string {
	if r.keys == nil {
		return strconv.Itoa(int(i))
	}
	return r.keys[i]
}

// at is the number of the item with that key.
func (r *rounds) at(key string, n int) (int32, bool) {
	if r.keys == nil {
		i, err := strconv.Atoi(key)
		return int32(i), err == nil && 0 <= i && i < n && strconv.Itoa(i) == key
	}
	if r.index == nil {
		r.index = make(map[string]int32, len(r.keys))
		for i, k := range r.keys {
			r.index[k] = int32(i)
		}
	}
	i, ok := r.index[key]
	return i, ok
}
