package console

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
)

// ActivityWriter is a writer that records when it was last written to. It is safe for concurrent
// use: the lines of a run come from its event loop and from the steps that run beside it, and each
// is written whole.
type ActivityWriter struct {
	io.Writer
	mu   sync.Mutex
	last time.Time
}

// NewActivityWriter returns an ActivityWriter whose last write counts as now.
func NewActivityWriter(w io.Writer) *ActivityWriter {
	return &ActivityWriter{Writer: w, last: time.Now()}
}

func (p *ActivityWriter) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = time.Now()
	return p.Writer.Write(b)
}

func (p *ActivityWriter) silence() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Since(p.last)
}

// HeartbeatInterval is after how much silence a run reports that it is still running.
const HeartbeatInterval = 30 * time.Second

// Heartbeat writes a line with the running steps whenever nothing was written to w for the given
// time. The Plain must write to w too. It runs until stop is called; stop waits for it.
func (p *Plain) Heartbeat(w *ActivityWriter, every time.Duration) (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			case <-time.After(max(every-w.silence(), time.Millisecond)):
			}
			if w.silence() >= every {
				p.writeHeartbeat()
			}
		}
	}()
	return func() {
		close(quit)
		<-done
	}
}

// maxHeartbeatSteps is how many steps a heartbeat line names.
const maxHeartbeatSteps = 5

func (p *Plain) writeHeartbeat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	var words []string
	running := slices.SortedStableFunc(p.run.Root.Leaves(), func(a, b *fold.Step[loopProgress]) int { return a.Since.Compare(b.Since) })
	for i, s := range running {
		if i == maxHeartbeatSteps {
			words = append(words, fmt.Sprintf("%d more", len(running)-maxHeartbeatSteps))
			break
		}
		words = append(words, fmt.Sprintf("%s (%s)", Clean(string(s.Path)), seconds(max(now.Sub(s.Since), 0))))
	}
	text := "still running: " + strings.Join(words, ", ")
	switch {
	case p.queued.waitsFor != "":
		text = fmt.Sprintf("still %s (%s in the queue)", Clean(p.queued.waitsFor), seconds(now.Sub(p.queued.since)))
	case len(words) == 0:
		text = "still waiting; no step is running"
	}
	p.line(dag.Event{Time: now}, dim, text)
}
