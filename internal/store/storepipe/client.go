package storepipe

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/store/eventcode"
)

// ErrProtocol means that the other program does not serve its runs as this one expects.
var ErrProtocol = errors.New("the program that has the runs is of another release")

// ErrEnded means that the other program has ended. It has said why.
var ErrEnded = errors.New("the program that has the runs has ended")

var errNotHere = errors.New("runs of another engine are started and continued there")

// idleAfter is how long the other program stays without a request. What it has fetched for runs goes with it.
const idleAfter = 5 * time.Minute

// Client implements history.Store for the runs of another program. It is safe for concurrent use.
type Client struct {
	start func() (io.ReadWriteCloser, error)

	mu   sync.Mutex
	conn *conn // nil before the first request, and after an error
}

// NewClient returns the runs of a program, which start starts when they are first needed, and again after it has ended. It ends
// when nothing has been asked for some minutes.
func NewClient(start func() (io.ReadWriteCloser, error)) *Client { return &Client{start: start} }

// Close ends the other program.
func (c *Client) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		c.conn.program.Close()
	}
}

// conn is a connection to a program.
type conn struct {
	program io.ReadWriteCloser
	replies *json.Decoder
	ended   chan struct{} // closed when no more replies come

	mu      sync.Mutex
	encoder *json.Encoder
	last    uint64                // number of a request
	waiting map[uint64]chan reply // for their replies
	idle    *time.Timer           // ends the program
	retired bool                  // nothing is asked of it any more
}

// connect starts the program, or returns the connection to it.
func (c *Client) connect() (*conn, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil && c.conn.use() {
		return c.conn, nil
	}
	program, err := c.start()
	if err != nil {
		return nil, err
	}
	n := &conn{program: program, replies: json.NewDecoder(bufio.NewReader(program)), encoder: json.NewEncoder(program), ended: make(chan struct{}), waiting: map[uint64]chan reply{}}
	n.replies.UseNumber()
	var g greeting
	if err := n.replies.Decode(&g); err != nil || g.Protocol != protocol {
		program.Close()
		return nil, ErrProtocol
	}
	n.idle = time.AfterFunc(idleAfter, n.retire)
	go n.receive()
	c.conn = n
	return n, nil
}

// use reports whether requests can be sent. The program then stays for some minutes.
func (n *conn) use() bool {
	select {
	case <-n.ended:
		return false
	default:
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if !n.retired {
		n.idle.Reset(idleAfter)
	}
	return !n.retired
}

// retire ends the program, unless it has a request to answer.
func (n *conn) retire() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) > 0 {
		n.idle.Reset(idleAfter)
		return
	}
	n.retired = true
	n.program.Close()
}

// receive passes on replies until no more come.
func (n *conn) receive() {
	defer n.program.Close()
	defer n.idle.Stop()
	defer close(n.ended)
	for {
		var r reply
		if err := n.replies.Decode(&r); err != nil {
			return
		}
		n.mu.Lock()
		to := n.waiting[r.Number]
		delete(n.waiting, r.Number)
		n.mu.Unlock()
		if to != nil {
			to <- r
		}
	}
}

// call sends a request and waits for its reply.
func (c *Client) call(ctx context.Context, q request) (r reply, err error) {
	n, err := c.connect()
	if err != nil {
		return r, err
	}
	answer := make(chan reply, 1)
	n.mu.Lock()
	n.last++
	q.Number = n.last
	n.waiting[q.Number] = answer
	err = n.encoder.Encode(q)
	n.mu.Unlock()
	if err != nil {
		<-n.ended
		return r, ErrEnded
	}
	select {
	case r = <-answer:
		return r, r.err()
	case <-n.ended:
		return r, ErrEnded
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
}

// Begin implements history.Store.
func (c *Client) Begin(context.Context, *history.Record) (history.Ledger, error) {
	return nil, errNotHere
}

// Claim implements history.Store.
func (c *Client) Claim(context.Context, string, uint64) (history.Ledger, error) {
	return nil, errNotHere
}

// Record implements history.Store.
func (c *Client) Record(ctx context.Context, id string) (*history.Record, error) {
	r, err := c.call(ctx, request{Method: recordMethod, Run: id})
	if err != nil {
		return nil, err
	}
	if r.Record == nil || len(r.Texts) != len(r.Record.Sources) {
		return nil, fmt.Errorf("cannot read the record of run %s: the reply is not complete", id)
	}
	for i, text := range r.Texts {
		r.Record.Sources[i].Text = text
	}
	return r.Record, nil
}

// Info implements history.Store.
func (c *Client) Info(ctx context.Context, id string) (history.RunInfo, error) {
	list, err := c.list(ctx, request{Method: infoMethod, Run: id})
	if err == nil && len(list) != 1 {
		err = fmt.Errorf("cannot read the status of run %s: the reply is not complete", id)
	}
	if err != nil {
		return history.RunInfo{}, err
	}
	return list[0], nil
}

// Runs implements history.Store.
func (c *Client) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	return c.list(ctx, request{Method: runsMethod, Query: &q})
}

// list returns the runs of a reply.
func (c *Client) list(ctx context.Context, q request) ([]history.RunInfo, error) {
	r, err := c.call(ctx, q)
	for i := range r.Runs {
		r.Runs[i].Params = rawtext.DecodeMap(r.Runs[i].Params)
	}
	return r.Runs, err
}

// Events implements history.Store.
func (c *Client) Events(ctx context.Context, id string, after uint64) ([]dag.Event, error) {
	r, err := c.call(ctx, request{Method: eventsMethod, Run: id, After: after})
	if err != nil || len(r.Events) == 0 {
		return nil, err
	}
	return eventcode.Decode(nil, id, r.Events)
}

// Answer implements history.Store.
func (c *Client) Answer(ctx context.Context, id string, a history.Answer) error {
	_, err := c.call(ctx, request{Method: answerMethod, Run: id, Answer: &a})
	return err
}

// Cancel implements history.Store.
func (c *Client) Cancel(ctx context.Context, id, reason string) error {
	_, err := c.call(ctx, request{Method: cancelMethod, Run: id, Reason: reason})
	return err
}

// Queue implements history.Store.
func (c *Client) Queue(ctx context.Context) (history.Queue, error) {
	r, err := c.call(ctx, request{Method: queueMethod})
	return r.Queue, err
}

// State implements history.StateStore.
func (c *Client) State(context.Context, history.StateID) ([]history.StateValue, error) {
	return nil, errNotHere
}

// SetState implements history.StateStore.
func (c *Client) SetState(context.Context, []dag.StateChange) error { return errNotHere }

// StateHistory implements history.StateStore.
func (c *Client) StateHistory(context.Context, history.StateID, string) ([]history.StateValue, error) {
	return nil, errNotHere
}

// Artifact returns an artifact of a run as one of this machine, which stays until the Client is closed.
func (c *Client) Artifact(a dag.Artifact) (dag.Artifact, error) {
	r, err := c.call(context.Background(), request{Method: artifactMethod, Artifact: &a})
	if err == nil && r.Artifact == nil {
		err = errors.New("the reply has no artifact")
	}
	if err != nil {
		return a, err
	}
	return *r.Artifact, nil
}
