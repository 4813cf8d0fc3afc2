package jsworld

import (
	"sync"
	"time"
)

// Clock measures how long a script has run and enforces its time limit. It is paused while the
// script only waits for others, because their time does not count as the script's. Safe for
// concurrent use.
type Clock struct {
	fire func() // called once, when the limit is reached
	late func() // called when the script still runs Grace after that; may be nil

	mu    sync.Mutex
	runs  bool
	fired bool
	left  time.Duration // until fire is called, and then until late is called
	since time.Time     // when the clock was last started
	timer *time.Timer
}

// Grace is how long a script may take to stop after its time limit.
const Grace = 150 * time.Millisecond

// NewClock returns a running clock. It calls fire after limit, and late, if it is not nil, when
// Pause was not called within Grace of that.
func NewClock(limit time.Duration, fire, late func()) *Clock {
	c := &Clock{fire: fire, late: late, left: limit}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.tick)
	c.runs, c.since = true, time.Now()
	return c
}

// tick is called by the timer when the time is up. The timer may call it once more right after
// Pause.
func (c *Clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.runs:
	case time.Since(c.since) < c.left: // the timer was started a moment before since was set
		c.timer.Reset(c.left - time.Since(c.since))
	case !c.fired:
		c.fired = true
		c.fire()
		if c.late != nil {
			c.left, c.since = Grace, time.Now()
			c.timer.Reset(Grace)
		}
	case c.late != nil:
		c.late()
	}
}

func (c *Clock) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.runs = false
	c.left -= time.Since(c.since)
}

func (c *Clock) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runs, c.since = true, time.Now()
	c.timer.Reset(max(c.left, 0))
}
