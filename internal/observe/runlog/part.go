package runlog

import (
	"errors"
	"io"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// Part is the log of one stream of one attempt of a step. It can consist of several files and texts: a fallback
// belongs to the last attempt.
type Part struct {
	Attempt int
	Stream  rundir.Stream
	Bytes   int64 // its size when it was listed

	pieces []piece
}

// Run has the logs of a run.
type Run struct {
	plan  *engine.Plan
	files rundir.Logs
	steps map[dag.ID]*executions
	order []dag.ID // the order in which they started
}

// ReadRun lists the logs of a run. dir is its rundir.LogFolder, and events are its events so far. plan may be nil.
func ReadRun(dir string, plan *engine.Plan, events []dag.Event) (*Run, error) {
	files, err := rundir.ReadLogs(dir)
	if err != nil {
		return nil, err
	}
	steps, order := executionsOf(events)
	return &Run{plan, files, steps, order}, nil
}

// Parts returns the logs of one step of a run; see ReadRun and Run.Parts.
func Parts(dir string, plan *engine.Plan, events []dag.Event, path dag.ID) (list []Part, known bool, err error) {
	r, err := ReadRun(dir, plan, events)
	if err != nil {
		return nil, false, err
	}
	return r.Parts(path)
}

// Parts returns the logs of a step: by attempt, stdout first. known reports whether the run has such a step.
func (r *Run) Parts(path dag.ID) (list []Part, known bool, err error) {
	x, files := r.steps[path], r.files.Of(path)
	known = x != nil || len(files) > 0
	if x == nil {
		x = &executions{}
	}
	pieces, err := x.pieces(files, hasInner(r.plan, path))
	for _, stream := range []rundir.Stream{rundir.Stdout, rundir.Stderr} {
		for _, p := range pieces {
			if p.stream != stream || err != nil {
				continue
			}
			var o *openPiece
			if o, err = p.open(); err == nil {
				list = addPiece(list, p, o.size)
				o.Close()
			}
		}
	}
	return list, known, err
}

// hasInner reports whether a step consists of other steps.
func hasInner(plan *engine.Plan, path dag.ID) bool {
	return plan != nil && plan.Nested(string(path)) != nil
}

// addPiece adds a piece to its part.
func addPiece(list []Part, p piece, size int64) []Part {
	at := len(list)
	for i, part := range list {
		if part.Attempt == p.attempt && part.Stream == p.stream {
			part.Bytes, part.pieces = part.Bytes+size, append(part.pieces, p)
			list[i] = part
			return list
		}
		if part.Attempt > p.attempt {
			at = min(at, i)
		}
	}
	part := Part{Attempt: p.attempt, Stream: p.stream, Bytes: size, pieces: []piece{p}}
	return append(list[:at:at], append([]Part{part}, list[at:]...)...)
}

// Key identifies the part among all logs of the state directory, "" if it is not only in files.
func (p Part) Key() string {
	files := make([]string, len(p.pieces))
	for i, piece := range p.pieces {
		if piece.file == "" {
			return ""
		}
		files[i] = piece.file
	}
	return strings.Join(files, "\n")
}

// Open opens the part for reading up to Bytes. The caller closes it.
func (p Part) Open() (*OpenPart, error) {
	o := &OpenPart{}
	for _, piece := range p.pieces {
		one, err := piece.open()
		if err != nil {
			o.Close()
			return nil, err
		}
		o.pieces = append(o.pieces, one)
	}
	return o, nil
}

// OpenPart reads the pieces of a Part one after the other.
type OpenPart struct{ pieces []*openPiece }

// Size returns the size of the part when it was opened.
func (o *OpenPart) Size() (n int64) {
	for _, p := range o.pieces {
		n += p.size
	}
	return n
}

// ReadAt implements io.ReaderAt.
func (o *OpenPart) ReadAt(b []byte, at int64) (n int, err error) {
	for _, p := range o.pieces {
		if at >= p.size {
			at -= p.size
			continue
		}
		more, err := p.ReadAt(b[n:min(int64(len(b)), int64(n)+p.size-at)], at)
		n, at = n+more, 0
		if err != nil && err != io.EOF || n == len(b) {
			return n, err
		}
	}
	return n, io.EOF
}

// Close closes the files.
func (o *OpenPart) Close() error {
	var errs []error
	for _, p := range o.pieces {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}
