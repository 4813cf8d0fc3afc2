// Package runlog reads the output of the steps of a recorded run.
//
// A run has a log file for every stream of every attempt. A Reader remembers how far it has
// read each file; called again while the run continues, it returns what is new. If a step has
// no log file, the Reader returns the file that the step's result names, or else the beginning
// of the output that is in the result. It only reads; its caller decides how to show the text.
package runlog

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Reader reads the logs of one run. It is not safe for concurrent use.
type Reader struct {
	dir  string
	plan *engine.Plan
	step string
	// Attempt, if it is not 0, selects one attempt of each step. A fallback belongs to the last one.
	Attempt int
	// Since, if it is set, leaves out the steps that ended before.
	Since time.Time

	offsets  map[string]int64 // how far each file has been read
	finished map[dag.ID]bool  // steps that were read to their end
}

// New returns a Reader of the logs in dir, the rundir.LogFolder of the run. step is the path
// of the step to read. A step that uses a tool includes the steps inside it, and a loop its
// items. "" means all steps.
func New(dir string, plan *engine.Plan, step string) *Reader {
	return &Reader{dir: dir, plan: plan, step: step, offsets: map[string]int64{}, finished: map[dag.ID]bool{}}
}

// Wants reports whether the Reader reads the logs of a step. If one step was selected,
// these are the logs of that step and of the steps inside it, whatever the attempts of the
// steps around it.
func (r *Reader) Wants(path string) bool {
	return r.step == "" || within(path, r.step) || within(string(dag.ID(path).WithoutAttempts()), r.step)
}

// Exactly reports whether path is the selected step, and not one inside it.
func (r *Reader) Exactly(path dag.ID) bool {
	return r.step != "" && (r.step == string(path) || r.step == string(path.WithoutAttempts()))
}

// within reports whether path is the given step, or one inside it.
func within(path, step string) bool {
	rest, ok := strings.CutPrefix(path, step)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '[')
}

// Destination returns the writer for a stream of one attempt of a step.
type Destination func(stream rundir.Stream, path dag.ID, attempt int) io.Writer

// Copy writes what is new in the logs of every step that has started, in the order in which
// they started. events are all events of the run so far. to returns the writer for a stream
// (rundir.Stdout or rundir.Stderr) of a step.
func (r *Reader) Copy(events []dag.Event, to Destination) error {
	files, err := rundir.ReadLogs(r.dir)
	if err != nil {
		return err
	}
	seen, ended := map[dag.ID]bool{}, map[dag.ID]*dag.Result{}
	for _, e := range events {
		switch e.Kind {
		case dag.StepFinished:
			ended[e.Node] = e.Result
		case dag.StepExpanded:
			seen[e.Node] = true // its output is what its items printed, and their logs are read already
		}
	}
	for _, e := range events {
		if e.Kind != dag.StepStarted && e.Kind != dag.StepFinished || seen[e.Node] || r.finished[e.Node] || !r.Wants(string(e.Node)) {
			continue
		}
		seen[e.Node] = true
		if err := r.copyStep(e.Node, files.Of(e.Node), ended[e.Node], to); err != nil {
			return err
		}
	}
	for _, e := range events { // a step is finished if its logs were read after it had ended
		if e.Kind == dag.StepFinished {
			r.finished[e.Node] = r.finished[e.Node] || seen[e.Node]
		}
		if e.Kind == dag.RunResumed {
			clear(r.finished)
		}
	}
	return nil
}

// copyStep writes what is new in the logs of one step. If there is no log file, it writes
// the output from the result. The output of a step that uses a tool is the
// output of a step inside it, so it is not written again.
func (r *Reader) copyStep(path dag.ID, files []rundir.LogFile, result *dag.Result, to Destination) error {
	if result != nil && result.Ended.Before(r.Since) {
		return nil
	}
	for _, f := range files {
		if r.Attempt != 0 && f.Attempt != r.Attempt {
			continue
		}
		if err := r.copyFile(f, to(f.Stream, path, f.Attempt)); err != nil {
			return err
		}
	}
	if len(files) > 0 || result == nil || r.offsets[string(path)] > 0 || r.plan.Nested(string(path)) != nil {
		return nil
	}
	if r.Attempt != 0 && result.Attempts != r.Attempt {
		return nil
	}
	for _, part := range []struct {
		stream rundir.Stream
		output *dag.Output
	}{{rundir.Stdout, result.Stdout}, {rundir.Stderr, result.Stderr}} {
		if part.output == nil {
			continue
		}
		r.offsets[string(path)] = part.output.Size
		if err := copyOutput(to(part.stream, path, result.Attempts), part.output); err != nil {
			return err
		}
	}
	return nil
}

// copyOutput writes the output in a result: its file, or its beginning if there is no such file.
func copyOutput(to io.Writer, o *dag.Output) error {
	file, err := ownership.OpenFile(o.File)
	if err != nil {
		_, err = io.WriteString(to, o.Inline)
		return err
	}
	defer file.Close()
	_, err = io.Copy(struct{ io.Writer }{to}, file)
	return err
}

func (r *Reader) copyFile(f rundir.LogFile, to io.Writer) error {
	file, err := ownership.OpenFile(f.Path)
	if err != nil {
		return fmt.Errorf("cannot read a log: %w", err)
	}
	defer file.Close()
	if _, err := file.Seek(r.offsets[f.Path], io.SeekStart); err != nil {
		return fmt.Errorf("cannot read a log: %w", err)
	}
	n, err := io.Copy(struct{ io.Writer }{to}, file)
	r.offsets[f.Path] += n
	return err
}
