package steps

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
)

// stream is one output of one try. end is what the process gets.
type stream struct {
	session *Session
	which   Streams
	file    *logFile
	end     *os.File  // nil where it is a terminal
	pipe    *pipe     // nil: the process writes into the file
	follow  *follower // nil: nobody watches
	relay   *follower // nil: it is not streamed
	toFile  bool      // relay writes a file
}

// outputLimits says how much of a stream is asked for.
type outputLimits struct {
	limit int64 // the step's buffer limit
	keep  bool  // another step mentions the stream: Raw goes up to limit
	whole bool  // going over the limit fails the step
}

// raw is how many bytes Raw may have.
func (w outputLimits) raw() int64 {
	if w.keep {
		return w.limit
	}
	return min(w.limit, dag.InlineLimit)
}

// openStream makes a stream. viaPipe puts a goroutine between process and file; a
// terminal always has one.
func (t *attempt) openStream(which Streams, viaPipe bool) (*stream, error) {
	s, w := t.session, t.outputLimits(which)
	file, err := s.newLogFile(logName(t.call.Path, t.call.Attempt, which))
	if err != nil {
		return nil, err
	}
	st := &stream{session: s, which: which, file: file}
	var to io.Writer
	if s.options.Follow != nil {
		to = s.options.Follow(t.call.Path, which)
	}
	switch {
	case t.tty != nil && which == Stdout:
		st.pipe = s.copyFrom(t.tty, file, to, w.raw())
	case t.tty != nil: // the terminal takes both
	case viaPipe:
		if st.pipe, st.end, err = s.openPipe(file, to, w.raw()); err != nil {
			file.drop()
			return nil, errors.Join(err, file.Close())
		}
	default:
		if st.end, err = reopen(file.File); err != nil {
			file.drop()
			return nil, errors.Join(fmt.Errorf("cannot open a log file: %w", err), file.Close())
		}
		if to != nil {
			st.follow = follow(file.File, to)
		}
	}
	st.relay, err = t.startRelay(which, file)
	st.toFile = t.file != nil
	return st, err
}

// closeEnd is to be called when the process has its copy of the stream's end.
func (st *stream) closeEnd() { st.end.Close() }

// waitForEnd waits for the stream to end after the step has. A pipe may be held open
// by a background process: then held is true, and the stream goes on being copied
// until the run's end.
func (st *stream) waitForEnd(by time.Time) (held bool) {
	switch {
	case st.follow != nil:
		st.follow.finish()
	case st.pipe != nil:
		held = !st.pipe.waitForEnd(by)
	}
	switch {
	case st.relay == nil:
	case st.toFile: // the next step may read it
		st.relay.finish()
	default:
		st.relay.finishBy(time.Now().Add(outputTimeout))
	}
	return held
}

// discard gives back a stream whose process never started.
func (st *stream) discard() {
	st.closeEnd()
	st.waitForEnd(time.Now().Add(outputTimeout))
	st.file.drop()
	st.release()
}

// release gives the file back; a pipe may still need it.
func (st *stream) release() {
	if st.pipe != nil {
		st.pipe.release(st.file)
		return
	}
	st.session.recycle(st.file)
}

// output is what a Result says of the stream; nil when nothing was printed.
// private drops a file that the Result holds all of.
func (st *stream) output(s *Session, w outputLimits, private bool) (*dag.Output, error) {
	defer st.release()
	out, err := st.read(w)
	if err != nil || out == nil {
		st.file.drop()
		return nil, err
	}
	if out.Size <= dag.InlineLimit && private {
		st.file.drop()
		return out, nil
	}
	if err := st.file.keep(); err != nil {
		return nil, err
	}
	out.File = st.file.path
	return out, nil
}

func (st *stream) read(w outputLimits) (*dag.Output, error) {
	if st.pipe != nil {
		return st.pipe.output(st.file, w)
	}
	return readOutput(st.file.File, w)
}

// readOutput is what a Result says of a stream that a file holds as it was printed;
// nil when the file is empty.
func readOutput(f *os.File, w outputLimits) (*dag.Output, error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil, err
	}
	out := &dag.Output{Size: info.Size(), Truncated: info.Size() > w.limit}
	raw, err := readHead(f, min(out.Size, w.raw()))
	if err != nil {
		return nil, err
	}
	raw = trimPartialRune(raw, out.Size)
	out.Raw = string(raw)
	setDigest(out, raw, w)
	out.Inline = out.Raw
	if len(out.Inline) > dag.InlineLimit {
		out.Inline = string(trimPartialRune(raw[:dag.InlineLimit], out.Size))
	}
	if int64(len(out.Inline)) < min(out.Size, dag.InlineLimit) && w.limit < dag.InlineLimit {
		// A buffer limit below InlineLimit bounds references, not what people see.
		if raw, err = readHead(f, min(out.Size, dag.InlineLimit)); err != nil {
			return nil, err
		}
		out.Inline = string(trimPartialRune(raw, out.Size))
	}
	return out, nil
}

// readHead reads the first n bytes of a file, or fewer when somebody cut it.
func readHead(f *os.File, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, 0)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], err
}

// trimPartialRune takes a character that a limit cut in two off the end of b, which is the
// beginning of size bytes. Bytes that are no UTF-8 stay.
func trimPartialRune(b []byte, size int64) []byte {
	if int64(len(b)) >= size {
		return b
	}
	for i := len(b) - 1; i >= 0 && i > len(b)-utf8.UTFMax; i-- {
		if utf8.RuneStart(b[i]) {
			if !utf8.FullRune(b[i:]) {
				return b[:i]
			}
			break
		}
	}
	return b
}
