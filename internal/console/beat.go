package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/fold"
)

// Pulse is a writer that knows when it was last written to. It is safe for concurrent
// use if its Writer is.
type Pulse struct {
	io.Writer
	mu   sync.Mutex
	last time.Time
}

// NewPulse makes a Pulse, as if it had just been written to.
func NewPulse(w io.Writer) *Pulse { return &Pulse{Writer: w, last: time.Now()} }

func (p *Pulse) Write(b []byte) (int, error) {
	p.mu.Lock()
	p.last = time.Now()
	p.mu.Unlock()
	return p.Writer.Write(b)
}

func (p *Pulse) silence() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.last)
}

// BeatEvery is after how long a silent run says that it goes on.
const BeatEvery = 30 * time.Second

// Beat has a line written that names what runs whenever nothing was written to w, where
// the Plain's own lines go too, for that long. It goes on until stop is called.
func (p *Plain) Beat(w *Pulse, every time.Duration) (stop func()) {
	quit, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		for {
			select {
			case <-quit:
				return
			case <-time.After(max(every-w.silence(), time.Millisecond)):
			}
			if w.silence() >= every {
				p.beat()
			}
		}
	}()
	return func() {
		close(quit)
		<-over
	}
}

// mostBeating is how many steps a line names.
const mostBeating = 5

func (p *Plain) beat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var words []string
	running := slices.SortedStableFunc(p.run.Root.Leaves(), func(a, b *fold.Step[reported]) int { return a.Since.Compare(b.Since) })
	for i, s := range running {
		if i == mostBeating {
			words = append(words, fmt.Sprintf("%d more", len(running)-mostBeating))
			break
		}
		words = append(words, fmt.Sprintf("%s (%s)", Clean(string(s.Path)), seconds(max(now.Sub(s.Since), 0))))
	}
	text := "still running: " + strings.Join(words, ", ")
	switch {
	case p.waits.what != "":
		text = fmt.Sprintf("still %s (%s in line)", Clean(p.waits.what), seconds(now.Sub(p.waits.since)))
	case len(words) == 0:
		text = "still waiting; nothing runs now"
	}
	p.line(dag.Event{Time: now}, dim, text)
}
