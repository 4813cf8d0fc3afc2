package console

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// View is a dag.Sink that shows a running run on a terminal: a region at the bottom that is
// redrawn, lines that scroll above it, and at the end a summary that stays. Emit, the writers,
// Suspend and Resume are safe for concurrent use. They do not wait for the terminal, except a
// writer that has written more than maxAbove.
//
// A frame is one write: it moves back to the first line of the previous frame, writes each line
// and erases the rest of it, and erases everything below. The cursor stays below the region, at
// the beginning of a line, so that the terminal is usable if flowrun is killed.
type View struct {
	o ViewOptions
	w io.Writer

	mu        sync.Mutex
	tree      *tree
	above     []byte // whole lines to be written above the region
	writers   []*aboveWriter
	suspended bool
	yielded   bool // the region is removed because another program reads the output

	screen sync.Mutex // taken before mu
	region []string   // the lines on the screen
	cols   int        // width of the terminal when they were drawn

	wake, quit chan struct{}
	done       chan struct{}
}

// ViewOptions configure how a View draws.
type ViewOptions struct {
	Color bool
	ASCII bool
	// Size returns the current width and height of the terminal. If it is nil or returns zeros,
	// they are 80 and 24.
	Size func() (cols, rows int)
	// NoLogs leaves out the names of log files, because the files are removed with the run.
	NoLogs bool
}

const (
	// minFrameInterval is the minimum time between two frames.
	minFrameInterval = 100 * time.Millisecond
	// refreshInterval is the interval at which the logs of running steps and the terminal's size
	// are read.
	refreshInterval = 250 * time.Millisecond
	// maxAbove is how many bytes may wait for the next frame.
	maxAbove = 64 << 10
)

// NewView starts to show a run on w. Close ends it. past are the recorded events of a run that
// is resumed.
func NewView(w io.Writer, s PlanInfo, past []dag.Event, o ViewOptions) *View {
	v := &View{o: o, w: w, tree: newTree(s), wake: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
	for _, e := range past {
		v.tree.apply(e)
	}
	go v.drawLoop()
	return v
}

// Emit applies one event.
func (v *View) Emit(e dag.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.tree.apply(e)
	if e.Kind == dag.RunCancelling && e.Node == "" {
		v.addLine(v.tree.stopReason)
	}
	v.requestFrame()
}

// addLine adds a line above the region.
func (v *View) addLine(text string) {
	if v.o.Color {
		text = yellow + text + reset
	}
	v.above = append(append(v.above, text...), '\n')
}

// requestFrame requests a new frame.
func (v *View) requestFrame() {
	select {
	case v.wake <- struct{}{}:
	default:
	}
}

// drawLoop draws frames until the view is closed.
func (v *View) drawLoop() {
	defer close(v.done)
	look := time.NewTicker(refreshInterval)
	defer look.Stop()
	for {
		select {
		case <-v.quit:
			return
		case <-v.wake:
		case <-look.C:
		}
		v.draw()
		select {
		case <-v.quit:
			return
		case <-time.After(minFrameInterval):
		}
	}
}

// canvas returns the current canvas.
func (v *View) canvas() canvas {
	c := canvas{cols: defaultWidth, rows: defaultHeight, color: v.o.Color, ascii: v.o.ASCII, now: time.Now()}
	if v.o.Size != nil {
		if cols, rows := v.o.Size(); cols > 0 && rows > 0 {
			c.cols, c.rows = cols, rows
		}
	}
	return c
}

const defaultHeight = 24

// draw draws the next frame. It reads the logs without holding mu.
func (v *View) draw() {
	v.screen.Lock()
	defer v.screen.Unlock()
	v.mu.Lock()
	if v.suspended {
		v.mu.Unlock()
		return
	}
	c := v.canvas()
	reads := v.logReads(v.tree.choose(c.height() - 1))
	v.mu.Unlock()
	for i := range reads {
		reads[i].read()
	}
	v.mu.Lock()
	for _, l := range reads {
		l.node.Data.tail = l.tail
	}
	above := v.above
	v.above = nil
	lines := v.tree.frame(c, v.tree.choose(c.height()-1))
	v.mu.Unlock()
	v.show(above, lines, c.cols)
}

// logRead is a read of the log of a running step.
type logRead struct {
	node    *node
	tail    logTail
	logs    func() []string
	path    string
	attempt int
}

func (v *View) logReads(ch *choice) []logRead {
	list := make([]logRead, 0, len(ch.leaves))
	if v.tree.plan.Logs == nil {
		return nil
	}
	for _, n := range ch.leaves {
		run, path, attempt := v.tree.ID, string(n.Path), n.Attempt
		list = append(list, logRead{n, n.Data.tail, func() []string { return v.tree.plan.Logs(run, path, attempt) }, path, attempt})
	}
	return list
}

func (l *logRead) read() {
	l.tail.sizes = slices.Clone(l.tail.sizes)
	l.tail.read(l.logs, l.path, l.attempt)
}

// Escape sequences. The first two are synchronized output: terminals that support it show a
// frame at once, others ignore it.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
	eraseRight = "\x1b[K"
	eraseBelow = "\x1b[J"
)

// show replaces the region on the screen by the lines above and a new region. The caller holds
// screen.
func (v *View) show(above []byte, lines []string, cols int) {
	if len(above) == 0 && cols == v.cols && slices.Equal(lines, v.region) {
		return
	}
	var b bytes.Buffer
	b.WriteString(beginFrame)
	v.moveToRegion(&b, cols)
	for line := range bytes.Lines(above) {
		b.Write(bytes.TrimSuffix(line, []byte{'\n'}))
		b.WriteString(eraseRight + "\n")
	}
	for _, line := range lines {
		b.WriteString(line + eraseRight + "\n")
	}
	b.WriteString(eraseBelow + endFrame)
	v.region, v.cols = lines, cols
	v.w.Write(b.Bytes()) // a closed terminal is detected elsewhere
}

