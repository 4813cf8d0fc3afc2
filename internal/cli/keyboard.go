package cli

import (
	"bytes"
	"io"
	"sync/atomic"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/console"
)

// screen is a writer to the terminal that also works while an interactive step has
// it: then line ends are for the writer to make whole.
type screen struct {
	to    io.Writer
	taken *atomic.Bool // an interactive step has the terminal
}

func (s *screen) Write(p []byte) (int, error) {
	text := p
	if s.taken.Load() {
		text = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if _, err := s.to.Write(text); err != nil {
		return 0, err
	}
	return len(p), nil
}

// streamed writes what steps stream to the console behind their names.
func streamed(p *console.Prefixer) func(flowrun.StreamChunk) {
	return func(c flowrun.StreamChunk) {
		text := c.Text
		if !bytes.HasSuffix(text, []byte("\n")) {
			text = append(bytes.Clone(text), '\n')
		}
		p.Step(string(c.Step)).Write(text) // who cannot see it can read the log
	}
}
