package ui

import (
	"bytes"
	"io"
	"sync/atomic"
)

// Screen is a writer to the terminal that also works while an interactive step has the terminal in
// raw mode: it then writes complete line ends (CR LF).
type Screen struct {
	To    io.Writer
	Taken *atomic.Bool // set while an interactive step has the terminal
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
