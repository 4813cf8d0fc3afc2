package output

import "sync"

// Counter counts what an attempt prints, up to a limit. A nil Counter has no limit.
type Counter struct {
	mu   sync.Mutex
	left int64
	over bool
	stop func() // stops the attempt; nil until it runs
}

// NewCounter returns a Counter of limit bytes, nil for 0: no limit.
func NewCounter(limit int64) *Counter {
	if limit == 0 {
		return nil
	}
	return &Counter{left: limit}
}

// take returns how many of the next n bytes are within the limit.
func (p *Counter) take(n int) int {
	if p == nil {
		return n
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	allowed := min(int64(n), p.left)
	p.left -= allowed
	if allowed < int64(n) && !p.over {
		p.over = true
		p.callStop()
	}
	return int(allowed)
}

func (p *Counter) callStop() {
	if p.over && p.stop != nil {
		p.stop()
	}
}

// WhenOver has stop called once the limit is exceeded.
func (p *Counter) WhenOver(stop func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = stop
	p.callStop()
}

// IsOver reports whether the limit was exceeded.
func (p *Counter) IsOver() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}
