package output

import (
	"bytes"
	"fmt"
)

// Relay passes on a stream line by line while the step runs. It reads the masked file, so a receiver that is slow or never
// returns delays no step.
type Relay struct {
	To func([]byte) error // gets whole lines; after an error it gets no more
	// ToFile means that to writes to a file that others read and write: the stream ends when all of it is there, and a last
	// line gets an end.
	ToFile bool
	Begin  func() (end func(error)) // called when the relay starts; end is called after the last line, with the first error
}

// start starts to pass on what the file gets.
func (r *Relay) start(log *logFile) (*follower, error) {
	own, err := reopen(log.File) // the log file may be reused before the last line is delivered
	if err != nil {
		return nil, fmt.Errorf("cannot open a log file: %w", err)
	}
	l := &lines{to: r.To}
	end := r.Begin()
	return followTo(own, l, func() {
		if r.ToFile && len(l.partial) > 0 {
			l.partial = append(l.partial, '\n')
		}
		l.flush()
		own.Close()
		end(l.err)
	}), nil
}

// maxLine is how many bytes of a line without an end are held back.
const maxLine = 64 << 10

// lines splits a stream into whole lines.
type lines struct {
	to      func([]byte) error
	partial []byte
	err     error // the first
}

func (l *lines) Write(b []byte) (int, error) {
	whole := bytes.LastIndexByte(b, '\n') + 1
	if whole > 0 {
		l.deliver(append(l.partial, b[:whole]...))
		l.partial = l.partial[:0]
	}
	l.partial = append(l.partial, b[whole:]...)
	if len(l.partial) > maxLine {
		l.flush()
	}
	return len(b), l.err
}

func (l *lines) flush() {
	if len(l.partial) > 0 {
		l.deliver(l.partial)
		l.partial = l.partial[:0]
	}
}

func (l *lines) deliver(b []byte) {
	if l.err == nil {
		l.err = l.to(b)
	}
}
