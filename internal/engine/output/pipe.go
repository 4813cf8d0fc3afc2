package output

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/terminal"
)

// CloseTimeout is how long a step that has ended waits for a background process to close its
// output.
const CloseTimeout = 500 * time.Millisecond

const (
	// lagTimeout is how long it waits beyond that for what was printed and is not read yet: the machine may be busy, and
	// the terminal of a person slow. A background process may print without end.
	lagTimeout  = 10 * time.Second
	lagInterval = 5 * time.Millisecond
)

// pipe connects a process to its log file if it may print a secret. A goroutine copies until the
// last process has closed the other end.
type pipe struct {
	from source
	done chan struct{}

	recording atomic.Bool // what was read is being recorded

	file  *logFile
	mu    sync.Mutex
	users int    // users of the file: the copying goroutine, and the step until it has its Output
	raw   []byte // start of the output, with secrets; never leaves memory
	max   int64
	size  int64
	mask  *mask.Writer
	err   error // of writing to the file
	count *Counter

	// Of a terminal; see endAnswer and splitAnswered.
	newMask      func() *mask.Writer
	answered     *answered // nil: no answer was typed
	maskedBefore bool      // a secret was replaced before the last answer
	split        bool      // answers no longer matter
}

// source is the reading end of a pipe or a terminal.
type source interface {
	io.ReadCloser
	SetReadDeadline(time.Time) error // a time in the past ends a Read
}

// openPipe makes a pipe and starts copying from it. See copyFrom.
func (k *Keeper) openPipe(file *logFile, follow io.Writer, limit int64, count *Counter) (p *pipe, end *os.File, err error) {
	from, end, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create a pipe: %w", err)
	}
	return k.copyFrom(from, file, follow, limit, count), end, nil
}

// copyFrom starts copying into file and, if follow is not nil, to that writer too. limit is how
// many bytes are kept unmasked in memory. What count does not allow is dropped.
func (k *Keeper) copyFrom(from source, file *logFile, follow io.Writer, limit int64, count *Counter) *pipe {
	var to io.Writer = file.File
	if follow != nil {
		to = io.MultiWriter(file.File, &bestEffortWriter{to: follow})
	}
	newMask := func() *mask.Writer { return k.Mask.Writer(to) }
	p := &pipe{from: from, done: make(chan struct{}), file: file, users: 2, max: limit, mask: newMask(), newMask: newMask, count: count}
	k.mu.Lock()
	if k.pipes == nil {
		k.pipes = map[*pipe]struct{}{}
	}
	k.pipes[p] = struct{}{}
	k.mu.Unlock()
	k.copying.Go(func() {
		p.copy()
		k.mu.Lock()
		delete(k.pipes, p)
		k.mu.Unlock()
		p.release()
	})
	return p
}

// bestEffortWriter writes until the writer fails, and never returns an error: a failed follower
// must not prevent output from reaching the log.
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

// copy copies until the end of the stream.
func (p *pipe) copy() {
	defer close(p.done)
	buf := pipeBuffers.Get().(*[]byte)
	defer pipeBuffers.Put(buf)
	shown, _ := p.from.(*terminal.TTY)
	for {
		p.recording.Store(false)
		n, err := p.from.Read(*buf)
		p.recording.Store(true)
		piece := (*buf)[:n]
		if shown != nil && shown.AnswerEnd >= 0 {
			p.record(piece[:shown.AnswerEnd])
			p.endAnswer()
			piece = piece[shown.AnswerEnd:]
		}
		p.record(piece)
		if err != nil { // EOF, or abandon was called
			break
		}
	}
	p.mu.Lock()
	if p.count.IsOver() { // the mask holds back what may be the beginning of a secret
	} else if err := p.mask.Flush(); err != nil && p.err == nil {
		p.err = err
	}
	p.mu.Unlock()
	p.from.Close() // without the lock, because closing a terminal may take long
}

// record stores one piece of output. If the file cannot be written (disk full), it drops the output
// and copying continues, because the step must not block.
func (p *pipe) record(b []byte) {
	b = b[:p.count.take(len(b))]
	p.mu.Lock()
	defer p.mu.Unlock()
	p.size += int64(len(b))
	p.raw = p.addRaw(p.raw, b)
	if p.answered != nil {
		p.answered.size += int64(len(b))
		p.answered.raw = p.addRaw(p.answered.raw, b)
	}
	if p.err == nil {
		_, p.err = p.mask.Write(b)
	}
}

// addRaw appends as much of b as is kept in memory.
func (p *pipe) addRaw(raw, b []byte) []byte {
	return append(raw, b[:max(0, min(p.max-int64(len(raw)), int64(len(b))))]...)
}

// waitForEnd waits for the end of the stream until a time, and reports whether it came. What was printed before
// is read then.
func (p *pipe) waitForEnd(by time.Time) bool {
	pause := time.Until(by)
	for end := by.Add(lagTimeout); ; pause = lagInterval {
		select {
		case <-p.done:
			return true
		case <-time.After(pause):
		}
		if !p.lags() || time.Now().After(end) {
			break
		}
	}
	select {
	case <-p.done: // both are ready if the machine was busy
		return true
	default:
		return false
	}
}

// lags reports whether something was printed that is not read yet, or not recorded.
func (p *pipe) lags() bool {
	if p.recording.Load() {
		return true
	}
	switch from := p.from.(type) {
	case *terminal.TTY:
		return from.Lags()
	case *os.File:
		return terminal.Readable(from)
	}
	return false
}

// release closes the file when it has no users left.
func (p *pipe) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users == 0 {
		p.file.Close()
	}
}

// abandon ends the copying, because the run has ended.
func (p *pipe) abandon() { p.from.SetReadDeadline(time.Unix(1, 0)) }

// printed reports whether something was printed.
func (p *pipe) printed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.size > 0
}

// output returns what a Result contains of the stream so far, nil if nothing was printed.
func (p *pipe) output(w Limits) (*dag.Output, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil, fmt.Errorf("cannot write a log file: %w", p.err)
	}
	if p.size == 0 {
		return nil, nil
	}
	out := &dag.Output{Size: p.size, Truncated: p.size > w.Limit, Masked: p.maskedBefore || p.mask.Masked()}
	cut := p.count.IsOver() // maybe within a secret, of which the file has nothing
	if out.Masked || cut {  // the size before masking would reveal how long the secret is
		info, err := p.file.Stat()
		if err != nil {
			return nil, err
		}
		out.Size = info.Size()
	}
	raw := trimPartialRune(p.raw, p.size)
	if int64(len(raw)) < p.size {
		raw = p.mask.WithoutPartial(raw) // references read it, and the rest of a secret would not be recognized
	}
	out.Raw = string(raw)
	setDigest(out, raw, w)
	if !out.Masked && !cut && int64(len(out.Raw)) == p.size && p.size <= dag.InlineLimit {
		out.Inline = out.Raw
		return out, nil
	}
	inline, err := readHead(p.file.File, dag.InlineLimit)
	if err != nil {
		return nil, err
	}
	if len(inline) == dag.InlineLimit {
		inline = trimPartialRune(inline, dag.InlineLimit+1)
	}
	out.Inline = string(inline)
	return out, nil
}
