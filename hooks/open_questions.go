package hooks

import (
	"sync"

	"github.com/flowrun/flowrun/internal/jsworld"
)

// maxOpen is how many questions of one call may wait for an answer at once. Each may be a
// process, and all that it carries is held by the program and not by the child.
const maxOpen = 1000

// open counts the questions of a call that wait for an answer, and their bytes.
type open struct {
	mu           sync.Mutex
	count, bytes int
}

// take counts one more; false where that would be too many.
func (o *open) take(bytes int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count == maxOpen || o.bytes+bytes > jsworld.MaxFrame {
		return false
	}
	o.count++
	o.bytes += bytes
	return true
}

func (o *open) done(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count--
	o.bytes -= bytes
}
