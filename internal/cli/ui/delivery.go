package ui

import (
	"fmt"
	"io"
	"sync"
)

// Delivery is stdout. It remembers the first write that failed, so that no command
// counts as a success whose result did not arrive: a full disk, a closed pipe.
type Delivery struct {
	To  io.Writer
	mu  sync.Mutex // a step that is followed live writes from its own goroutine
	err error
}

func (d *Delivery) Write(p []byte) (int, error) {
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

// Failed is why the result did not arrive, nil when it did.
func (d *Delivery) Failed() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}
