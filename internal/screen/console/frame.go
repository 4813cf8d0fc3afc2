package console

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// canvas holds the size of the terminal and how a tree is drawn on it.
type canvas struct {
	cols, rows   int
	color, ascii bool
	now          time.Time
}

// The minimum number of rows of a frame, and the share of the terminal's height that it may
// take.
const (
	minRows    = 3
	rowPercent = 60
)

// height returns the maximum number of lines of a frame.
func (c canvas) height() int { return max(min(c.rows*rowPercent/100, c.rows-1), minRows) }

// choice is the set of steps that a frame shows: as many as fit, each with the steps that
// contain it.
type choice struct {
	room   int
	nodes  int
	shown  map[*node][]*node // by the step that contains them, in the order they were chosen
	leaves []*node           // the running ones
}

// How many failed steps and next steps are shown if other steps need the space.
const (
	maxShownFailures = 3
	maxShownNext     = 3
)

// choose returns what a frame with room lines below its header shows.
func (t *tree) choose(room int) *choice {
	c := t.fit(room)
	if t.omitted(c) != "" {
		return t.fit(room - 1) // one line is needed to say what is left out
	}
	return c
}

// fit chooses failed steps, running steps, next steps, and steps that ended last, in this order.
func (t *tree) fit(room int) *choice {
	c := &choice{room: room, shown: map[*node][]*node{}}
	t.chooseFailed(t.Root, c, maxShownFailures)
	t.chooseActive(t.Root, c)
	rest := c.room
	if tailCount := t.countTailLines(c); tailCount > 0 {
		c.room -= min(tailCount, max(1, (c.room-c.nodes)/2))
	}
	next := maxShownNext
	if t.Root.Inside.Len() <= rest {
		next = rest
	}
	t.chooseNext(t.Root, c, next)
	t.chooseDone(t.Root, c)
	return c
}

// countTailLines returns how many lines of output the running steps have.
func (t *tree) countTailLines(c *choice) (n int) {
	for _, leaf := range c.leaves {
		n += len(leaf.Data.tail.lines)
	}
	return n
}

// add adds a step and the steps that contain it, if they fit.
func (c *choice) add(n *node) bool {
	need := 0
	for m := n; m.Parent != nil && !c.has(m); m = m.Parent {
		need++
	}
	if c.nodes+need > c.room {
		return false
	}
	for m := n; m.Parent != nil && !c.has(m); m = m.Parent {
		c.shown[m.Parent] = append(c.shown[m.Parent], m)
		c.nodes++
	}
	return true
}

func (c *choice) has(n *node) bool { return slices.Contains(c.shown[n.Parent], n) }

// chooseFailed chooses the steps that failed last. It prefers the failed steps inside a step to
// the step itself.
func (t *tree) chooseFailed(n *node, c *choice, limit int) int {
	if limit == 0 || n.Inside == nil {
		return limit
	}
	for f := n.Inside.Failed.Last; f != nil && limit > 0; f = f.Prev {
		if before := limit; f.Inside != nil && f.Inside.Failed.Len > 0 {
			if limit = t.chooseFailed(f, c, limit); limit < before {
				continue
			}
		}
		if !c.add(f) {
			return 0
		}
		limit--
	}
	for a := n.Inside.Active.First; a != nil && limit > 0; a = a.Next {
		if a.Inside != nil && a.Inside.Ended.Failed > 0 {
			limit = t.chooseFailed(a, c, limit)
		}
	}
	return limit
}

// chooseActive chooses the running steps in the order in which they started. It reports whether
// all of them fit.
func (t *tree) chooseActive(n *node, c *choice) bool {
	for a := n.Inside.Active.First; a != nil; a = a.Next {
		if !c.add(a) {
			return false
		}
		switch {
		case a.Inside != nil:
			if !t.chooseActive(a, c) {
				return false
			}
		case a.Status == dag.Running && !t.shownAbove(a):
			c.leaves = append(c.leaves, a)
		}
	}
	return true
}

