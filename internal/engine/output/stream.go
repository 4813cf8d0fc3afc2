package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/logtimes"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// Stream is one output stream of one attempt.
type Stream struct {
	keeper *Keeper
	kind   rundir.Stream
	file   *logFile
	End    *os.File       // what the process gets; nil for a terminal
	pipe   *pipe          // nil: the process writes into the file
	follow *follower      // nil: nobody follows it
	relay  *follower      // nil: it is not streamed
	toFile bool           // relay writes to a file
	held   bool           // a background process keeps the pipe open
	alone  bool           // nobody else has the file open after the step has ended
	state  logtimes.State // of the file then
}

// Limits says how much of a stream to read.
type Limits struct {
	Limit int64 // buffer limit of the step
	Keep  bool  // another step refers to the stream, so Raw may have up to Limit bytes
}

// raw returns how many bytes Raw may have.
func (w Limits) raw() int64 {
	if w.Keep {
		return w.Limit
	}
	return min(w.Limit, dag.InlineLimit)
}

// Opening says how a stream is opened.
type Opening struct {
	Step    dag.ID
	Attempt int // from 1
	Kind    rundir.Stream

	Terminal *terminal.TTY // of the step, which carries both streams; nil: it has none
	ViaPipe  bool          // flowrun copies what is printed to the file
	Limits   Limits
	Counter  *Counter  // of the attempt; nil: no limit
	Follow   io.Writer // gets a masked copy as it grows; nil: nobody
	Relay    *Relay    // nil: the stream is not passed on
}

// Open opens a stream. If only the relay cannot start, it returns the stream and the error.
func (k *Keeper) Open(o Opening) (*Stream, error) {
	file, err := k.newFile(o.Step, o.Attempt, o.Kind)
	if err != nil {
		return nil, err
	}
	st := &Stream{keeper: k, kind: o.Kind, file: file}
	switch {
	case o.Terminal != nil && o.Kind == rundir.Stdout:
		st.pipe = k.copyFrom(o.Terminal, file, nil, o.Limits.raw(), o.Counter)
	case o.Terminal != nil:
	case o.ViaPipe || o.Counter != nil:
		if st.pipe, st.End, err = k.openPipe(file, o.Follow, o.Limits.raw(), o.Counter); err != nil {
			file.drop()
			return nil, errors.Join(err, file.Close())
		}
	default:
		if st.End, err = reopen(file.File); err != nil {
			file.drop()
			return nil, errors.Join(fmt.Errorf("cannot open a log file: %w", err), file.Close())
		}
		if o.Follow != nil {
			st.follow = follow(file.File, o.Follow)
		}
	}
	if o.Relay != nil {
		st.toFile = o.Relay.ToFile
		st.relay, err = o.Relay.start(file)
	}
	return st, err
}

// CloseEnd closes the process's end of the stream here. Call it after the process has started with
// its own copy.
func (st *Stream) CloseEnd() { st.End.Close() }

// WaitForEnd waits for the stream to end after its step has. held is true if a background process
// keeps a pipe open; then copying continues until the run ends.
func (st *Stream) WaitForEnd(by time.Time) (held bool) {
	switch {
	case st.follow != nil:
		st.follow.finish()
	case st.pipe != nil:
		held = !st.pipe.waitForEnd(by)
		st.held = held
	}
	switch {
	case st.relay == nil:
	case st.toFile: // the next step may read it
		st.relay.finish()
	default:
		st.relay.finishBy(time.Now().Add(CloseTimeout))
	}
	return held
}

// Discard releases a stream whose process never started.
func (st *Stream) Discard() {
	st.CloseEnd()
	st.WaitForEnd(time.Now().Add(CloseTimeout))
	st.file.drop()
	st.release()
}

// release releases the file. A pipe may still use it.
func (st *Stream) release() {
	if st.pipe != nil {
		st.pipe.release()
		return
	}
	if st.alone {
		st.keeper.recycle(st.file, st.state.Size)
		return
	}
	st.file.Close()
}

// Output returns what a Result contains of the stream, nil if nothing was printed. It drops the file if the Result has all of
// it and nobody prints into it any more. Once a file is shown it stays, because the Result is not recorded yet; see SpareLog.
func (st *Stream) Output(w Limits) (*dag.Output, error) {
	defer st.release()
	out, err := st.read(w)
	if err != nil || out == nil {
		st.file.drop()
		return nil, err
	}
	if !st.keeper.needsFile(out) && st.forget() {
		return out, nil
	}
	if err := st.file.keep(); err != nil {
		return nil, err
	}
	out.File = st.file.path
	return out, nil
}

// forget gives up the file of an output that the Result has completely. It reports false if the file has to stay.
func (st *Stream) forget() bool {
	if st.keeper.Dir == "" {
		st.file.drop()
		return true
	}
	return !st.held && st.alone && st.file.dropUnnamed()
}

func (st *Stream) read(w Limits) (*dag.Output, error) {
	if st.pipe != nil {
		return st.pipe.output(w)
	}
	return readOutput(st.file.File, st.state.Size, w)
}

// Look notes the state of the file after the step has ended, and first whether anybody else has it open: if not, the state
// is final.
func (st *Stream) Look() (err error) {
	st.alone = isOpenOnce(st.file.File)
	if st.pipe == nil || st.pipe.printed() {
		st.state, err = fileState(st.file.File)
	}
	return err
}

// readOutput returns what a Result contains of an unmasked stream in a file of the given size, nil if the file is empty.
func readOutput(f *os.File, size int64, w Limits) (*dag.Output, error) {
	if size == 0 {
		return nil, nil
	}
	out := &dag.Output{Size: size, Truncated: size > w.Limit}
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
	if int64(len(out.Inline)) < min(out.Size, dag.InlineLimit) && w.Limit < dag.InlineLimit {
		// A buffer limit below InlineLimit limits what references read, not what people see.
		if raw, err = readHead(f, min(out.Size, dag.InlineLimit)); err != nil {
			return nil, err
		}
		out.Inline = string(trimPartialRune(raw, out.Size))
	}
	return out, nil
}

// readHead reads the first n bytes of a file, or fewer if it was truncated meanwhile.
func readHead(f *os.File, n int64) ([]byte, error) {
	buf := make([]byte, n)
	got, err := f.ReadAt(buf, 0)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], err
}

// trimPartialRune removes an incomplete character from the end of b, which is the start of size
// bytes. Bytes that are not UTF-8 stay.
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
