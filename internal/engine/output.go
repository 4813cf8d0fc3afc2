package engine

import (
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// outputTee passes on the run's output while it is being printed. Which step gives the output is known only at the end
// (the last step that ran), but once the last step of the plan runs, it must be that one.
type outputTee struct {
	w        *lineWriter // nil: the caller wants no copy
	path     dag.ID      // of the last step; "" if another step might give the output
	used     atomic.Bool
	short    bool     // the result holds only the beginning of the output
	terminal Terminal // nil: there is no terminal
	console  func(steps.Chunk)

	mu       sync.Mutex
	attached map[dag.ID]bool // steps that had the terminal
}

func newOutputTee(p *plan.Plan, o runOptions) *outputTee {
	l := &outputTee{terminal: o.terminal, console: o.console, attached: map[dag.ID]bool{}}
	if o.stdout != nil {
		l.w, l.path = &lineWriter{Writer: o.stdout}, p.LastStep()
	}
	return l
}

// configure sets the session's callbacks for what is shown outside the run's output: the terminal and the console
// stream.
func (l *outputTee) configure(o *steps.Options) {
	if l.terminal != nil {
		o.Terminal = l
	}
	if l.console != nil {
		o.Console = l.stream
	}
}

// Attach gives the terminal to a step, and remembers that the step had it.
func (l *outputTee) Attach(step dag.ID) (terminal.Attachment, error) {
	a, err := l.terminal.Attach(step)
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.attached[step] = true
	}
	return a, err
}

// stream passes on what a step streams to the console, unless the user already sees it in the run's output.
func (l *outputTee) stream(c steps.Chunk) {
	if l.w == nil || c.Stream != steps.Stdout || c.Step != l.path {
		l.console(c)
	}
}

// shownOnTerminal reports whether the output of a step was shown on the same terminal that the run's output goes to.
func (l *outputTee) shownOnTerminal(step dag.ID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attached[step] && l.terminal.Stdout()
}

// follow is steps.Options.Follow. It returns the writer that copies a step's output while it is printed, nil for
// none.
func (l *outputTee) follow(path dag.ID, s steps.Streams) io.Writer {
	if l.w == nil || s != steps.Stdout || path != l.path {
		return nil
	}
	l.used.Store(true)
	if l.shownOnTerminal(path) {
		return nil
	}
	return l.w
}

// finish delivers the run's output, and ends the last line of a value.
func (l *outputTee) finish(res *runresult.Result) error {
	if err := l.deliver(res); err != nil {
		return err
	}
	return l.finishLine(res)
}

// deliver passes on the run's output: to the caller's writer, unless it was copied there while it was printed, or into
// the result.
func (l *outputTee) deliver(res *runresult.Result) error {
	out := runresult.OutputOf(res)
	switch {
	case out == nil:
		return nil
	case l.w == nil && l.short:
		runresult.Shorten(res)
		return nil
	case l.w == nil:
		var err error
		res.Output, res.InvalidUTF8, err = readOutput(out, steps.DefaultLimit)
		return err
	}
	res.Output = out.Inline
	if l.used.Load() || slices.ContainsFunc(res.Steps, func(s runresult.StepResult) bool {
		return runresult.Printed(&s, out) && l.shownOnTerminal(dag.ID(s.ID))
	}) {
		return nil
	}
	return outputError(copyOutput(l.w, out, math.MaxInt64))
}

// finishLine ends the line of a value as JSON, which steps write without a newline.
func (l *outputTee) finishLine(res *runresult.Result) error {
	if l.w == nil || !runresult.Structured(res) || l.w.last == '\n' {
		return nil
	}
	_, err := l.w.Write([]byte("\n"))
	return outputError(err)
}

func outputError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("cannot write the run's output: %w", err)
}

// lineWriter remembers the last byte written.
type lineWriter struct {
	io.Writer
	last byte
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if n > 0 {
		w.last = p[n-1]
	}
	return n, err
}

// readOutput returns a stream's first most bytes as text. invalid reports that bytes that are not UTF-8 were replaced.
func readOutput(out *dag.Output, most int64) (text string, invalid bool, err error) {
	var b strings.Builder
	b.Grow(int(min(out.Size, most)))
	err = copyOutput(&b, out, most)
	text, invalid = value.ValidText(b.String())
	return text, invalid, err
}

// copyOutput writes a stream's first most bytes to w.
func copyOutput(w io.Writer, out *dag.Output, most int64) error {
	if out.File == "" {
		_, err := io.WriteString(w, out.Inline)
		return err
	}
	f, err := proc.OpenFile(out.File, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	buffer := make([]byte, min(max(out.Size, 512), 256<<10)) // most outputs are a few lines
	_, err = io.CopyBuffer(struct{ io.Writer }{w}, io.LimitReader(f, most), buffer)
	return err
}
