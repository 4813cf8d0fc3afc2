package jsrun

import (
	"sync"

	"github.com/flowrun/flowrun/internal/js/jsworld"
)

// maxPendingCalls limits how many host calls of one call may be pending at once. Each may be a
// process, and their data is held in the memory of the program, not of the child.
const maxPendingCalls = 1000

// pendingCalls counts the pending host calls of a call and their bytes. Safe for concurrent use.
type pendingCalls struct {
	mu           sync.Mutex
	count, bytes int
}

// add counts one more host call. It returns false if a limit would be exceeded.
func (o *pendingCalls) add(bytes int) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.count == maxPendingCalls || o.bytes+bytes > jsworld.MaxFrame {
		return false
	}
	o.count++
	o.bytes += bytes
	return true
}

func (o *pendingCalls) remove(bytes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count--
	o.bytes -= bytes
}
