package ui

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	minCounted      = 1000                   // fewer are processed too quickly to be counted
	counterInterval = 100 * time.Millisecond // between two updates
)

// Counter shows on a terminal how many of many things have been processed. Safe for concurrent use.
type Counter struct {
	to    io.Writer // nil if nothing is shown
	doing string

	mu   sync.Mutex
	last time.Time
}

// Counter returns a Counter on stderr. It shows nothing if stderr is not a terminal, or if animations
// are off. What is done is said in words such as "checking file".
func (t *Terminal) Counter(doing string) *Counter {
	c := &Counter{doing: doing, last: time.Now()}
	if !t.Completing && t.autoProgress() == "tty" {
		c.to = t.Stderr
	}
	return c
}

// Show shows that done of total have been processed. When all have, it removes the line.
func (c *Counter) Show(done, total int) {
	if c.to == nil || total < minCounted {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case done == total:
		fmt.Fprint(c.to, "\r\x1b[K")
	case time.Since(c.last) >= counterInterval:
		c.last = time.Now()
		fmt.Fprintf(c.to, "\r\x1b[K%s %d of %d", c.doing, done, total)
	}
}
