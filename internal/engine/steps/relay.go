package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
)

// Stream passes on the output of a command line by line while it runs. The output is still kept for
// the log and for references. Lines are read from the masked log, so a listener that is slow or
// never returns delays no step: it only gets the lines late, at worst after the run.
type Stream struct {
	To   StreamTo
	File *expr.Template // for StreamToFile; nil: the log file is enough
}

// StreamTo is the destination of streamed lines.
type StreamTo string

// Destinations of streamed lines.
const (
	StreamToConsole  StreamTo = "console"  // Options.Console
	StreamToFile     StreamTo = "file"     // Stream.File
	StreamToFunction StreamTo = "function" // Options.Function
)

// Chunk is a piece of streamed output.
type Chunk struct {
	Step    dag.ID
	Attempt int     // from 1; a fallback counts as the last attempt
	Stream  Streams // Stdout or Stderr
	// Text contains one or more whole lines with their newlines, with secrets masked. Only the end
	// of a stream, and lines over 64 KiB, have no newline at the end. Text is valid until the
	// function that received it returns.
	Text []byte
}

// listenerTimeout is how long a listener may take for one chunk after the run has ended. Then it
// does not get the rest.
const listenerTimeout = 10 * time.Second

// finalWait is how long listeners may still take after listenerTimeout, or after Close was asked not
// to wait. A listener that has received everything needs none of it.
const finalWait = time.Second

// listener returns the function that receives a stream of the attempt, or nil.
func (t *start) listener(which Streams) func([]byte) error {
	if t.Stream == nil {
		return nil
	}
	o := &t.session.options
	switch {
	case t.dialog.Terminal() != nil && which == Stderr: // the terminal carries both streams
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
	case t.Stream.To == StreamToConsole && o.Console != nil && !t.dialog.Attended(): // the person has already seen the output
		return t.deliverTo(which, o.Console)
	}
	return nil
}

// deliverTo returns a listener that calls a function with chunks. The Session runs one such call at
// a time.
func (t *start) deliverTo(which Streams, to func(Chunk)) func([]byte) error {
	s := t.session
	return func(b []byte) error {
		s.delivering.Lock()
		defer s.delivering.Unlock()
		to(Chunk{Step: t.call.Path, Attempt: t.call.Attempt, Stream: which, Text: b})
		s.delivered.Add(1)
		return nil
	}
}

// relayOf returns what passes a stream on to its listener, nil if there is none.
func (t *start) relayOf(which Streams) *output.Relay {
	to := t.listener(which)
	if to == nil {
		return nil
	}
	s := t.session
	return &output.Relay{To: to, ToFile: t.file != nil, Begin: func() (end func(error)) {
		s.relays.Add(1)
		return func(err error) {
			defer s.relays.Done()
			if err != nil {
				s.Notify(notice.Notice{Code: notice.Stream, Step: t.call.Path,
					Message: fmt.Sprintf("cannot stream all output of step %s: %v; its log is complete", t.call.Path, err)})
			}
		}
	}}
}

// openFile opens the file that the output of the attempt is streamed to.
func (t *start) openFile() error {
	if t.Stream == nil || t.Stream.To != StreamToFile || t.Stream.File == nil {
		return nil
	}
	path, err := t.Stream.File.Text(t.scope)
	if err != nil {
		return place.BadInput(fmt.Errorf("cannot use output.file: %w", err))
	}
	path = t.frame.Resolve(t.dir, path)
	err = t.session.WithRights(t.confine, "write", func() (err error) {
		t.file, err = t.session.streamFile(path, t.call.Attempt)
		return err
	})
	if shortage(err) {
		return err
	}
	if err != nil {
		if file := new(fs.PathError); errors.As(err, &file) {
			err = file.Err
		}
		return place.CannotStart(126, "cannot stream the output of the step to %q: %v; create the folder, or change output.file", path, err)
	}
	return nil
}

// streamFile opens a file for streamed output. The first attempt of the run that opens it truncates
// it. Later attempts, other items of a loop, and later owners of the run append to it.
func (s *Session) streamFile(path string, attempt int) (*os.File, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("it is not a regular file")}
	}
	flags := os.O_WRONLY | os.O_CREATE | os.O_APPEND
	if !s.streamed[path] && attempt <= 1 && s.options.Epoch <= 1 {
		flags |= os.O_TRUNC
	}
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(0o600); err != nil { // the file may have existed
		f.Close()
		return nil, err
	}
	s.streamed[path] = true
	return f, nil
}

// waitForListeners waits until all streamed output was delivered, as long as the listeners make
// progress. A part that is missed makes a notice.
func (s *Session) waitForListeners(ctx context.Context) {
	all := make(chan struct{})
	go func() {
		s.relays.Wait()
		close(all)
	}()
	for {
		before := s.delivered.Load()
		select {
		case <-all:
			return
		case <-time.After(listenerTimeout):
			if s.delivered.Load() > before {
				continue
			}
		case <-ctx.Done():
		case <-s.options.Force:
		}
		select {
		case <-all:
			return
		case <-time.After(finalWait):
		}
		select {
		case <-all: // both are ready if the machine was busy
			return
		default:
		}
		s.Notify(notice.Notice{Code: notice.Stream, Message: "a receiver of streamed output was too slow and missed a part of it; the logs are complete"})
		return
	}
}
