package runlog

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// MergedIndex remembers what was found out about the logs of one Selection, so that a large log is not read again each time.
// The zero value is ready for use. Safe for concurrent use.
type MergedIndex struct {
	mu       sync.Mutex
	lines    *LineIndex
	segments []laidOut // of the text that lines is about
	logs     map[string]*boundaries
}

// boundaries are where the lines begin that follow the marks of a log file.
type boundaries struct {
	marks []int64
	found []int64
}

// bounds returns, for the marks of a source, the beginning of the first line after each. Marks beyond the end of the log, and
// the last one of a running step if its line has not ended, are left out. The lock is held.
func (x *MergedIndex) bounds(s *source, log *openPiece) (found []int64, err error) {
	known := &boundaries{}
	if s.file != "" {
		if x.logs == nil {
			x.logs = map[string]*boundaries{}
		}
		if x.logs[s.file] == nil {
			x.logs[s.file] = known
		}
		known = x.logs[s.file]
	}
	for i := range known.marks {
		if i >= len(s.marks) || s.marks[i].Size != known.marks[i] || known.found[i] > log.size {
			known.marks, known.found = known.marks[:i], known.found[:i]
			break
		}
	}
	found = append(found, known.found...)
	ended := true
	for _, mark := range s.marks[len(found):] {
		if mark.Size > log.size {
			break
		}
		var bound int64
		if n := len(found); n > 0 && found[n-1] >= mark.Size { // in the same line
			bound = found[n-1]
		} else if bound, ended, err = lineAfter(log, mark.Size); err != nil {
			return nil, err
		}
		if !ended && s.age == current {
			break
		}
		if found = append(found, bound); ended {
			known.marks, known.found = append(known.marks, mark.Size), append(known.found, bound)
		}
	}
	return found, nil
}

// lineAfter returns where the first line begins at or after an offset, or the end of the log if its last line has not ended.
func lineAfter(log *openPiece, at int64) (bound int64, ended bool, err error) {
	buf := make([]byte, 512)
	for at--; at < log.size; {
		n, err := log.ReadAt(buf[:min(int64(len(buf)), log.size-at)], at)
		if n == 0 {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, false, fmt.Errorf("cannot read a log: %w", err)
		}
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, true, nil
		}
		at += int64(n)
		if len(buf) < 64<<10 {
			buf = make([]byte, 64<<10)
		}
	}
	return log.size, false, nil
}

// laidOut is a segment as the index remembers it.
type laidOut struct {
	place        place
	file         string
	from, to, at int64
	ended        bool
}

// linesOf returns the index of the lines of a text: that of the text before if it has only grown. The lock is held.
func (x *MergedIndex) linesOf(segments []segment) *LineIndex {
	now := make([]laidOut, len(segments))
	for i := range segments {
		s := &segments[i]
		now[i] = laidOut{s.source.place, s.source.file, s.from, s.to, s.at, s.ended}
	}
	grown := x.lines != nil && len(now) >= len(x.segments)
	for i := 0; grown && i < len(x.segments); i++ {
		was, is := x.segments[i], now[i]
		if i == len(x.segments)-1 && !was.ended && was.to <= is.to { // the last line may go on
			was.to, was.ended = is.to, is.ended
		}
		grown = was == is
	}
	if !grown {
		x.lines = new(LineIndex)
	}
	x.segments = now
	return x.lines
}
