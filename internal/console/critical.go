package console

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// criticalPath is the chain of steps that determined the end, first step first, as
// indices of bars; nil when nothing ran. It begins at the step that ended last and
// goes back, each time to the step that ended last of those waited for.
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

// walk knows what the way back along the critical path needs. Bars name what they
// wait for, and that stands above them; what does not is not looked at, so that no
// input sends the walk in circles.
type walk struct {
	bars    []Bar
	index   map[string]int
	parents []int
	settled []time.Time // when each settled; a skipped step with the last it waited for
	holds   []bool      // something ran inside of it
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

// parentsOf is for each bar the index of the step it is nested in, -1 for none.
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

// lastOf is the one that settled last of the steps that bar i waited for, -1 when
// none did.
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

// before is the step that bar i, or else a step it is nested in, waited for last.
func (w *walk) before(i int) int {
	for ; i >= 0; i = w.parents[i] {
		if up := w.lastOf(i); up >= 0 {
			return up
		}
	}
	return -1
}

// into is the step that ended last inside of bar i, the bar itself where it has
// none.
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

// lastLeaf is the bar that ended last of those from one index up to another, the
// ones that have others inside of them left out; -1 when none ran.
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

// maxNamed is how many steps of the critical path are named; of more, the first
// and the last are.
const maxNamed = 12

// summary writes what the critical path is and how much of the whole it takes, on
// as many lines as the width asks for.
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