// chooseNext chooses steps that have not started, those of the tool itself before nested ones.
func (t *tree) chooseNext(n *node, c *choice, limit int) {
	for p := n.Inside.Pending.First; p != nil && limit > 0; p = p.Next {
		if !c.has(p) && !c.add(p) {
			return
		}
		limit--
	}
	t.below(n, c, func(a *node) { t.chooseNext(a, c, limit) })
}

// chooseDone chooses steps that ended well, the latest first.
func (t *tree) chooseDone(n *node, c *choice) {
	for d := n.Inside.Done.Last; d != nil; d = d.Prev {
		if !c.add(d) {
			return
		}
	}
	t.below(n, c, func(a *node) { t.chooseDone(a, c) })
}

// below visits the shown, unfinished steps that contain others.
func (t *tree) below(n *node, c *choice, visit func(*node)) {
	for _, a := range slices.Clone(c.shown[n]) {
		if a.Inside != nil && !a.Status.Settled() {
			visit(a)
		}
	}
}

// frame draws the tree. Every line is at most cols-1 columns wide, because some terminals begin
// a new line after the last column is filled.
func (t *tree) frame(c canvas, ch *choice) []string {
	lines := []string{t.header(c)}
	spare := c.height() - 1 - ch.nodes
	left := t.omitted(ch)
	if left != "" {
		spare--
	}
	share := 0
	if n := len(ch.leaves); n > 0 {
		share = min(max(spare/n, 0), tailLines)
	}
	d := &drawing{tree: t, canvas: c, choice: ch, linesPerLeaf: share, extraLines: spare - share*len(ch.leaves)}
	lines = append(lines, d.branch(t.Root, "")...)
	if left != "" {
		lines = append(lines, d.paint(dim, cut(" "+left, c.cols-1, ellipsis(d.ascii))))
	}
	return lines
}

// header returns the first line, about the run as a whole. The id is left out first if the space
// is too small.
func (t *tree) header(c canvas) string {
	head, spent := " "+Clean(t.plan.Tool), seconds(t.Durations(c.now).Took)
	counts := fmt.Sprintf("%d/%d done, %d running", t.Settled, t.Total, t.Running)
	failed := fmt.Sprintf("%d failed", t.Root.Failures)
	switch {
	case !t.Ended.IsZero():
		spent = t.Status.With(t.Result.Notes...) + "  " + Short(t.Durations(c.now).Took)
		counts = fmt.Sprintf("%d/%d done", t.Settled, t.Total)
	case t.stopReason != "":
		spent += "  stopping"
	case t.queueStatus != "":
		spent, counts = seconds(c.now.Sub(t.queuedSince)), t.queueStatus
	}
	if t.Root.Failures > 0 {
		counts += ", " + failed
	}
	if id := " " + Clean(t.ID); t.ID != "" && columns(head+id+spent+counts)+4 < c.cols {
		head += id
	}
	line := cut(head+"  "+spent+"  "+counts, c.cols-1, ellipsis(c.ascii))
	if !c.color {
		return line
	}
	if t.Root.Failures > 0 {
		line = strings.Replace(line, failed, reset+red+failed, 1)
	}
	return bold + line + reset
}

const bold = "\x1b[1m"

// seconds formats the duration of something that is still running. It has no fractions, because
// they would make every frame differ from the one before.
func seconds(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%ds", int(d.Seconds()))
	}
	return clock(d.Truncate(time.Second))
}

// omitted describes the steps for which there was no space.
func (t *tree) omitted(ch *choice) string {
	var running, failed, pending, done int
	count := func(n *node, full bool) {
		b := n.Inside
		running, failed, pending = running+b.Active.Len, failed+b.Failed.Len, pending+b.Pending.Len
		if full {
			done += b.Done.Len
		}
		for _, s := range ch.shown[n] {
			switch s.List {
			case &b.Active:
				running--
			case &b.Failed:
				failed--
			case &b.Pending:
				pending--
			case &b.Done:
				done--
			}
		}
	}
	var walk func(n *node)
	walk = func(n *node) {
		count(n, true)
		t.below(n, ch, walk)
	}
	walk(t.Root)
	var parts []string
	for _, p := range []struct {
		n    int
		word string
	}{{running, "running"}, {failed, "failed"}, {pending, "waiting"}, {done, "done"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.word))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("+%d more: %s", running+failed+pending+done, strings.Join(parts, ", "))
}

