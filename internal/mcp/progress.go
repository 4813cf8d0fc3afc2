package mcp

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/dag"
)

// progress sends one notification for each step that has ended. A client that reads slowly
// loses notifications, and does not delay the run.
type progress struct {
	messages chan string
	work     sync.WaitGroup
}

// maxQueued is how many notifications may wait for the client.
const maxQueued = 64

// newProgress returns nil if the client wants no notifications.
func newProgress(ctx context.Context, r request) *progress {
	if r.token == nil {
		return nil
	}
	p := &progress{messages: make(chan string, maxQueued)}
	p.work.Go(func() {
		sent := 0
		for message := range p.messages {
			sent++
			// The client may be gone; the call ends for another reason then.
			_ = r.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: r.token, Message: message, Progress: float64(sent)})
		}
	})
	return p
}

// Emit implements dag.Sink.
func (p *progress) Emit(e dag.Event) {
	if message := progressText(e); message != "" {
		select {
		case p.messages <- message:
		default:
		}
	}
}

// progressText returns what a client is told about an event; "" for nothing.
func progressText(e dag.Event) string {
	switch e.Kind {
	case dag.StepStarted:
		if e.Attempt > 1 {
			return fmt.Sprintf("%s: attempt %d", e.Node, e.Attempt)
		}
		return fmt.Sprintf("%s: started", e.Node)
	case dag.StepFinished:
		if e.Result != nil {
			return fmt.Sprintf("%s: %s", e.Node, e.Result.Status)
		}
	case dag.StepWaiting:
		return fmt.Sprintf("%s: waiting", e.Node)
	}
	return ""
}

// end sends what is left. A notification after the result would be a fault of the protocol.
func (p *progress) end() {
	if p != nil {
		close(p.messages)
		p.work.Wait()
	}
}
