package hooks

import (
	"sync"

	"github.com/flowrun/flowrun/internal/jsworld"
)

// maxOpen limits how many host calls of one call may be pending at once. Each may be a process,
// and their data is held in the memory of the program, not of the child.
const maxOpen = 1000

// open counts the pending host calls of a call and their bytes. Safe for concurrent use.
type open struct {
	mu           sync.Mutex
	count, bytes int
}

// take counts one more host call. It returns false if a limit would be exceeded.
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