// drawing is a frame being made.
type drawing struct {
	*tree
	canvas
	*choice
	linesPerLeaf int // lines of output for each running step
	extraLines   int // further lines, given to the first steps that need them
}

// ellipsis returns the character that replaces cut text.
func ellipsis(ascii bool) string {
	if ascii {
		return "~"
	}
	return "…"
}

func (d *drawing) paint(color, s string) string {
	if !d.color || s == "" {
		return s
	}
	return color + s + reset
}

// guides are the prefixes of a nested step: for its own line and for the lines inside it, first
// for all but the last step of a branch and then for the last.
var (
	guides      = [2][2]string{{"├─", "│ "}, {"└─", "  "}}
	guidesASCII = [2][2]string{{"|-", "| "}, {"`-", "  "}}
)

// branch draws the shown steps inside a step.
func (d *drawing) branch(n *node, indent string) (lines []string) {
	list := slices.Clone(d.shown[n])
	slices.SortStableFunc(list, byOrder)
	for i, s := range list {
		own, inner := indent, indent
		if n != d.Root {
			g := guides
			if d.ascii {
				g = guidesASCII
			}
			last := 0
			if i == len(list)-1 {
				last = 1
			}
			own, inner = indent+g[last][0], indent+g[last][1]
		}
		lines = append(lines, d.line(s, own))
		lines = append(lines, d.output(s, inner)...)
		lines = append(lines, d.branch(s, inner)...)
	}
	return lines
}

// line draws one step: glyph, name and note, and its duration at the right.
func (d *drawing) line(n *node, indent string) string {
	l := statusStyles[n.Status]
	glyph := l.Glyph
	if d.ascii {
		glyph = l.ASCII
	}
	right := d.duration(n)
	room := d.cols - 1 - 1 - columns(indent) - 2 - columns(right) - 1
	if room < 8 { // a narrow window: the name is more important
		room, right = room+columns(right)+1, ""
	}
	name := cut(displayName(n), max(room, 1), ellipsis(d.ascii))
	note := ""
	if left := room - columns(name) - 2; left > 3 {
		note = cut(d.note(n), left, ellipsis(d.ascii))
	}
	text := name
	if note != "" {
		text += "  " + note
	}
	text = pad(text, room)
	if note != "" {
		text = text[:len(name)] + d.paint(noteColor(n), text[len(name):])
	}
	line := " " + indent + d.paint(l.Color, glyph) + " " + text
	if right != "" {
		line += " " + d.paint(dim, right)
	}
	return strings.TrimRight(line, " ")
}

// brief returns how a failed attempt ended, on one line.
func brief(r *dag.Result) string { return strings.Join(strings.Fields(outcome(r)), " ") }

func noteColor(n *node) string {
	switch n.Status {
	case dag.Failed, dag.TimedOut, dag.Retrying, dag.Waiting:
		return statusStyles[n.Status].Color
	}
	return dim
}

// duration returns how long a step took, or has taken so far.
func (d *drawing) duration(n *node) string {
	switch {
	case n.Result != nil && n.Status.Settled() && !n.Result.Started.IsZero() && n.Status != dag.Skipped && n.Status != dag.Reused:
		return Short(n.Durations(d.now).Took)
	case n.Status == dag.Running || n.Status == dag.Retrying || n.Status == dag.Waiting:
		return seconds(n.Durations(d.now).Took)
	}
	return ""
}

