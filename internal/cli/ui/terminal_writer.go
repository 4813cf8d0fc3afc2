package ui

import (
	"bytes"
	"io"
	"sync/atomic"
)

// TerminalWriter is a writer to the terminal that also works while an interactive step has the
// terminal in raw mode: it then writes complete line ends (CR LF).
type TerminalWriter struct {
	To  io.Writer
	Raw *atomic.Bool // set while an interactive step has the terminal
}

func (s *TerminalWriter) Write(p []byte) (int, error) {
	text := p
	if s.Raw.Load() {
		text = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if _, err := s.To.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}
