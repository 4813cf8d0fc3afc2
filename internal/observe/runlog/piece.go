package runlog

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/logtimes"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// piece is what one execution of an attempt printed on a stream. An attempt has several if it had a fallback, or if the run
// was resumed in the middle of it.
type piece struct {
	stream  rundir.Stream
	attempt int
	file    string // the log file; "" if text is all of it
	text    string // the beginning of the stream, which is shown if there is no file
	age     age

	times string    // when it was printed (dag.Output.Times)
	at    time.Time // when it ended, or when its step started
	quick bool      // it lasted less than logtimes.Quick: without times, at is when it was printed
}

// age orders the pieces of one attempt.
type age int

const (
	cutOff  age = iota // no event has its end, because flowrun was killed
	ended              // in the order of the events
	current            // the step is running
)

// executions are the executions of one step, as its events tell them.
type executions struct {
	results  []*dag.Result
	ends     []ending // of each result
	started  time.Time
	since    time.Time // when the present execution started
	running  bool
	finished bool
	loop     bool // its output is what its items printed
}

// ending is the end of an execution.
type ending struct {
	at    time.Time
	quick bool
}

// executionsOf collects the executions of all steps, and the order in which the steps started.
func executionsOf(events []dag.Event) (all map[dag.ID]*executions, order []dag.ID) {
	all = map[dag.ID]*executions{}
	for i := range events {
		e := &events[i]
		if e.Kind == dag.RunResumed {
			for _, x := range all {
				x.running = false
			}
			continue
		}
		if e.Node == "" {
			continue
		}
		x := all[e.Node]
		if x == nil {
			x = &executions{}
			all[e.Node] = x
			order = append(order, e.Node)
		}
		x.add(e)
	}
	return all, order
}

func (x *executions) add(e *dag.Event) {
	switch e.Kind {
	case dag.StepExpanded:
		x.loop = true
	case dag.StepStarted:
		x.running, x.finished, x.since = true, false, e.Time
		if x.started.IsZero() {
			x.started = e.Time
		}
	case dag.StepRetrying, dag.StepFallback, dag.StepFinished:
		// A step that is cancelled between two attempts ends with the result of the first of them once more.
		if e.Result != nil && (x.running || len(x.results) == 0) {
			x.results = append(x.results, e.Result)
			quick := !x.since.IsZero() && e.Time.Sub(x.since) <= logtimes.Quick && e.Result.Status != dag.Reused
			x.ends = append(x.ends, ending{e.Time, quick})
		}
		x.since = e.Time
		x.running, x.finished = e.Kind == dag.StepFallback, e.Kind == dag.StepFinished
	}
}

// last returns the result of the last execution that has ended, or nil.
func (x *executions) last() *dag.Result {
	if len(x.results) == 0 {
		return nil
	}
	return x.results[len(x.results)-1]
}

// pieces returns what a step printed: by attempt, in the order in which it was printed, stdout first. files are the log files
// of the step. The output of a step with inner steps is the output of one of them, so only its files count.
func (x *executions) pieces(files []rundir.LogFile, inner bool) ([]piece, error) {
	var list []piece
	known := map[string]bool{}
	for i, r := range x.results {
		for stream, o := range [2]*dag.Output{rundir.Stdout: r.Stdout, rundir.Stderr: r.Stderr} {
			if o == nil || inner || o.File == "" && o.Inline == "" {
				continue
			}
			p := piece{rundir.Stream(stream), max(r.Attempts, 1), o.File, o.Inline, ended, o.Times, x.ends[i].at, x.ends[i].quick}
			for _, f := range files { // the state directory may have been moved
				if o.File != "" && filepath.Base(f.Path) == filepath.Base(o.File) {
					p.file, known[f.Path] = f.Path, true
				}
			}
			list = append(list, p)
		}
	}
	for _, f := range files {
		if known[f.Path] {
			continue
		}
		recorded, err := isRecorded(f, list)
		if err != nil {
			return nil, err
		}
		if recorded {
			continue
		}
		p := piece{stream: f.Stream, attempt: f.Attempt, file: f.Path, at: x.started}
		if x.running {
			p.age = current
		}
		list = append(list, p)
	}
	slices.SortStableFunc(list, func(a, b piece) int { return cmp.Or(cmp.Compare(a.attempt, b.attempt), cmp.Compare(a.age, b.age)) })
	return list, nil
}

// isRecorded reports whether a file is one whose text has been recorded and that is removed just now, or was not because
// flowrun was killed.
func isRecorded(f rundir.LogFile, list []piece) (bool, error) {
	for _, p := range list {
		if p.file != "" || p.stream != f.Stream || p.attempt != f.Attempt {
			continue
		}
		info, err := os.Stat(f.Path)
		if errors.Is(err, fs.ErrNotExist) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("cannot read a log: %w", err)
		}
		if info.Size() != int64(len(p.text)) {
			continue
		}
		text, err := ownership.ReadFile(f.Path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && bytes.Equal(text, []byte(p.text)) {
			return true, nil
		}
		if err != nil {
			return false, fmt.Errorf("cannot read a log: %w", err)
		}
	}
	return false, nil
}

// open opens the piece for reading up to its present size.
func (p piece) open() (*openPiece, error) {
	if p.file == "" {
		return p.inline(), nil
	}
	f, err := ownership.OpenFile(p.file)
	if err != nil {
		if p.age == ended || errors.Is(err, fs.ErrNotExist) { // the events that follow have the text
			return p.inline(), nil
		}
		return nil, fmt.Errorf("cannot read a log: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("cannot read a log: %w", err)
	}
	return &openPiece{ReaderAt: f, Closer: f, size: info.Size()}, nil
}

func (p piece) inline() *openPiece {
	return &openPiece{ReaderAt: bytes.NewReader([]byte(p.text)), Closer: io.NopCloser(nil), size: int64(len(p.text))}
}

// openPiece is a piece that can be read.
type openPiece struct {
	io.ReaderAt
	io.Closer
	size int64
}