// note returns the text beside the name of a step.
func (d *drawing) note(n *node) string {
	var parts []string
	if n.IsLoop() {
		parts = append(parts, d.bar(n.Inside, n.Status.Settled()))
	}
	switch r := n.Result; n.Status {
	case dag.Pending:
		parts = append(parts, d.upstreamNote(n))
	case dag.Running:
		switch {
		case r != nil && r.Attempts == n.Attempt:
			parts = append(parts, "fallback, after "+brief(r))
		case n.Attempt > 1:
			parts = append(parts, fmt.Sprintf("attempt %d", n.Attempt))
		}
	case dag.Retrying:
		left := max(n.Due.Sub(d.now)+time.Second-time.Millisecond, 0) // rounded up
		if n.Repeats {
			parts = append(parts, fmt.Sprintf("waits: next round in %s", seconds(left)))
			break
		}
		parts = append(parts, fmt.Sprintf("waits: retry in %s (%s)", seconds(left), brief(r)))
	case dag.Waiting:
		parts = append(parts, "waits: "+Awaited(r.Wait, d.now))
	case dag.Succeeded:
		if r.Fallback {
			parts = append(parts, "ok (fallback)")
		} else if r.Attempts > 1 {
			parts = append(parts, fmt.Sprintf("ok after %d attempts", r.Attempts))
		}
	case dag.Reused:
		parts = append(parts, "reused")
	case dag.Skipped:
		parts = append(parts, "skipped: "+Clean(Reason(r.Reason)))
	case dag.Cancelled:
		parts = append(parts, "cancelled")
	case dag.Interrupted:
		parts = append(parts, "interrupted")
	default:
		text := brief(r)
		if r.Tolerated {
			text += " (tolerated)"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "  ")
}

// upstreamNote describes what a pending step waits for.
func (d *drawing) upstreamNote(n *node) string {
	ups := d.waitsFor(n)
	switch {
	case len(ups) == 0 && d.stopReason != "":
		return "stopping"
	case d.stepWaits[n.Path] != "":
		return d.stepWaits[n.Path]
	case len(ups) == 0 && n.Parent.Status == dag.Running:
		return "waits: a slot"
	case len(ups) == 0:
		return ""
	}
	const most = 4
	words := make([]string, 0, most)
	for i, up := range ups {
		if i == most {
			words = append(words, fmt.Sprintf("+%d", len(ups)-most))
			break
		}
		words = append(words, Clean(string(dag.ID(up).Base())))
	}
	return "waits: " + strings.Join(words, ", ")
}

// barWidth is the width of a loop's progress bar in columns.
const barWidth = 8

// bar returns the progress of a loop.
func (d *drawing) bar(b *fold.Inside[viewState], settled bool) string {
	times, full, empty := "×", "▇", "▁"
	if d.ascii {
		times, full, empty = "x", "#", "."
	}
	done := min(b.Ended.All(), b.Items)
	solid := 0
	if b.Items > 0 {
		solid = barWidth * done / b.Items
	}
	s := fmt.Sprintf("%s%d", times, b.Items)
	if !settled {
		s += fmt.Sprintf(" %s%s %d/%d", strings.Repeat(full, solid), strings.Repeat(empty, barWidth-solid), done, b.Items)
	}
	if b.Ended.Failed > 0 {
		s += fmt.Sprintf(", %d failed", b.Ended.Failed)
	}
	return s
}

// output draws the last lines of a running step's output.
func (d *drawing) output(n *node, indent string) (lines []string) {
	if !slices.Contains(d.leaves, n) {
		return nil
	}
	show := n.Data.tail.lines
	limit := d.linesPerLeaf
	if more := min(len(show)-limit, d.extraLines, tailLines-limit); more > 0 {
		limit, d.extraLines = limit+more, d.extraLines-more
	}
	show = show[max(0, len(show)-limit):]
	side := "  │ "
	if d.ascii {
		side = "  | "
	}
	for _, s := range show {
		lines = append(lines, " "+indent+d.paint(dim, cut(side+s, max(d.cols-2-columns(indent), 1), ellipsis(d.ascii))))
	}
	return lines
}
