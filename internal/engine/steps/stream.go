package steps

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

// stream is one output stream of one attempt.
type stream struct {
	keeper *keeper
	kind   rundir.Stream
	file   *logFile
	end    *os.File       // what the process gets; nil for a terminal
	pipe   *pipe          // nil: the process writes into the file
	follow *follower      // nil: nobody follows it
	relay  *follower      // nil: it is not streamed
	toFile bool           // relay writes to a file
	held   bool           // a background process keeps the pipe open
	alone  bool           // nobody else has the file open after the step has ended
	state  logtimes.State // of the file then
}

// outputLimits says how much of a stream to read.
type outputLimits struct {
	limit int64 // buffer limit of the step
	keep  bool  // another step refers to the stream, so Raw may have up to limit bytes
}

// raw returns how many bytes Raw may have.
func (w outputLimits) raw() int64 {
	if w.keep {
		return w.limit
	}
	return min(w.limit, dag.InlineLimit)
}

// opening says how a stream is opened.
type opening struct {
	step    dag.ID
	attempt int // from 1
	kind    rundir.Stream

	terminal *terminal.TTY // of the step, which carries both streams; nil: it has none
	viaPipe  bool          // flowrun copies what is printed to the file
	limits   outputLimits
	counter  *printed  // of the attempt; nil: no limit
	follow   io.Writer // gets a masked copy as it grows; nil: nobody
	relay    *relay    // nil: the stream is not passed on
}

// open opens a stream. If only the relay cannot start, it returns the stream and the error.
func (k *keeper) open(o opening) (*stream, error) {
	file, err := k.newFile(o.step, o.attempt, o.kind)
	if err != nil {
		return nil, err
	}
	st := &stream{keeper: k, kind: o.kind, file: file}
	switch {
	case o.terminal != nil && o.kind == rundir.Stdout:
		st.pipe = k.copyFrom(o.terminal, file, nil, o.limits.raw(), o.counter)
	case o.terminal != nil:
	case o.viaPipe || o.counter != nil:
		if st.pipe, st.end, err = k.openPipe(file, o.follow, o.limits.raw(), o.counter); err != nil {
			file.drop()
			return nil, errors.Join(err, file.Close())
		}
	default:
		if st.end, err = reopen(file.File); err != nil {
			file.drop()
			return nil, errors.Join(fmt.Errorf("cannot open a log file: %w", err), file.Close())
		}
		if o.follow != nil {
			st.follow = follow(file.File, o.follow)
		}
	}
	if o.relay != nil {
		st.toFile = o.relay.toFile
		st.relay, err = o.relay.start(file)
	}
	return st, err
}

// closeEnd closes the process's end of the stream here. Call it after the process has started with
// its own copy.
func (st *stream) closeEnd() { st.end.Close() }

// waitForEnd waits for the stream to end after its step has. held is true if a background process
// keeps a pipe open; then copying continues until the run ends.
func (st *stream) waitForEnd(by time.Time) (held bool) {
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
		st.relay.finishBy(time.Now().Add(outputTimeout))
	}
	return held
}

// discard releases a stream whose process never started.
func (st *stream) discard() {
	st.closeEnd()
	st.waitForEnd(time.Now().Add(outputTimeout))
	st.file.drop()
	st.release()
}

// release releases the file. A pipe may still use it.
func (st *stream) release() {
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

// output returns what a Result contains of the stream, nil if nothing was printed. It drops the file if the Result has all of
// it and nobody prints into it any more. Once a file is shown it stays, because the Result is not recorded yet; see SpareLog.
func (st *stream) output(w outputLimits) (*dag.Output, error) {
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
func (st *stream) forget() bool {
	if st.keeper.dir == "" {
		st.file.drop()
		return true
	}
	return !st.held && st.alone && st.file.dropUnnamed()
}

func (st *stream) read(w outputLimits) (*dag.Output, error) {
	if st.pipe != nil {
		return st.pipe.output(w)
	}
	return readOutput(st.file.File, st.state.Size, w)
}

// look notes the state of the file after the step has ended, and first whether anybody else has it open: if not, the state
// is final.
func (st *stream) look() (err error) {
	st.alone = isOpenOnce(st.file.File)
	if st.pipe == nil || st.pipe.printed() {
		st.state, err = fileState(st.file.File)
	}
	return err
}

// readOutput returns what a Result contains of an unmasked stream in a file of the given size, nil if the file is empty.
func readOutput(f *os.File, size int64, w outputLimits) (*dag.Output, error) {
	if size == 0 {
		return nil, nil
	}
	out := &dag.Output{Size: size, Truncated: size > w.limit}
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
