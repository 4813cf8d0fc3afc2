// Package logtimes says when a step printed what.
//
// A command prints straight into its log files, so nobody sees its writes. While it runs, flowrun looks at the sizes of the
// files and when they last changed, and notes marks: at a time, a stream had a size. A Recorder makes them. What was printed
// between two marks of a stream has the time of the later one. The marks of an attempt are in the order in which its streams
// grew, and no two have the same time, so they also tell the order of the two streams.
//
// Marks are a text, one on each line: the stream, the time since the mark before, and how many bytes were added. The few
// marks of a short log are in its result (dag.Output.Times), those of a long one in a file beside it
// (rundir.TimesName), which also names the log files. A text that is damaged is read up to the damage.
package logtimes

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/rundir"
)

// Mark says that a stream had a size at a time.
type Mark struct {
	At     int64 // ms since 1970
	Stream rundir.Stream
	Size   int64 // bytes of the log file
}

// encoder writes marks. Each is the difference from the one before.
type encoder struct {
	at   int64
	size [2]int64
}

// append appends a mark to a text.
func (e *encoder) append(b []byte, m Mark) []byte {
	b = append(b, "oe"[m.Stream])
	b = strconv.AppendInt(b, m.At-e.at, 10)
	b = append(b, '+')
	b = strconv.AppendInt(b, m.Size-e.size[m.Stream], 10)
	e.at, e.size[m.Stream] = m.At, m.Size
	return append(b, '\n')
}

// appendName appends the name of the log file of a stream.
func appendName(b []byte, s rundir.Stream, name string) []byte {
	return append(append(append(b, "OE"[s]), name...), '\n')
}

// Parse reads what a Recorder wrote: the marks, and the names of the log files, "" for those that are not there.
func Parse(text []byte) (marks []Mark, files [2]string) {
	var last encoder
	for {
		line, rest, whole := bytes.Cut(text, []byte("\n"))
		if !whole || len(line) < 2 {
			return marks, files
		}
		text = rest
		if s := strings.IndexByte("OE", line[0]); s >= 0 {
			files[s] = string(line[1:])
			continue
		}
		m, ok := last.parse(line)
		if !ok {
			return marks, files
		}
		last.at, last.size[m.Stream] = m.At, m.Size
		marks = append(marks, m)
	}
}

// parse reads the mark that follows those before. Times and sizes of marks only grow.
func (e *encoder) parse(line []byte) (m Mark, ok bool) {
	s := strings.IndexByte("oe", line[0])
	if s < 0 {
		return m, false
	}
	later, more, ok := strings.Cut(string(line[1:]), "+")
	at, err1 := strconv.ParseUint(later, 10, 62)
	size, err2 := strconv.ParseUint(more, 10, 62)
	if !ok || err1 != nil || err2 != nil || at == 0 || size == 0 {
		return m, false
	}
	m = Mark{At: e.at + int64(at), Stream: rundir.Stream(s), Size: e.size[s] + int64(size)}
	return m, m.At > e.at && m.Size > e.size[s] // no overflow
}
