package jsworld

import (
	"testing"
	"time"
)

// A clock whose timer comes too early, as the program was held up when it set it, fires
// all the same: a script would run without an end.
func TestClockFiresLate(t *testing.T) {
	fired := make(chan struct{})
	c := NewClock(10*time.Millisecond, func() { close(fired) }, nil)
	defer c.Pause()
	c.mu.Lock()
	c.startedAt = time.Now().Add(50 * time.Millisecond)
	c.mu.Unlock()
	select {
	case <-fired:
	case <-time.After(time.Minute):
		t.Fatal("the clock never fires")
	}
}
