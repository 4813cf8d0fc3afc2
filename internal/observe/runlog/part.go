package runlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// Part is the log of one stream of one attempt of a step. It can consist of several files: a fallback
// belongs to the last attempt.
type Part struct {
	Attempt int
	Stream  rundir.Stream
	Bytes   int64 // its size when it was listed

	files []string
	text  string // if there are no files
}

// Parts returns the logs of a step in dir, the rundir.LogFolder of the run: by attempt, stdout first.
func Parts(dir string, path dag.ID) ([]Part, error) {
	logs, err := rundir.ReadLogs(dir)
	if err != nil {
		return nil, err
	}
	return PartsOf(logs, path)
}

// PartsOf is Parts for log files that have been listed.
func PartsOf(logs rundir.Logs, path dag.ID) (list []Part, err error) {
	for _, stream := range []rundir.Stream{rundir.Stdout, rundir.Stderr} {
		for _, f := range logs.Of(path) {
			if f.Stream != stream {
				continue
			}
			info, err := os.Stat(f.Path)
			if err != nil {
				return nil, fmt.Errorf("cannot read a log: %w", err)
			}
			list = addFile(list, f, info.Size())
		}
	}
	return list, nil
}

// addFile adds a file to its part.
func addFile(list []Part, f rundir.LogFile, size int64) []Part {
	at := len(list)
	for i, p := range list {
		if p.Attempt == f.Attempt && p.Stream == f.Stream {
			p.Bytes, p.files = p.Bytes+size, append(p.files, f.Path)
			list[i] = p
			return list
		}
		if p.Attempt > f.Attempt {
			at = min(at, i)
		}
	}
	part := Part{Attempt: f.Attempt, Stream: f.Stream, Bytes: size, files: []string{f.Path}}
	return append(list[:at:at], append([]Part{part}, list[at:]...)...)
}

// ResultParts returns the logs of a step that has no log files: the beginning of its output, which is
// in its result.
func ResultParts(r *dag.Result) (list []Part) {
	if r == nil {
		return nil
	}
	for _, s := range []struct {
		stream rundir.Stream
		output *dag.Output
	}{{rundir.Stdout, r.Stdout}, {rundir.Stderr, r.Stderr}} {
		if s.output != nil && s.output.Inline != "" {
			list = append(list, Part{Attempt: max(r.Attempts, 1), Stream: s.stream, Bytes: int64(len(s.output.Inline)), text: s.output.Inline})
		}
	}
	return list
}

// Key identifies the part among all logs of the state directory, "" if it has no files.
func (p Part) Key() string { return strings.Join(p.files, "\n") }

// Open opens the part for reading up to Bytes. The caller closes it.
func (p Part) Open() (*OpenPart, error) {
	if len(p.files) == 0 {
		return &OpenPart{readers: []io.ReaderAt{strings.NewReader(p.text)}, sizes: []int64{p.Bytes}}, nil
	}
	o := &OpenPart{}
	for _, path := range p.files {
		f, err := ownership.OpenFile(path)
		if err != nil {
			o.Close()
			return nil, fmt.Errorf("cannot read a log: %w", err)
		}
		info, err := f.Stat()
		if err != nil {
			o.Close()
			return nil, fmt.Errorf("cannot read a log: %w", err)
		}
		o.files, o.readers, o.sizes = append(o.files, f), append(o.readers, f), append(o.sizes, info.Size())
	}
	return o, nil
}

// OpenPart reads the files of a Part one after the other.
type OpenPart struct {
	files   []*os.File
	readers []io.ReaderAt
	sizes   []int64
}

// Size returns the size of the part when it was opened.
func (o *OpenPart) Size() (n int64) {
	for _, s := range o.sizes {
		n += s
	}
	return n
}

// ReadAt implements io.ReaderAt.
func (o *OpenPart) ReadAt(b []byte, at int64) (n int, err error) {
	for i, r := range o.readers {
		if at >= o.sizes[i] {
			at -= o.sizes[i]
			continue
		}
		more, err := r.ReadAt(b[n:min(int64(len(b)), int64(n)+o.sizes[i]-at)], at)
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
	for _, f := range o.files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}
