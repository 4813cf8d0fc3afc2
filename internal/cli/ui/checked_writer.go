package ui

import (
	"fmt"
	"io"
	"sync"
)

// CheckedWriter is stdout. It remembers the first write that failed, so that a command whose result
// could not be written fails, for example because of a full disk or a closed pipe. Safe for
// concurrent use as far as To is.
type CheckedWriter struct {
	To  io.Writer
	mu  sync.Mutex // a step with streamed output writes from its own goroutine
	err error
}

func (d *CheckedWriter) Write(p []byte) (int, error) {
	n, err := d.To.Write(p)
	if err != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.err == nil {
			d.err = fmt.Errorf("cannot write the output: %w", err)
		}
	}
	return n, err
}

// Unwrap returns the writer behind it.
func (d *CheckedWriter) Unwrap() io.Writer { return d.To }

// Err returns the error of the first write that failed, or nil.
func (d *CheckedWriter) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
