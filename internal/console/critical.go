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
	w := newWalk(bars, end)
	var path []int
	seen := make([]bool, len(bars))
	at := w.lastLeaf(0, len(bars))
	for at >= 0 && !seen[at] {
		seen[at] = true
		if ran(bars[at]) {
			path = append(path, at)
		}
		at = w.into(w.before(at))
	}
	slices.Reverse(path)
	return path
}

// walk holds the data for following the critical path backwards. Only upstream steps that are
// above a bar count, so that invalid input cannot make the walk loop.
type walk struct {
	bars    []Bar
	index   map[string]int
	parents []int
	settled []time.Time // when each bar settled; for a skipped step, when its last upstream step did
	holds   []bool      // another bar is nested in it and ran
}

func newWalk(bars []Bar, end func(Bar) time.Time) *walk {
	w := &walk{bars: bars, index: make(map[string]int, len(bars)), parents: parentsOf(bars),
		settled: make([]time.Time, len(bars)), holds: make([]bool, len(bars))}
	for i, b := range bars {
		w.index[b.ID] = i
		if ran(b) {
			w.settled[i] = end(b)
			if up := w.parents[i]; up >= 0 {
				w.holds[up] = true
			}
		} else if up := w.lastOf(i); up >= 0 {
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

// lastOf returns the upstream step of bar i that settled last, or -1.
func (w *walk) lastOf(i int) int {
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

// before returns the upstream step that settled last of bar i, or of the closest enclosing step
// that has one, or -1.
func (w *walk) before(i int) int {
	for ; i >= 0; i = w.parents[i] {
		if up := w.lastOf(i); up >= 0 {
			return up
		}
	}
	return -1
}

// into returns the step that ended last inside bar i, or i if nothing ran inside it.
func (w *walk) into(i int) int {
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
func (w *walk) lastLeaf(from, to int) int {
	last := -1
	for i := from; i < to; i++ {
		if !ran(w.bars[i]) || w.holds[i] {
			continue
		}
		if last < 0 || !w.settled[i].Before(w.settled[last]) {
			last = i
		}
	}
	return last
}

// maxNamed limits how many steps of the critical path are named. In a longer path, steps in the
// middle are left out.
const maxNamed = 12

// summary writes the critical path and its share of the whole time, wrapped to the width.
func (t *timeline) summary(out *strings.Builder) {
	var busy time.Duration
	var words []string
	for n, i := range t.path {
		b := t.bars[i]
		busy += t.end(b).Sub(b.Started)
		switch left := len(t.path) - maxNamed; {
		case left <= 0 || n < maxNamed/2 || n >= maxNamed/2+left:
			words = append(words, Clean(b.ID)+" ->")
		case n == maxNamed/2:
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
