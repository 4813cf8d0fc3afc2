package jsworld

import (
	"sync"
	"time"
)

// Clock measures how long a script has run and enforces its time limit. It is paused while the
// script only waits for others, because their time does not count as the script's. Safe for
// concurrent use.
type Clock struct {
	onTimeout func() // called once, when the limit is reached
	onOverdue func() // called when the script still runs Grace after that; may be nil

	mu        sync.Mutex
	running   bool
	fired     bool
	remaining time.Duration // until onTimeout is called, and then until onOverdue is
	startedAt time.Time     // when the clock was last started
	timer     *time.Timer
}

// Grace is how long a script may take to stop after its time limit.
const Grace = 150 * time.Millisecond

// NewClock returns a running clock. It calls onTimeout after limit, and onOverdue, if it is not
// nil, when Pause was not called within Grace of that.
func NewClock(limit time.Duration, onTimeout, onOverdue func()) *Clock {
	c := &Clock{onTimeout: onTimeout, onOverdue: onOverdue, remaining: limit}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.tick)
	c.running, c.startedAt = true, time.Now()
	return c
}

// tick is called by the timer when the time is up. The timer may call it once more right after
// Pause.
func (c *Clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.running:
	case time.Since(c.startedAt) < c.remaining: // the timer was started a moment before startedAt was set
		c.timer.Reset(c.remaining - time.Since(c.startedAt))
	case !c.fired:
		c.fired = true
		c.onTimeout()
		if c.onOverdue != nil {
			c.remaining, c.startedAt = Grace, time.Now()
			c.timer.Reset(Grace)
		}
	case c.onOverdue != nil:
		c.onOverdue()
	}
}

// Pause stops the clock. Call it only while the clock is running.
func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.running = false
	c.remaining -= time.Since(c.startedAt)
}

// Resume starts the clock again after Pause.
func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.startedAt = true, time.Now()
	c.timer.Reset(max(c.remaining, 0))
}
