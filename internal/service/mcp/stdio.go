package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// stdio is the transport over stdin and stdout: one message a line. It differs from that of
// the library in two ways. A line that is not a message is answered with an error, and the
// session continues. And the end of the input leaves the requests a while to be answered, so that a script can write
// its requests and close the pipe; then their calls are cancelled, because nobody may be left to hear of them.
type stdio struct {
	in   io.ReadCloser
	out  io.Writer
	conn *stdioConn // set by Connect
}

const (
	// maxLine limits one message of a client, in bytes. The arguments of a call are limited to
	// 1 MiB; the rest is for escapes and the envelope.
	maxLine = 4 << 20
	// maxRequests limits the requests of a client that have no answer yet.
	maxRequests = 2000
	// endGrace is how long requests may take after the end of the input.
	endGrace = 10 * time.Second
	// readerInterval is the interval of checking, after the end of the input, whether somebody still reads.
	readerInterval = 100 * time.Millisecond
)

// Connect implements mcp.Transport.
func (t *stdio) Connect(context.Context) (mcp.Connection, error) {
	c := &stdioConn{in: t.in, out: t.out, read: make(chan jsonrpc.Message), idle: make(chan struct{}), closed: make(chan struct{}),
		open: map[jsonrpc.ID]bool{}, asked: map[jsonrpc.ID]bool{}}
	t.conn = c
	go c.readLines()
	return c, nil
}

// stdioConn is a connection of stdio.
type stdioConn struct {
	in     io.ReadCloser
	read   chan jsonrpc.Message // closed at the end of the input
	closed chan struct{}
	close  sync.Once

	mu    sync.Mutex
	out   io.Writer
	open  map[jsonrpc.ID]bool // requests of the client without an answer
	asked map[jsonrpc.ID]bool // requests to the client without an answer
	fault error               // why nothing can be written any more
	idle  chan struct{}       // closed and replaced after each message to the client

	ended   bool               // the input has ended, and the grace is over; only Read uses it
	cancels []*jsonrpc.Request // cancellations that Read makes up then
}

// SessionID implements mcp.Connection.
func (c *stdioConn) SessionID() string { return "" }

// Close implements mcp.Connection.
func (c *stdioConn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.in.Close()
}

// Read implements mcp.Connection.
func (c *stdioConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, more := <-c.read:
		if !more {
			return c.atEnd(ctx)
		}
		return m, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-c.closed:
		return nil, io.EOF
	}
}

// atEnd returns what Read does after the end of the input: the requests that are not answered after the grace are
// cancelled as if the client had said so, since it can no longer. Nobody waits for the answers if nobody reads.
func (c *stdioConn) atEnd(ctx context.Context) (jsonrpc.Message, error) {
	if !c.ended {
		c.ended = true
		grace, cancel := context.WithTimeout(ctx, endGrace)
		c.drain(grace)
		cancel()
		c.cancels = c.cancelled()
	}
	if len(c.cancels) > 0 {
		m := c.cancels[0]
		c.cancels = c.cancels[1:]
		return m, nil
	}
	last, cancel := context.WithTimeout(ctx, lastAnswers)
	defer cancel()
	c.drain(last)
	return nil, io.EOF
}

// cancelled returns a cancellation for each request that is not answered.
func (c *stdioConn) cancelled() (list []*jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id := range c.open {
		params, err := json.Marshal(map[string]any{"requestId": id.Raw(), "reason": "the client closed its end"})
		if err == nil {
			list = append(list, &jsonrpc.Request{Method: "notifications/cancelled", Params: params})
		}
	}
	return list
}

// drain waits until every request is answered that still can be. A call that asks the client
// something cannot end after the end of the input.
func (c *stdioConn) drain(ctx context.Context) {
	look := time.NewTicker(readerInterval)
	defer look.Stop()
	for {
		busy, changed := c.busy()
		if !busy || readerGone(c.out) {
			return
		}
		select {
		case <-changed:
		case <-look.C:
		case <-ctx.Done():
			return
		case <-c.closed:
			return
		}
	}
}

// busy reports whether requests can still be answered. changed is closed when that may be different.
func (c *stdioConn) busy() (busy bool, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.open) > 0 && len(c.asked) == 0 && c.fault == nil, c.idle
}

// Write implements mcp.Connection.
func (c *stdioConn) Write(_ context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Request:
		if m.IsCall() {
			c.asked[m.ID] = true
		}
	case *jsonrpc.Response:
		delete(c.open, m.ID)
	}
	err = c.writeLine(text)
	close(c.idle)
	c.idle = make(chan struct{})
	return err
}

// writeLine writes one message. c.mu is held.
func (c *stdioConn) writeLine(text []byte) error {
	if c.fault == nil {
		_, c.fault = c.out.Write(append(text, '\n'))
	}
	return c.fault
}

// readLines reads messages until the end of the input.
func (c *stdioConn) readLines() {
	defer close(c.read)
	in := bufio.NewReaderSize(c.in, 64<<10)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, errLongLine) {
			return
		}
		if err == nil {
			err = c.accept(line)
		}
		if errors.Is(err, errGone) {
			return
		}
		if err != nil {
			c.refuse(err)
		}
	}
}

// errGone reports that the connection is closed.
var errGone = errors.New("closed")

// accept passes on the messages of one line. A batch, which older versions of the protocol
// allow, is read as its messages; each is answered by itself.
func (c *stdioConn) accept(line []byte) error {
	line = bytes.TrimSpace(diagnostic.WithoutMark(line))
	if len(line) == 0 {
		return nil
	}
	var batch []json.RawMessage
	if line[0] != '[' || json.Unmarshal(line, &batch) != nil {
		batch = []json.RawMessage{line}
	}
	if len(batch) == 0 {
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "the batch is empty"}
	}
	for _, one := range batch {
		m, err := c.message(one)
		if err != nil {
			c.refuse(err)
			continue
		}
		select {
		case c.read <- m:
		case <-c.closed:
			return errGone
		}
	}
	return nil
}

// message decodes one message and counts it.
func (c *stdioConn) message(text []byte) (jsonrpc.Message, error) {
	if !json.Valid(text) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "the line is not valid JSON; write one message a line"}
	}
	m, err := jsonrpc.DecodeMessage(text)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "not a message of JSON-RPC 2.0"}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch m := m.(type) {
	case *jsonrpc.Response:
		delete(c.asked, m.ID)
	case *jsonrpc.Request:
		switch {
		case !m.IsCall():
		case c.open[m.ID]:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: fmt.Sprintf("the id %v belongs to a request that is not answered yet", m.ID.Raw())}
		case len(c.open) >= maxRequests:
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many requests at once"}
		default:
			c.open[m.ID] = true
		}
	}
	return m, nil
}

// refuse answers a line that is not a message. The answer has no id, because the line may have
// none that can be trusted.
func (c *stdioConn) refuse(err error) {
	var known *jsonrpc.Error
	if !errors.As(err, &known) {
		known = &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: err.Error()}
	}
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": known})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_ = c.writeLine(text) // the next Write reports that nobody reads
}

// errLongLine reports a line that is longer than maxLine.
var errLongLine = fmt.Errorf("the message is longer than %d bytes", maxLine)

// readLine reads one line, also the last one without its end. A line that is too long is
// skipped.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long:
			return nil, errLongLine
		case err != nil && len(line) == 0:
			return nil, err
		}
		return line, nil
	}
}
