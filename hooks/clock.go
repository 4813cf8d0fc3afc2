package hooks

import (
	"sync"
	"time"
)

// clock measures how long a script has run. It stands while the script does nothing but
// wait for others: their time is not the script's.
type clock struct {
	mu    sync.Mutex
	left  time.Duration
	since time.Time
	timer *time.Timer
}

// newClock makes a clock that runs, and calls fire after limit.
func newClock(limit time.Duration, fire func()) *clock {
	return &clock{left: limit, since: time.Now(), timer: time.AfterFunc(limit, fire)}
}

func (c *clock) pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
	c.left -= time.Since(c.since)
}

func (c *clock) resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since = time.Now()
	c.timer.Reset(max(c.left, 0))
}
