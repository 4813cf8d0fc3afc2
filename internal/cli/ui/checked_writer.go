package ui

import (
	"fmt"
	"io"
	"sync"
)

// CheckedWriter is stdout. It remembers the first write that failed, so that a command whose result could not be written
// fails. Safe for concurrent use as far as To is.
type CheckedWriter struct {
	To  io.Writer
	mu  sync.Mutex // a step with streamed output writes from its own goroutine
	err error
}

func (d *CheckedWriter) Write(p []byte) (int, error) {
	n, err := d.To.Write(p)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("cannot write the output: %w", err)
	}
	return n, err
}

func (d *CheckedWriter) Unwrap() io.Writer { return d.To }

// Err returns the error of the first write that failed, or nil.
func (d *CheckedWriter) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
