package mcp

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// news sends notifications about a call to its client, in order. A client that reads slowly loses
// some of them, and does not delay the run.
type news struct {
	request
	queue chan func(context.Context)
	work  sync.WaitGroup
	steps float64 // notifications of progress so far; only the queue's goroutine uses it
}

// maxQueued is how many notifications may wait for the client.
const maxQueued = 64

// newNews starts to send notifications. end stops it.
func newNews(ctx context.Context, r request) *news {
	n := &news{request: r, queue: make(chan func(context.Context), maxQueued)}
	n.work.Go(func() {
		for send := range n.queue {
			send(ctx)
		}
	})
	return n
}

// add queues a notification. The client may be gone; the call ends for another reason then, so
// errors are ignored.
func (n *news) add(send func(context.Context)) {
	select {
	case n.queue <- send:
	default:
	}
}

// end sends what is left. A notification after the result would be a fault of the protocol. It does
// not wait for a client that does not read when the call was cancelled, because no result follows.
func (n *news) end(ctx context.Context) {
	close(n.queue)
	sent := make(chan struct{})
	go func() {
		n.work.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-ctx.Done():
	}
}

// Emit implements dag.Sink: a client that asked for progress gets a notification for each step.
func (n *news) Emit(e dag.Event) {
	if message := progressText(e); message != "" && n.token != nil {
		n.notify(message)
	}
}

// progress passes on how far a step is, such as one that calls a tool of another server.
func (n *news) progress(p steps.Progress) { n.notify(fmt.Sprintf("%s: %s", p.Step, p)) }

// notify sends a notification of progress. Its number must grow, so it counts the notifications.
func (n *news) notify(message string) {
	n.add(func(ctx context.Context) {
		n.steps++
		_ = n.session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: n.token, Message: message, Progress: n.steps})
	})
}

// log sends what a step streams to the console as messages of the log. Clients choose the level.
func (n *news) log(c steps.Chunk) {
	text, step := string(c.Text), string(c.Step)
	n.add(func(ctx context.Context) {
		for line := range strings.Lines(text) {
			//lint:ignore SA1019 clients of older versions of the protocol have no other log
			_ = n.session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: step, Data: strings.TrimRight(line, "\r\n")})
		}
	})
}

// progressText returns what a client reads about an event; "" for nothing.
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
