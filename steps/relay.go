package steps

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
)

// Stream has a command's output passed on line by line while it runs. It is
// kept for the log and for references all the same. Lines are read from the masked
// log, so a listener that is slow, or never returns, holds no step up: it hears late,
// at worst after the run.
type Stream struct {
	To   StreamTo
	File *expr.Template // of StreamToFile; nil: the log file is enough
}

// StreamTo says where streamed lines go.
type StreamTo string

// Where streamed lines go.
const (
	StreamToConsole  StreamTo = "console"  // Options.Console
	StreamToFile     StreamTo = "file"     // Stream.File
	StreamToFunction StreamTo = "function" // Options.Function
)

// Chunk is a piece of a streamed output.
type Chunk struct {
	Step    dag.ID
	Attempt int     // the try, from 1; a fallback counts as the last
	Stream  Streams // Stdout or Stderr
	// Text is one whole line or more, with their newlines; secrets are masked. Only the
	// end of a stream, and a line over 64 KiB, come without a newline. It is valid
	// until the function that was given it returns.
	Text []byte
}

// maxLine is how many bytes of a line without end are held back.
const maxLine = 64 << 10

// listenerTimeout is how long a listener may take for one chunk after the run has ended, before
// it is left alone with the rest.
const listenerTimeout = 10 * time.Second

// finalWait is what those who listen get to be done with when nobody wants to wait for
// them: who has heard all is done at once.
const finalWait = time.Second

// listener is who hears a stream of the try; nil for nobody.
func (t *attempt) listener(which Streams) func([]byte) error {
	if t.Stream == nil {
		return nil
	}
	o := &t.session.options
	switch {
	case t.tty != nil && which == Stderr: // the terminal takes both
		return nil
	case t.Stream.To == StreamToFile:
		if t.file == nil {
			return nil
		}
		return func(b []byte) error {
			_, err := t.file.Write(b)
			return err
		}
	case t.Stream.To == StreamToFunction && o.Function != nil:
		return t.deliverTo(which, o.Function)
	case t.Stream.To == StreamToConsole && o.Console != nil && t.person == nil: // who has seen it already
		return t.deliverTo(which, o.Console)
	}
	return nil
}

// deliverTo hands chunks to a function, one at a time in the whole session.
func (t *attempt) deliverTo(which Streams, to func(Chunk)) func([]byte) error {
	s := t.session
	return func(b []byte) error {
		s.delivering.Lock()
		defer s.delivering.Unlock()
		to(Chunk{Step: t.call.Path, Attempt: t.call.Attempt, Stream: which, Text: b})
		s.delivered.Add(1)
		return nil
	}
}

// startRelay begins to pass a stream on; nil where nobody listens.
func (t *attempt) startRelay(which Streams, log *logFile) (*follower, error) {
	to := t.listener(which)
	if to == nil {
		return nil, nil
	}
	own, err := reopen(log.File) // the log file's may be in other hands before the last line is told
	if err != nil {
		return nil, fmt.Errorf("cannot open a log file: %w", err)
	}
	l := &lines{to: to}
	s := t.session
	s.relays.Add(1)
	return followTo(own, l, func() {
		defer s.relays.Done()
		if t.file != nil && len(l.partial) > 0 {
			l.partial = append(l.partial, '\n') // others may write into the file as well
		}
		l.flush()
		own.Close()
		if l.err != nil {
			s.Notify(Notice{Code: NoticeStream, Step: t.call.Path,
				Message: fmt.Sprintf("cannot stream all output of step %s: %v; its log has all of it", t.call.Path, l.err)})
		}
	}), nil
}

// lines cuts a stream into whole lines.
type lines struct {
	to      func([]byte) error
	partial []byte
	err     error // the first
}

func (l *lines) Write(b []byte) (int, error) {
	whole := bytes.LastIndexByte(b, '\n') + 1
	if whole > 0 {
		l.pass(append(l.partial, b[:whole]...))
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
		l.pass(l.partial)
		l.partial = l.partial[:0]
	}
}

func (l *lines) pass(b []byte) {
	if l.err == nil {
		l.err = l.to(b)
	}
}

// openFile opens the file that the try's output is streamed to.
func (t *attempt) openFile() error {
	if t.Stream == nil || t.Stream.To != StreamToFile || t.Stream.File == nil {
		return nil
	}
	path, err := t.Stream.File.Text(t.scope)
	if err != nil {
		return inputError{fmt.Errorf("cannot use output.file: %w", err)}
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.dir, path)
	}
	err = t.session.WithRights(t.confine, func() (err error) {
		t.file, err = t.session.streamFile(filepath.Clean(path), t.call.Attempt)
		return err
	})
	if shortage(err) {
		return err
	}
	if err != nil {
		return startError{126, fmt.Sprintf("cannot stream the step's output: %v; make the folder, or change output.file", err)}
	}
	return nil
}

// streamFile opens a file for streamed output. The run's first try that does empties
// it; later tries, items of a loop and owners of the run add to it.
func (s *Session) streamFile(path string, attempt int) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is no regular file")}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !s.streamed[path] && attempt <= 1 && s.options.Epoch <= 1 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil { // it may have been there
		f.Close()
		return nil, err
	}
	s.streamed[path] = true
	return f, nil
}

// waitForListeners waits for those who listen to streams: as long as they do listen.
func (s *Session) waitForListeners(ctx context.Context) []Notice {
	all := make(chan struct{})
	go func() {
		s.relays.Wait()
		close(all)
	}()
	for {
		told := s.delivered.Load()
		select {
		case <-all:
			return nil
		case <-time.After(listenerTimeout):
			if s.delivered.Load() > told {
				continue
			}
		case <-ctx.Done():
		case <-s.options.Force:
		}
		select {
		case <-all:
			return nil
		case <-time.After(finalWait):
		}
		select {
		case <-all: // both, on a machine that was busy with something else
			return nil
		default:
		}
		return []Notice{{Code: NoticeStream, Message: "who listens to the streamed output was too slow to hear all of it; the logs have it"}}
	}
}