// moveToRegion moves the cursor to the beginning of the region. If the terminal has become
// narrower, lines of the region may have been wrapped.
func (v *View) moveToRegion(b *bytes.Buffer, cols int) {
	up := 0
	for _, line := range v.region {
		up++
		if cols < v.cols {
			up += max(columns(colorless(line))-1, 0) / max(cols, 1)
		}
	}
	if up > 0 {
		fmt.Fprintf(b, "\r\x1b[%dA", up)
	}
}

func colorless(s string) string { return string(colorSequences().ReplaceAll([]byte(s), nil)) }

// Suspend removes the region from the screen until Resume, so that others can use the terminal.
func (v *View) Suspend() {
	v.screen.Lock()
	defer v.screen.Unlock()
	v.mu.Lock()
	above := v.above
	v.above, v.suspended = nil, true
	v.mu.Unlock()
	v.show(above, nil, v.canvas().cols)
}

// Resume shows the region again, below what is on the screen.
func (v *View) Resume() {
	v.mu.Lock()
	v.suspended = v.yielded
	v.mu.Unlock()
	v.requestFrame()
}

// Yield returns a writer to w, a pipe, that removes the region from the screen for good before
// the first byte. The program that reads the pipe may write to the same terminal, and the next
// frame would overwrite its output.
func (v *View) Yield(w io.Writer) io.Writer { return &yieldWriter{to: w, view: v} }

type yieldWriter struct {
	to   io.Writer
	view *View
	once sync.Once
}

func (y *yieldWriter) Write(p []byte) (int, error) {
	y.once.Do(func() {
		y.view.mu.Lock()
		y.view.yielded = true
		y.view.mu.Unlock()
		y.view.Suspend()
	})
	return y.to.Write(p)
}

// Redraw draws the region again below what is on the screen, after something else was written
// there.
func (v *View) Redraw() {
	v.screen.Lock()
	v.region = nil
	v.screen.Unlock()
	v.requestFrame()
}

// Above returns a writer of lines that are shown unchanged above the region.
func (v *View) Above() io.Writer { return v.writer(&aboveWriter{view: v}) }

// Output returns a writer for the run's output. Its lines are sanitized and shown above the
// region.
func (v *View) Output() io.Writer { return v.writer(&aboveWriter{view: v, sanitize: true}) }

func (v *View) writer(s *aboveWriter) *aboveWriter {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.writers = append(v.writers, s)
	return s
}

// Streams records that a step's output is shown above the region, so that it is not shown in the
// region as well.
func (v *View) Streams(step dag.ID) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := v.tree.Find(step); n != nil {
		n.Data.streamed = true
	}
}

// aboveWriter is a writer of whole lines above the region.
type aboveWriter struct {
	view     *View
	sanitize bool
	mu       sync.Mutex
	partial  []byte
}

func (s *aboveWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.partial = append(s.partial, p...)
	end := bytes.LastIndexByte(s.partial, '\n') + 1
	if len(s.partial)-end > maxLine {
		end = wholeRunes(s.partial)
	}
	if end == 0 {
		return len(p), nil
	}
	s.view.queueLines(s.lines(s.partial[:end]), s.sanitize)
	s.partial = append(s.partial[:0], s.partial[end:]...)
	return len(p), nil
}

// lines returns whole lines as they are written to the terminal.
func (s *aboveWriter) lines(text []byte) []byte {
	if !s.sanitize {
		return bytes.Clone(text)
	}
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(out, OutputLine(strings.ToValidUTF8(string(line), "\uFFFD"))...)
		out = append(out, '\n')
	}
	return out
}

// flush ends and writes an unfinished line.
func (s *aboveWriter) flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.partial) > 0 {
		s.view.queueLines(s.lines(append(s.partial, '\n')), s.sanitize)
		s.partial = nil
	}
}

// queueLines queues whole lines for the next frame. If there are many, or the region is not on the
// screen, it writes them at once.
func (v *View) queueLines(lines []byte, output bool) {
	v.mu.Lock()
	v.tree.outputAbove = v.tree.outputAbove || output
	v.above = append(v.above, lines...)
	now := len(v.above) > maxAbove || v.suspended
	v.mu.Unlock()
	if !now {
		v.requestFrame()
		return
	}
	v.screen.Lock()
	defer v.screen.Unlock()
	v.mu.Lock()
	above := v.above
	v.above = nil
	v.mu.Unlock()
	if len(above) > 0 {
		v.show(above, v.region, v.canvas().cols)
	}
}

// Close ends the view. It replaces the region by the final state of the steps, followed by the
// failures and their reasons.
func (v *View) Close() {
	close(v.quit)
	<-v.done
	for _, s := range v.writers {
		s.flush()
	}
	v.screen.Lock()
	defer v.screen.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	c := v.canvas()
	var lines []string
	if !v.tree.Since.IsZero() {
		lines = v.tree.summary(c)
	}
	v.show(v.above, lines, c.cols)
	v.above, v.region = nil, nil
	v.tree.failures(&reporter{w: v.w, color: v.o.Color, noLogs: v.o.NoLogs, plan: v.tree.plan})
}

// summary returns the last frame. It is one line if the tool is a single command that succeeded.
func (t *tree) summary(c canvas) []string {
	ch := t.choose(c.height() - 1)
	ch.leaves = nil
	lines := t.frame(c, ch)
	if t.Total == 1 && t.Root.Failures == 0 && t.Root.Inside.Done.Len == 1 && t.Root.Inside.Done.First.Inside == nil {
		lines = lines[:1]
	}
	return lines
}
