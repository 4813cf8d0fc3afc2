package console

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// Bar is one step in a Timeline.
type Bar struct {
	ID       string // path
	Status   dag.Status
	Started  time.Time // start of the first attempt; zero if there was none
	Ended    time.Time // zero while the step runs
	After    []string  // ids of its direct upstream steps
	Attempts int       // number of attempts; shown if there was more than one
	Depth    int       // 0 for the tool's own steps, 1 for those of a nested tool, ...
	Note     string    // written beside the bar if there is space
}

// TimelineOptions configure how a Timeline is drawn.
type TimelineOptions struct {
	// Width is the width of the drawing in columns. 0 means 80; the minimum is 40.
	Width int
	// Color adds the colors of states.
	Color bool
	// ASCII uses only ASCII characters.
	ASCII bool
	// Now is the end of the bars of running steps. Zero means the latest time in the bars.
	Now time.Time
}

// Timeline draws when each step ran, one line for each in the order of bars (plan order, the
// steps of a nested tool after the step that uses it), with an axis below. The critical path,
// which is the chain of steps that determined the end, is marked with stars and summed up at the
// end. Steps that did not run are listed without a bar. Times may contradict each other, for
// example after the clock was set back. Timeline returns the error of the writer.
func Timeline(w io.Writer, bars []Bar, o TimelineOptions) error {
	t := newTimeline(bars, o)
	var b strings.Builder
	for i := range t.bars {
		t.row(&b, i)
	}
	if t.path != nil {
		t.axis(&b)
		t.summary(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// timeline is a drawing in progress.
type timeline struct {
	bars   []Bar
	o      TimelineOptions
	scale  scale
	path   []int // the critical path, first step first; nil if no step ran
	onPath []bool

	// The columns of text, with one cell for each bar, and their widths.
	names, words, took              []string
	nameWidth, wordWidth, tookWidth int
}

const (
	defaultWidth = 80
	minWidth     = 40
	// fixedColumns is the width of a row without its name, word, duration and bar: the sign of the
	// critical path, the glyph and four spaces.
	fixedColumns = 6
)

func newTimeline(bars []Bar, o TimelineOptions) *timeline {
	if o.Width == 0 {
		o.Width = defaultWidth
	}
	o.Width = max(o.Width, minWidth)
	if o.Now.IsZero() {
		o.Now = latest(bars)
	}
	t := &timeline{bars: bars, o: o, names: nestedNames(bars), onPath: make([]bool, len(bars))}
	for i, b := range bars {
		t.words = append(t.words, t.word(b))
		t.took = append(t.took, t.duration(b))
		t.nameWidth = max(t.nameWidth, columns(t.names[i]))
		t.wordWidth = max(t.wordWidth, columns(t.words[i]))
		t.tookWidth = max(t.tookWidth, columns(t.took[i]))
	}
	room := o.Width - fixedColumns - t.wordWidth - t.tookWidth
	t.nameWidth = min(t.nameWidth, room/2)
	t.scale = newScale(bars, t.end, room-t.nameWidth)
	t.path = criticalPath(bars, t.end)
	for _, i := range t.path {
		t.onPath[i] = true
	}
	return t
}

// latest returns the latest time in the bars.
func latest(bars []Bar) time.Time {
	var last time.Time
	for _, b := range bars {
		if ran(b) {
			last = later(last, later(b.Started, b.Ended))
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// ran reports whether a step has a bar.
func ran(b Bar) bool { return !b.Started.IsZero() && b.Status != dag.Skipped }

// isOpen reports whether the step of a bar is still running.
func isOpen(b Bar) bool { return b.Ended.IsZero() && !b.Status.Settled() }

// end returns the end of a bar, which is never before its start.
func (t *timeline) end(b Bar) time.Time {
	if isOpen(b) {
		return later(b.Started, t.o.Now)
	}
	return later(b.Started, b.Ended)
}

// span returns how long a bar is.
func (t *timeline) span(b Bar) time.Duration { return dag.Span(b.Started, t.end(b)) }

// maxIndentLevels is how many levels of nesting are indented.
const maxIndentLevels = 8

// nestedNames returns the names of bars. Names of nested steps are indented and do not repeat
// their parent's name.
func nestedNames(bars []Bar) []string {
	names := make([]string, len(bars))
	parents := parentsOf(bars)
	for i, b := range bars {
		name := b.ID
		if up := parents[i]; up >= 0 {
			if rest, ok := strings.CutPrefix(name, bars[up].ID); ok && strings.HasPrefix(rest, "[") {
				name = rest // an item of a loop
			} else if ok {
				name = string(dag.ID(name).Base())
			}
		}
		names[i] = strings.Repeat("  ", min(max(b.Depth, 0), maxIndentLevels)) + Clean(name)
	}
	return names
}

// word returns a bar's state in words, with the number of attempts.
func (t *timeline) word(b Bar) string {
	switch {
	case b.Attempts < 2:
		return b.Status.String()
	case t.o.ASCII:
		return fmt.Sprintf("%s x%d", b.Status, b.Attempts)
	}
	return fmt.Sprintf("%s ×%d", b.Status, b.Attempts)
}

// duration returns how long a step took, or "" if that is not known, for example because flowrun
// was killed.
func (t *timeline) duration(b Bar) string {
	if !ran(b) || b.Ended.IsZero() && !isOpen(b) {
		return ""
	}
	return Short(t.span(b))
}

func (t *timeline) row(out *strings.Builder, i int) {
	b := t.bars[i]
	sign, glyph := " ", statusStyles[b.Status].Glyph
	if t.onPath[i] {
		sign = "*"
	}
	if t.o.ASCII {
		glyph = statusStyles[b.Status].ASCII
	}
	cells := []string{
		sign + t.paint(b, glyph),
		pad(cut(t.names[i], t.nameWidth, ellipsis(t.o.ASCII)), t.nameWidth),
		t.paint(b, pad(t.words[i], t.wordWidth)),
		fmt.Sprintf("%*s", t.tookWidth, t.took[i]),
		t.lane(b),
	}
	out.WriteString(strings.TrimRight(strings.Join(cells, " "), " ") + "\n")
}

func (t *timeline) paint(b Bar, s string) string {
	if !t.o.Color {
		return s
	}
	return statusStyles[b.Status].Color + s + reset
}

// lane returns a bar at its position, with the note to the right of it, or to the left if there
// is more space.
func (t *timeline) lane(b Bar) string {
	note := Clean(b.Note)
	if !ran(b) {
		return cut(note, t.scale.width, ellipsis(t.o.ASCII))
	}
	before, bar := t.bar(b)
	after := t.scale.width - before - columns(bar)
	left, right := strings.Repeat(" ", before), ""
	switch n := columns(note); {
	case n == 0:
	case n < after:
		right = " " + note
	case n < before:
		left = left[:before-n-1] + note + " "
	}
	return left + t.paint(b, bar) + right
}

// bar returns how many columns are in front of a bar, and the bar, which has at least one
// column.
func (t *timeline) bar(b Bar) (int, string) {
	from, to := t.scale.position(b.Started), t.scale.position(t.end(b))
	from = min(from, 8*t.scale.width-1)
	to = max(to, from+1)
	first, last := from/8, (to-1)/8
	switch {
	case isOpen(b):
		return first, strings.Repeat(t.solid(), last-first) + ">"
	case t.o.ASCII:
		return first, strings.Repeat(t.solid(), last-first+1)
	case first == last:
		return first, sliver(from%8, to-from)
	}
	return first, leftEdge(from%8) + strings.Repeat("█", last-first-1) + fromLeft[to-8*last]
}

func (t *timeline) solid() string {
	if t.o.ASCII {
		return "="
	}
	return "█"
}

// fromLeft are the blocks that fill 0 to 8 eighths of a column from the left. From the right,
// Unicode has blocks only for one eighth and a half.
var fromLeft = []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"}

// leftEdge returns the first column of a bar that begins at eighth at and continues to the
// right.
func leftEdge(at int) string {
	switch {
	case at < 3:
		return "█"
	case at < 6:
		return "▐"
	}
	return "▕"
}

// sliver returns a bar inside one column that begins at eighth at and is wide eighths long.
func sliver(at, wide int) string {
	switch {
	case at < 3:
		return fromLeft[wide]
	case wide > 2:
		return "▐"
	}
	return "▕"
}
