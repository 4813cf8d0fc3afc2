package program

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
)

// stream is one of the program's streams, and what was read from it.
type stream struct {
	name     string
	max      int
	from, to *os.File
	text     []byte // valid when done is closed
	done     chan struct{}
	stop     context.CancelCauseFunc // stops a program that prints too much
}

func newStream(name string, most int, stop context.CancelCauseFunc) (*stream, error) {
	from, to, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("cannot create a pipe: %w", err)
	}
	return &stream{name: name, max: most, from: from, to: to, stop: stop}, nil
}

// feed writes the program's input. It ends when the program has ended, read or not.
func (s *stream) feed(input []byte) {
	s.from.Close()
	if len(input) == 0 {
		s.to.Close()
		return
	}
	go func() {
		_, _ = s.to.Write(input) // the program need not read it
		s.to.Close()
	}()
}

// listen starts to read the stream.
func (s *stream) listen() {
	s.to.Close()
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		s.text, _ = io.ReadAll(io.LimitReader(s.from, int64(s.max)+1))
		if len(s.text) > s.max {
			s.stop(fmt.Errorf("it printed more than %d MB of %s", s.max>>20, s.name))
			s.from.Close() // so that the program does not block on writing
		}
	}()
}

// end waits for the rest of the output of a program that has exited.
func (s *stream) end() {
	if s.done == nil {
		return
	}
	s.from.SetReadDeadline(time.Now().Add(streamWait))
	select {
	case <-s.done:
	case <-time.After(2 * streamWait): // for pipes that do not support deadlines
		s.from.Close()
		<-s.done
	}
}

func (s *stream) close() {
	s.to.Close()
	s.from.Close()
}
