package console

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// Plain is a dag.Sink that writes one line for each change: the time since the start, the step,
// and what happened. After the line of a failed step, the end of its output follows. A loop over
// many items has one line for each tenth of them, and lines for its first failures. Safe for
// concurrent use.
type Plain struct {
	NoLogs   bool // do not name log files, because they are removed with the run
	Commands bool // after the line of a step that starts, write where it is defined and what it runs

	w     io.Writer
	color bool
	plan  PlanInfo
	width int

	mu      sync.Mutex // Heartbeat writes from another goroutine
	began   time.Time
	run     *fold.Run[loopProgress]
	last    *fold.Step[loopProgress] // step of the last event, or nil
	queued  queueState               // only before the run starts
	waiting stepWaits
}

// maxNameWidth limits the width of the column of step names. After a longer name, the rest of the
// line moves to the right.
const maxNameWidth = 40

// NewPlain returns a Plain that writes to w. names are the expected steps, so that the lines are
// aligned from the start.
func NewPlain(w io.Writer, color bool, names []string, s PlanInfo) *Plain {
	p := &Plain{w: w, color: color, plan: s, began: time.Now(), run: fold.New[loopProgress](fold.Plan{})}
	for _, name := range names {
		p.widen(name)
	}
	return p
}

func (p *Plain) widen(name string) { p.width = min(max(p.width, columns(name)), maxNameWidth) }

// Emit writes the event's line, if it has one.
func (p *Plain) Emit(e dag.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.emit(e, false)
}

// emit writes the event's line. With quiet it writes only failures and cancellations.
func (p *Plain) emit(e dag.Event, quiet bool) {
	s := p.run.Apply(&e)
	p.last = s
	if e.Kind == dag.RunStarted || e.Kind == dag.RunResumed {
		p.began, p.queued = e.Time, queueState{}
	}
	if l := enclosingLoop(s); l != nil {
		p.inLoop(l, s, e, quiet)
		return
	}
	if quiet && e.Kind != dag.RunCancelling && (e.Kind != dag.StepFinished || !failed(e.Result)) {
		return
	}
	switch e.Kind {
	case dag.RunCancelling:
		if e.Node == "" {
			s = p.run.Root
		}
		running := 0
		if s != nil {
			running = countStoppable(s, p.plan.Lasting)
		}
		p.line(e, yellow, stopMessage(e, running))
	case dag.StepStarted:
		if e.Attempt > 1 {
			p.line(e, dim, fmt.Sprintf("attempt %d started", e.Attempt))
			return
		}
		p.line(e, dim, "started")
		if p.Commands {
			d := reporter{w: p.w, plan: p.plan}
			d.location(e.Node)
			d.wholeCommand(e.Node)
		}
	case dag.StepRetrying:
		if e.Reason == dag.ReasonRepeat {
			p.line(e, dim, fmt.Sprintf("not done, next round in %s", Short(e.Due.Sub(e.Time))))
			return
		}
		p.line(e, yellow, fmt.Sprintf("%s, next attempt in %s", outcome(e.Result), Short(e.Due.Sub(e.Time))))
	case dag.StepWaiting:
		p.line(e, yellow, "waits for "+Awaited(e.Result.Wait, e.Time))
	case dag.StepFallback:
		p.line(e, yellow, outcome(e.Result)+", running the fallback")
	case dag.StepExpanded:
		if e.Items > maxItems {
			p.line(e, dim, fmt.Sprintf("%d items", e.Items))
		}
	case dag.StepFinished:
		p.finished(s, e)
	}
}

// stopMessage describes a cancellation: how many steps are stopped, why, and what the person can
// do.
func stopMessage(e dag.Event, running int) string {
	what := fmt.Sprintf("Stopping %d steps", running)
	switch running {
	case 0:
		what = "Stopping"
	case 1:
		what = "Stopping 1 step"
	}
	switch e.Reason {
	case dag.ReasonTimeout:
		return what + ": timeout exceeded"
	case dag.ReasonFailFast:
		return what + ": a step failed (fail-fast)"
	case dag.ReasonForced:
		return "Stopping at once, including cleanup"
	}
	return what + ", cleanup running... Ctrl-C again to force"
}

func (p *Plain) finished(s *fold.Step[loopProgress], e dag.Event) {
	r := e.Result
	switch {
	case r.Status == dag.Succeeded || r.Status == dag.Reused:
		p.line(e, green, fmt.Sprintf("%-8s %s", statusWord(r), Short(r.Took())))
	case r.Status == dag.Skipped && r.Reason == dag.ReasonCondition && p.plan.Handler != nil && p.plan.Handler(string(e.Node)):
	case r.Status == dag.Skipped:
		p.line(e, dim, fmt.Sprintf("skipped  %s", Reason(r.Reason)))
	case r.Status == dag.Cancelled:
		p.line(e, yellow, "cancelled")
	case r.Tolerated:
		p.line(e, yellow, outcome(r)+" (tolerated)")
	default:
		p.line(e, red, outcome(r))
		d := reporter{w: p.w, noLogs: p.NoLogs, plan: p.plan}
		d.details(e.Node, r, s != nil && s.IsLoop())
	}
}

