package mcpclient

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// pipes is the connection to a program: one message a line. It differs from that of the library in
// what it survives: lines that are not messages are skipped, because some servers print notes to
// stdout, a byte order mark may come before a message, and a message cannot be larger than maxMessage.
type pipes struct {
	from, to *os.File
	messages chan jsonrpc.Message // closed when nothing more can be read
	closed   chan struct{}        // closed when the connection has ended
	once     sync.Once

	writing sync.Mutex
	mu      sync.Mutex
	gone    bool  // the program ended the connection, or does not take part in it any more
	fault   error // what flowrun cannot accept
}

func newPipes(from, to *os.File) *pipes {
	p := &pipes{from: from, to: to, messages: make(chan jsonrpc.Message), closed: make(chan struct{})}
	go p.readLines()
	return p
}

// SessionID implements mcp.Connection.
func (p *pipes) SessionID() string { return "" }

// Read implements mcp.Connection.
func (p *pipes) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m, ok := <-p.messages:
		if !ok {
			return nil, io.EOF
		}
		return m, nil
	case <-p.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Write implements mcp.Connection. If the program does not read, it ends with ctx.
func (p *pipes) Write(ctx context.Context, m jsonrpc.Message) error {
	text, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	stop := context.AfterFunc(ctx, func() { p.to.SetWriteDeadline(time.Now()) })
	defer stop()
	if _, err := p.to.Write(append(text, '\n')); err != nil {
		p.lose(nil) // part of the message may have been written
		return fmt.Errorf("it does not read its input: %w", err)
	}
	return nil
}

// Close implements mcp.Connection. The process closes the files.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.to.Close()
}

// lose ends the connection because of the program. Nothing happens if flowrun has ended it before.
func (p *pipes) lose(why error) {
	select {
	case <-p.closed:
		return
	default:
	}
	p.mu.Lock()
	p.gone = true
	if errors.Is(why, errLarge) {
		p.fault = why
	}
	p.mu.Unlock()
	p.Close()
}

// isGone reports whether the connection ended because of the program.
func (p *pipes) isGone() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.gone
}

// failure returns what flowrun could not accept, or nil.
func (p *pipes) failure() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.fault
}

// errLarge reports a message that is larger than maxMessage.
var errLarge = fmt.Errorf("it sent a message larger than %d MiB", maxMessage>>20)

// readLines reads messages until the end of the output.
func (p *pipes) readLines() {
	defer close(p.messages)
	in := bufio.NewReaderSize(p.from, 64<<10)
	for {
		line, err := limitedLine(in)
		if err != nil {
			p.lose(err)
			return
		}
		m, err := jsonrpc.DecodeMessage(readable(line))
		if err != nil {
			continue
		}
		select {
		case p.messages <- m:
		case <-p.closed:
			return
		}
	}
}

// limitedLine reads one line of at most maxMessage bytes.
func limitedLine(in *bufio.Reader) (line []byte, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if len(line)+len(part) > maxMessage {
			return nil, errLarge
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return nil, io.EOF // a last line without its end was cut
		}
		return line, nil
	}
}
