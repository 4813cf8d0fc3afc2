// Package runlog reads the output of the steps of a recorded run.
//
// A step writes a log file for each stream of each attempt. When it has ended, and the event of its end has all of the
// text, flowrun removes the file (dag.Output.Whole). So the log of an attempt is a file, a text in the events, or several of
// both, and this package is the one place that finds them. If a file is missing, the beginning of the output that is in the
// events is all there is. A Reader remembers how far it has read; called again while the run continues, it returns what is
// new. Merged is the text of several streams in the order of the times at which they were printed (package logtimes). The
// package only reads; its caller decides how to show the text.
package runlog

import (
	"io"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
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

	offsets  map[place]int64 // how far each piece has been read
	finished map[dag.ID]bool // steps that were read to their end
	index    MergedIndex
}

// New returns a Reader of the logs in dir, the rundir.LogFolder of the run. step is the path
// of the step to read. A step that uses a tool includes the steps inside it, and a loop its
// items. "" means all steps.
func New(dir string, plan *engine.Plan, step string) *Reader {
	return &Reader{dir: dir, plan: plan, step: step, offsets: map[place]int64{}, finished: map[dag.ID]bool{}}
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
	all, _ := executionsOf(events)
	seen := map[dag.ID]bool{}
	for _, e := range events {
		if e.Kind != dag.StepStarted && e.Kind != dag.StepFinished || seen[e.Node] || r.finished[e.Node] || !r.Wants(string(e.Node)) {
			continue
		}
		seen[e.Node] = true
		if x := all[e.Node]; !x.loop {
			if err := r.copyStep(e.Node, x, files.Of(e.Node), to); err != nil {
				return err
			}
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

// copyStep writes what is new in the logs of one step.
func (r *Reader) copyStep(path dag.ID, x *executions, files []rundir.LogFile, to Destination) error {
	if result := x.last(); result != nil && x.finished && result.Ended.Before(r.Since) {
		return nil
	}
	list, err := x.pieces(files, hasInner(r.plan, path))
	if err != nil {
		return err
	}
	places := placesOf(path, list)
	for i, p := range list {
		at := places[i]
		if r.Attempt != 0 && p.attempt != r.Attempt {
			continue
		}
		if err := r.copyPiece(at, p, to(p.stream, path, p.attempt)); err != nil {
			return err
		}
	}
	return nil
}

// place identifies a piece. What was read of it from its file is not read again from the events that replace the file.
type place struct {
	step    dag.ID
	attempt int
	stream  rundir.Stream
	nth     int // among those of the same attempt and stream, from 1
}

// placesOf returns the places of the pieces of a step.
func placesOf(path dag.ID, list []piece) []place {
	places, count := make([]place, len(list)), map[place]int{}
	for i, p := range list {
		at := place{path, p.attempt, p.stream, 0}
		count[at]++
		at.nth = count[at]
		places[i] = at
	}
	return places
}

func (r *Reader) copyPiece(at place, p piece, to io.Writer) error {
	in, err := p.open()
	if err != nil {
		return err
	}
	defer in.Close()
	n, err := io.Copy(struct{ io.Writer }{to}, io.NewSectionReader(in, r.offsets[at], max(in.size-r.offsets[at], 0)))
	r.offsets[at] += n
	return err
}
