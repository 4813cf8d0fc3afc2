package jsworld

import (
	"testing"
	"time"
)

// A clock works even if its timer fires too early, because the program was delayed when it
// started it. Otherwise a script would run without a limit.
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
