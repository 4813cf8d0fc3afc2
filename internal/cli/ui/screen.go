package ui

import (
	"bytes"
	"io"
	"sync/atomic"
)

// Screen is a writer to the terminal that also works while an interactive step has
// it: then line ends are for the writer to make whole.
type Screen struct {
	To    io.Writer
	Taken *atomic.Bool // an interactive step has the terminal
}

func (s *Screen) Write(p []byte) (int, error) {
	text := p
	if s.Taken.Load() {
		text = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if _, err := s.To.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
