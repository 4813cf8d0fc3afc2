// Package runlog reads what the steps of a recorded run printed.
//
// A run keeps a log file for every stream of every try. A Reader knows how far it has
// read each of them: asked again while the run goes on, it gives what is new. Where a
// log is not there, the beginning that stands in the step's result is given instead. It
// only reads; how the text is shown is up to who asks.
package runlog

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/steps"
)

// Reader reads the logs of one run. It is not safe for concurrent use.
type Reader struct {
	dir      string
	plan     *flowrun.Plan
	step     string
	offsets  map[string]int64 // how far each file has been read
	finished map[dag.ID]bool  // steps that were read to their end
}

// New reads the logs in dir, the run's steps.LogFolder. step is the path of the step
// whose logs are wanted: one that uses a tool stands for the steps inside, a loop for
// its items; "" is all.
func New(dir string, plan *flowrun.Plan, step string) *Reader {
	return &Reader{dir: dir, plan: plan, step: step, offsets: map[string]int64{}, finished: map[dag.ID]bool{}}
}

// Wants says whether a step's logs are read: all, one step's in whatever try of what is
// around it, or those inside one.
func (r *Reader) Wants(path string) bool {
	return r.step == "" || within(path, r.step) || within(string(dag.ID(path).WithoutAttempts()), r.step)
}

// Exactly says whether a path is the step that is wanted, and not one inside it.
func (r *Reader) Exactly(path dag.ID) bool {
	return r.step != "" && (r.step == string(path) || r.step == string(path.WithoutAttempts()))
}

// within says whether a path is that of a step, or of one inside it.
func within(path, step string) bool {
	rest, ok := strings.CutPrefix(path, step)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '[')
}

// Copy writes what is new of every step that has begun, in the order they began. events
// are all of the run's so far. to is where a step's stream goes: steps.Stdout or
// steps.Stderr.
func (r *Reader) Copy(events []dag.Event, to func(stream steps.Streams, path dag.ID) io.Writer) error {
	files, err := steps.ReadLogs(r.dir)
	if err != nil {
		return err
	}
	seen, ended := map[dag.ID]bool{}, map[dag.ID]*dag.Result{}
	for _, e := range events {
		switch e.Kind {
		case dag.StepFinished:
			ended[e.Node] = e.Result
		case dag.StepExpanded:
			seen[e.Node] = true // what a loop gathers, its items have printed
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
	for _, e := range events { // read after it had ended
		if e.Kind == dag.StepFinished {
			r.finished[e.Node] = r.finished[e.Node] || seen[e.Node]
		}
		if e.Kind == dag.RunResumed {
			clear(r.finished)
		}
	}
	return nil
}

// copyStep writes what is new in the logs of one step. A result whose log is not there
// still has the beginning; what a step that uses a tool printed is that of a step inside.
func (r *Reader) copyStep(path dag.ID, files []steps.LogFile, result *dag.Result, to func(steps.Streams, dag.ID) io.Writer) error {
	for _, f := range files {
		if err := r.copyFile(f, to(f.Stream, path)); err != nil {
			return err
		}
	}
	if len(files) > 0 || result == nil || r.offsets[string(path)] > 0 || r.plan.Nested(string(path)) != nil {
		return nil
	}
	for _, part := range []struct {
		stream steps.Streams
		output *dag.Output
	}{{steps.Stdout, result.Stdout}, {steps.Stderr, result.Stderr}} {
		if part.output == nil {
			continue
		}
		r.offsets[string(path)] = part.output.Size
		if _, err := io.WriteString(to(part.stream, path), part.output.Inline); err != nil {
			return err
		}
	}
	return nil
}

func (r *Reader) copyFile(f steps.LogFile, to io.Writer) error {
	file, err := os.Open(f.Path)
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
