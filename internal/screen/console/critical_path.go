package console

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// criticalPath returns the chain of steps that determined the end of the run, first step first,
// as indices of bars, or nil if no step ran. It starts at the step that ended last and follows,
// from each step, the upstream step that ended last.
func criticalPath(bars []Bar, end func(Bar) time.Time) []int {
	w := newPathWalk(bars, end)
	var path []int
	seen := make([]bool, len(bars))
	at := w.lastLeaf(0, len(bars))
	for at >= 0 && !seen[at] {
		seen[at] = true
		if ran(bars[at]) {
			path = append(path, at)
		}
		at = w.lastInside(w.previous(at))
	}
	slices.Reverse(path)
	return path
}

// pathWalk holds the data for following the critical path backwards. Only upstream steps that are
// above a bar count, so that invalid input cannot make the walk loop.
type pathWalk struct {
	bars      []Bar
	index     map[string]int
	parents   []int
	settled   []time.Time // when each bar settled; for a skipped step, when its last upstream step did
	hasNested []bool      // another bar is nested in it and ran
}

func newPathWalk(bars []Bar, end func(Bar) time.Time) *pathWalk {
	w := &pathWalk{bars: bars, index: make(map[string]int, len(bars)), parents: parentsOf(bars),
		settled: make([]time.Time, len(bars)), hasNested: make([]bool, len(bars))}
	for i, b := range bars {
		w.index[b.ID] = i
		if ran(b) {
			w.settled[i] = end(b)
			if up := w.parents[i]; up >= 0 {
				w.hasNested[up] = true
			}
		} else if up := w.lastUpstream(i); up >= 0 {
			w.settled[i] = w.settled[up]
		}
	}
	return w
}

// parentsOf returns for each bar the index of the step it is nested in, or -1.
func parentsOf(bars []Bar) []int {
	parents := make([]int, len(bars))
	for i, b := range bars {
		up := i - 1
		for up >= 0 && bars[up].Depth >= b.Depth {
			up = parents[up]
		}
		parents[i] = up
	}
	return parents
}

// lastUpstream returns the upstream step of bar i that settled last, or -1.
func (w *pathWalk) lastUpstream(i int) int {
	last := -1
	for _, id := range w.bars[i].After {
		up, known := w.index[id]
		if !known || up >= i || w.settled[up].IsZero() {
			continue
		}
		if last < 0 || !w.settled[up].Before(w.settled[last]) {
			last = up
		}
	}
	return last
}

// previous returns the upstream step that settled last of bar i, or of the closest enclosing step
// that has one, or -1.
func (w *pathWalk) previous(i int) int {
	for ; i >= 0; i = w.parents[i] {
		if up := w.lastUpstream(i); up >= 0 {
			return up
		}
	}
	return -1
}

// lastInside returns the step that ended last inside bar i, or i if nothing ran inside it.
func (w *pathWalk) lastInside(i int) int {
	if i < 0 {
		return i
	}
	to := i + 1
	for to < len(w.bars) && w.bars[to].Depth > w.bars[i].Depth {
		to++
	}
	if leaf := w.lastLeaf(i+1, to); leaf >= 0 {
		return leaf
	}
	return i
}

// lastLeaf returns the bar in [from, to) that ended last and has no others inside, or -1 if none
// ran.
func (w *pathWalk) lastLeaf(from, to int) int {
	last := -1
	for i := from; i < to; i++ {
		if !ran(w.bars[i]) || w.hasNested[i] {
			continue
		}
		if last < 0 || !w.settled[i].Before(w.settled[last]) {
			last = i
		}
	}
	return last
}

// maxNamedSteps limits how many steps of the critical path are named. In a longer path, steps in
// the middle are left out.
const maxNamedSteps = 12

// summary writes the critical path and its share of the whole time, wrapped to the width.
func (t *timeline) summary(out *strings.Builder) {
	var busy time.Duration
	var words []string
	for n, i := range t.path {
		b := t.bars[i]
		busy += t.span(b)
		switch left := len(t.path) - maxNamedSteps; {
		case left <= 0 || n < maxNamedSteps/2 || n >= maxNamedSteps/2+left:
			words = append(words, Clean(b.ID)+" ->")
		case n == maxNamedSteps/2:
			words = append(words, fmt.Sprintf("(%d more) ->", left))
		}
	}
	last := len(words) - 1
	words[last] = strings.TrimSuffix(words[last], " ->") + ","
	words = append(words, fmt.Sprintf("%s of %s", Short(busy), Short(t.scale.span)))
	if waiting := t.scale.span - busy; waiting >= 50*time.Millisecond {
		words[len(words)-1] += ";"
		words = append(words, "waiting "+Short(waiting))
	}
	line := "critical path:"
	for _, word := range words {
		word = cut(word, t.o.Width-2, ellipsis(t.o.ASCII))
		if columns(line)+1+columns(word) > t.o.Width {
			out.WriteString(line + "\n")
			line = " "
		}
		line += " " + word
	}
	out.WriteString(line + "\n")
}
