package web

import (
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// maxUnauthenticatedBytes is the memory limit, for all requests together, of bodies that are read
// before their sender is authenticated.
const maxUnauthenticatedBytes = 16 << 20

// bodyBudget bounds the memory of request bodies. When they exceed the limit together, the
// largest one is aborted, so that small bodies get through whatever others send. Safe for
// concurrent use.
type bodyBudget struct {
	max   int
	mu    sync.Mutex
	total int
	open  []*body // oldest first
}

// body is a body that is being read.
type body struct {
	size int
	stop func() // makes reading it fail
	over bool   // it was aborted, or has been read
}

// read reads a body to its end. busy reports that it was aborted in favour of others.
func (l *bodyBudget) read(r io.Reader, stop func()) (text []byte, busy bool, err error) {
	b := &body{stop: stop}
	l.mu.Lock()
	l.open = append(l.open, b)
	l.mu.Unlock()
	defer l.done(b)
	for {
		if len(text) == cap(text) {
			larger := max(4<<10, 2*cap(text))
			if !l.grow(b, larger) {
				return nil, true, nil
			}
			text = append(make([]byte, 0, larger), text...)
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		switch {
		case err == io.EOF:
			return text, false, nil
		case err != nil:
			return nil, l.givenUp(b), err
		}
	}
}

// grow sets the size of a body. It reports false if the body was aborted.
func (l *bodyBudget) grow(b *body, size int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if b.over {
		return false
	}
	l.total += size - b.size
	b.size = size
	for l.total > l.max {
		largest := b
		for _, other := range l.open {
			if !other.over && (largest.over || other.size > largest.size) {
				largest = other
			}
		}
		largest.over = true
		l.total -= largest.size
		if largest == b {
			return false
		}
		largest.stop()
	}
	return true
}

func (l *bodyBudget) givenUp(b *body) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return b.over
}

func (l *bodyBudget) done(b *body) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !b.over {
		l.total -= b.size
	}
	b.over = true
	l.open = slices.DeleteFunc(l.open, func(other *body) bool { return other == b })
}

// readUnauthenticated reads the body of a request whose sender is authenticated by the body.
func (br *bodyReader) readUnauthenticated(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	return br.readBy(w, r, func(in io.Reader) ([]byte, error) {
		text, busy, err := br.unauthenticated.read(in, func() {
			_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
		})
		if busy {
			p := refuse(503, "busy", "too many large requests at the same time", "try again in a moment")
			p.header = []string{"Connection", "close"}
			return nil, p
		}
		return text, err
	})
}