func statusWord(r *dag.Result) string {
	if r.Fallback {
		return "ok (fallback)"
	}
	if r.Status == dag.Reused {
		return "reused"
	}
	return "ok"
}

// Reason describes why a step was skipped. An unknown reason is returned as it is.
func Reason(reason string) string {
	switch reason {
	case dag.ReasonCondition:
		return "its condition is false"
	case dag.ReasonUpstreamFailed:
		return "an upstream step failed"
	}
	return reason
}

// outcome describes how a failed attempt ended.
func outcome(r *dag.Result) string {
	s := fmt.Sprintf("FAILED   exit %d", r.ExitCode)
	if r.Status == dag.TimedOut {
		s = "TIMED OUT"
	}
	if r.Attempts > 1 {
		s += fmt.Sprintf(" after %d attempts", r.Attempts)
	}
	if r.Message != "" {
		s += ": " + Clean(r.Message)
	}
	return s
}

// tail returns the end of a stream.
func tail(o *dag.Output) string {
	if o.File == "" || o.Size <= int64(len(o.Inline)) {
		return o.Inline
	}
	f, err := os.Open(o.File)
	if err != nil {
		return o.Inline
	}
	defer f.Close()
	buf := make([]byte, dag.InlineLimit)
	n, _ := f.ReadAt(buf, max(o.Size-dag.InlineLimit, 0))
	return strings.ToValidUTF8(string(buf[:n]), "\uFFFD")
}

func (p *Plain) line(e dag.Event, c, text string) {
	name := string(e.Node)
	p.widen(name)
	if p.color {
		text = c + text + reset
	}
	fmt.Fprintf(p.w, "%8s  %s %s\n", "+"+clock(e.Time.Sub(p.began)), pad(name, p.width), text)
}

const (
	reset  = "\x1b[0m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	dim    = "\x1b[2m"
)

// Short formats a duration for people: below a second in whole milliseconds, so that 2ms and
// 40ms differ, otherwise as 12.4s, 3m05s, 2h07m.
func Short(d time.Duration) string {
	if d = d.Round(time.Millisecond); d < time.Second {
		return fmt.Sprintf("%dms", d.Milliseconds())
	}
	return clock(d)
}

// clock formats the time since the start of something, in tenths of a second, so that a column
// of times is easy to read: 0.0s, 12.4s, 3m05s.
func clock(d time.Duration) string {
	switch {
	case d.Round(100*time.Millisecond) < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute: // rounds to 1m00s
		d = time.Minute
	case d >= time.Hour:
		return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
}

// Clean makes a line safe for a terminal: a step's output must not move the cursor, set a title
// or reorder text on the screen. The lines of a longer text are joined with spaces.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r < 0x20, r == 0x7f, 0x80 <= r && r <= 0x9f, // C0, DEL, C1
			0x202a <= r && r <= 0x202e, 0x2066 <= r && r <= 0x2069, r == 0x200e, r == 0x200f: // bidi
			return '\uFFFD'
		}
		return r
	}, oneLine.Replace(s))
}

// CleanCommand is Clean for a line of a command. It keeps tabs, so that the line can be pasted back.
func CleanCommand(line string) string {
	cells := strings.Split(line, "\t")
	for i := range cells {
		cells[i] = Clean(cells[i])
	}
	return strings.Join(cells, "\t")
}

// isClean reports whether a text has only printable ASCII characters.
func isClean(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] >= 0x7f {
			return false
		}
	}
	return true
}

var oneLine = strings.NewReplacer("\r\n", " ", "\n", " ")

// JSON is a dag.Sink that writes every event as one line of flowrun/event.v1.
type JSON struct{ enc *json.Encoder }

// Notice writes a line that is not an event. v has its own schema.
func (j *JSON) Notice(v any) { _ = j.enc.Encode(v) }

// NewJSON returns a JSON sink that writes to w.
func NewJSON(w io.Writer) *JSON {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return &JSON{enc}
}

// Emit writes the event. Errors of the writer are ignored, because they must not fail the run.
func (j *JSON) Emit(e dag.Event) { _ = j.enc.Encode(e) }

// Failures is a Plain that writes only failures.
type Failures struct{ *Plain }

// Emit writes the line of a failed step.
func (f Failures) Emit(e dag.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.emit(e, true)
}
