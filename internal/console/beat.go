package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// underWay is a step that runs, and holds no others.
type underWay struct {
	path    dag.ID
	attempt int
	since   time.Time
}

// census keeps the steps that run.
func (p *Plain) census(e dag.Event) {
	switch e.Kind {
	case dag.StepStarted:
		for _, outer := range e.Node.Holders() {
			p.leaves(outer)
		}
		p.leaves(e.Node)
		p.running = append(p.running, underWay{e.Node, e.Attempt, e.Time})
	case dag.StepExpanded, dag.StepRetrying, dag.StepWaiting, dag.StepFinished:
		p.leaves(e.Node)
	}
}

// leaves takes a step off the list.
func (p *Plain) leaves(path dag.ID) {
	path = path.WithoutTries()
	if i := slices.IndexFunc(p.running, func(r underWay) bool { return r.path.WithoutTries() == path }); i >= 0 {
		p.running = slices.Delete(p.running, i, i+1)
	}
}

// stoppable is how many running steps a cancel of the run, or of a step that holds
// others, stops: all but those that clean up.
func (p *Plain) stoppable(of dag.ID) (n int) {
	for _, r := range p.running {
		inside := of == "" || slices.Contains(r.path.Holders(), of)
		if inside && (p.scene.Lasting == nil || !p.scene.Lasting(string(r.path))) {
			n++
		}
	}
	return n
}

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
	for i, r := range p.running {
		if i == mostBeating {
			words = append(words, fmt.Sprintf("%d more", len(p.running)-mostBeating))
			break
		}
		words = append(words, fmt.Sprintf("%s (%s)", Clean(string(r.path)), seconds(max(now.Sub(r.since), 0))))
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
