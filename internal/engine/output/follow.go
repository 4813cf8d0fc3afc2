package output

import (
	"io"
	"os"
	"sync"
	"time"
)

// How often a followed file is checked: often at first and while it grows, less often otherwise.
const (
	followSoon  = 20 * time.Millisecond
	followLater = 100 * time.Millisecond
)

// follower copies what is added to a file to a writer, while the step runs.
type follower struct {
	file *os.File
	to   io.Writer
	end  func() // called after everything was copied; may be nil
	stop chan struct{}
	done chan struct{}
}

var followBuffers = sync.Pool{New: func() any { b := make([]byte, 256<<10); return &b }}

func follow(f *os.File, to io.Writer) *follower { return followTo(f, to, nil) }

func followTo(f *os.File, to io.Writer, end func()) *follower {
	w := &follower{file: f, to: to, end: end, stop: make(chan struct{}), done: make(chan struct{})}
	go w.run()
	return w
}

func (w *follower) run() {
	defer close(w.done)
	if w.end != nil {
		defer w.end()
	}
	var at int64
	pause := followSoon
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-w.stop:
			w.drain(at)
			return
		case <-timer.C:
		}
		next, ok := w.drain(at)
		if !ok {
			return
		}
		if pause = min(2*pause, followLater); next > at {
			pause = followSoon
		}
		at = next
		timer.Reset(pause)
	}
}

// drain copies from offset at to the current end of the file. ok is false if reading or writing
// failed. Then following ends, but the step does not fail.
func (w *follower) drain(at int64) (next int64, ok bool) {
	buf := followBuffers.Get().(*[]byte)
	defer followBuffers.Put(buf)
	for {
		n, err := w.file.ReadAt(*buf, at)
		if n > 0 {
			if _, err := w.to.Write((*buf)[:n]); err != nil {
				return at, false
			}
			at += int64(n)
		}
		if err != nil {
			return at, err == io.EOF
		}
	}
}

// finish copies the rest and then returns.
func (w *follower) finish() {
	close(w.stop)
	<-w.done
}

// finished reports whether everything was copied, after finish or finishBy.
func (w *follower) finished() bool {
	select {
	case <-w.done:
		return true
	default:
		return false
	}
}

// finishBy copies the rest too, but returns at time t at the latest. Copying then continues in the
// background.
func (w *follower) finishBy(t time.Time) {
	close(w.stop)
	select {
	case <-w.done:
	case <-time.After(time.Until(t)):
	}
}
