package steps

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/mask"
)

// outputTimeout is how long a step that has ended waits for a process it left behind
// to let go of its output.
const outputTimeout = 500 * time.Millisecond

// pipe stands between a process and its log file where a secret might be printed.
// A goroutine copies until the last process that holds the other end is gone.
type pipe struct {
	from source
	done chan struct{}

	mu    sync.Mutex
	users int    // who needs the file: the copying, and the step until it has its Output
	raw   []byte // the beginning, secrets and all; never leaves memory
	max   int64
	size  int64
	mask  *mask.Writer
	err   error // of writing the file
}

// source is where a pipe's bytes come out.
type source interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error // one in the past ends a Read
}

// openPipe makes a pipe and starts copying from it; see copyFrom.
func (s *Session) openPipe(file *logFile, follow io.Writer, limit int64) (p *pipe, end *os.File, err error) {
	from, end, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a pipe: %w", err)
	}
	return s.copyFrom(from, file, follow, limit), end, nil
}

// copyFrom starts copying into file and, if somebody follows, to another writer.
// most is how much of what is printed is remembered as it is.
func (s *Session) copyFrom(from source, file *logFile, follow io.Writer, limit int64) *pipe {
	var to io.Writer = file.File
	if follow != nil {
		to = io.MultiWriter(file.File, &bestEffortWriter{to: follow})
	}
	p := &pipe{from: from, done: make(chan struct{}), users: 2, max: limit, mask: s.mask.Writer(to)}
	s.mu.Lock()
	s.pipes[p] = struct{}{}
	s.mu.Unlock()
	s.copying.Go(func() {
		p.copy()
		s.mu.Lock()
		delete(s.pipes, p)
		s.mu.Unlock()
		p.release(file)
	})
	return p
}

// bestEffortWriter writes for as long as the writer takes it, and never fails: following
// is no reason to lose what belongs into the file.
type bestEffortWriter struct {
	to     io.Writer
	failed bool
}

func (c *bestEffortWriter) Write(b []byte) (int, error) {
	if !c.failed {
		_, err := c.to.Write(b)
		c.failed = err != nil
	}
	return len(b), nil
}

var pipeBuffers = sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}

func (p *pipe) copy() {
	defer close(p.done)
	buf := pipeBuffers.Get().(*[]byte)
	defer pipeBuffers.Put(buf)
	for {
		n, err := p.from.Read(*buf)
		p.record((*buf)[:n])
		if err != nil { // EOF, or abandoned
			break
		}
	}
	p.mu.Lock()
	if err := p.mask.Flush(); err != nil && p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.from.Close() // not under the lock: a terminal may take its time
}

// record keeps one piece. When the file cannot be written (a full disk) reading goes
// on: the step must not block for it.
func (p *pipe) record(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size += int64(len(b))
	if room := p.max - int64(len(p.raw)); room > 0 {
		p.raw = append(p.raw, b[:min(room, int64(len(b)))]...)
	}
	if p.err == nil {
		_, p.err = p.mask.Write(b)
	}
}

// waitForEnd waits for the end of the stream and says whether it came in time.
func (p *pipe) waitForEnd(by time.Time) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(time.Until(by)):
	}
	select {
	case <-p.done: // both, on a machine that was busy with something else
		return true
	default:
		return false
	}
}

// release closes the file when nobody needs it any more.
func (p *pipe) release(file *logFile) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 {
		file.Close()
	}
}

// abandon ends the copying: the run is over.
func (p *pipe) abandon() { p.from.SetReadDeadline(time.Unix(1, 0)) }

// output is what a Result says of the stream so far.
func (p *pipe) output(file *logFile, w outputLimits) (*dag.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, fmt.Errorf("cannot write a log file: %w", p.err)
	}
	if p.size == 0 {
		return nil, nil
	}
	out := &dag.Output{Size: p.size, Truncated: p.size > w.limit, Masked: p.mask.Masked()}
	if out.Masked { // the size of what was printed would tell how long the secret is
		info, err := file.Stat()
		if err != nil {
			return nil, err
		}
		out.Size = info.Size()
	}
	raw := trimPartialRune(p.raw, p.size)
	out.Raw = string(raw)
	setDigest(out, raw, w)
	if !out.Masked && int64(len(out.Raw)) == p.size && p.size <= dag.InlineLimit {
		out.Inline = out.Raw
		return out, nil
	}
	inline, err := readHead(file.File, dag.InlineLimit)
	if err != nil {
		return nil, err
	}
	if len(inline) == dag.InlineLimit {
		inline = trimPartialRune(inline, dag.InlineLimit+1)
	}
	out.Inline = string(inline)
	return out, nil
}
