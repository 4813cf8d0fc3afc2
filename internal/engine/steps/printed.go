package steps

import "sync"

// printed counts what an attempt prints, up to a limit. A nil printed has no limit.
type printed struct {
	mu   sync.Mutex
	left int64
	over bool
	stop func() // stops the attempt; nil until it runs
}

func newPrinted(limit int64) *printed {
	if limit == 0 {
		return nil
	}
	return &printed{left: limit}
}

// take returns how many of the next n bytes are within the limit.
func (p *printed) take(n int) int {
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

func (p *printed) callStop() {
	if p.over && p.stop != nil {
		p.stop()
	}
}

// whenOver has stop called once the limit is exceeded.
func (p *printed) whenOver(stop func()) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop = stop
	p.callStop()
}

// isOver reports whether the limit was exceeded.
func (p *printed) isOver() bool {
	if p == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.over
}
