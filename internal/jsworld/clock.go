package jsworld

import (
	"sync"
	"time"
)

// Clock measures how long a script has run. It stands while the script does nothing but
// wait for others: their time is not the script's.
type Clock struct {
	fire func() // called once, after the limit
	late func() // called when the script has not ended grace after that; nil: nothing is

	mu    sync.Mutex
	runs  bool
	fired bool
	left  time.Duration // until fire, or late
	since time.Time     // it runs
	timer *time.Timer
}

// Grace is how long a script that must end may take to do so by itself.
const Grace = 150 * time.Millisecond

// NewClock makes a clock that runs.
func NewClock(limit time.Duration, fire, late func()) *Clock {
	c := &Clock{fire: fire, late: late, left: limit}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer = time.AfterFunc(limit, c.tick)
	c.runs, c.since = true, time.Now()
	return c
}

// tick is called when the time is up, and perhaps once more right after the clock was stopped.
func (c *Clock) tick() {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.runs:
	case time.Since(c.since) < c.left: // the timer was set before the time was taken
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
