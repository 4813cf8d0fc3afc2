package dag

import (
	"math/rand/v2"
	"time"
)

// Policy says what happens around the tries of a node. The zero Policy is one
// try, no time limit, and a failure that counts.
type Policy struct {
	Attempts int // retries after the first try
	Backoff  Backoff
	// RetryIf, where set, must agree to a retry. It is called from the goroutine
	// that owns the run; the Result has Attempts filled in.
	RetryIf  func(View, *Result) bool
	Timeout  time.Duration // of each try; 0 is none
	Fallback Runner        // runs once after the last failed try; its result is the node's
	Tolerate bool          // a failure does not count
}

// Backoff is how long to wait before a retry. The zero Backoff does not wait.
type Backoff struct {
	Delay  time.Duration // before the first retry
	Growth Growth
	Max    time.Duration // bound of one wait; 0 is none
	Jitter bool          // wait a random part of the time ("full jitter")
}

// Growth is how waits grow from retry to retry.
type Growth uint8

const (
	Exponential Growth = iota // delay, 2 delay, 4 delay ...
	Linear                    // delay, 2 delay, 3 delay ...
	Constant                  // delay, delay ...
)

// maxUnboundedDelay bounds an exponential wait that nobody bounded: doubling would
// overflow after a few dozen retries.
const maxUnboundedDelay = 24 * time.Hour

// maxDelay is the longest time before retry number n, which counts from 1.
func (b Backoff) maxDelay(n int) time.Duration {
	limit := maxUnboundedDelay
	if b.Max > 0 {
		limit = b.Max
	}
	d := b.Delay
	switch b.Growth {
	case Exponential:
		for i := 1; i < n && 0 < d && d < limit; i++ {
			if d > limit/2 {
				d = limit
			} else {
				d *= 2
			}
		}
	case Linear:
		if n > int(limit/max(d, 1)) {
			d = limit
		} else {
			d *= time.Duration(n)
		}
	}
	return min(d, limit)
}

// withJitter is the part of a wait that jitter leaves of it. It is drawn when the wait is
// recorded: what is decided is the same whoever decides it.
func (b Backoff) withJitter(wait time.Duration) time.Duration {
	if !b.Jitter || wait <= 0 {
		return wait
	}
	return rand.N(wait + 1)
}

// next decides what follows a try that ended in r: another try, the fallback, a
// wait, or the end of the node.
func (p *Policy) next(v View, r *Result, inFallback, cancelled bool) Kind {
	switch {
	case r.Status == Waiting:
		return StepWaiting
	case r.Status != Failed && r.Status != TimedOut, cancelled, inFallback:
		return StepFinished
	case r.Attempts <= p.Attempts && !r.Permanent && (p.RetryIf == nil || p.RetryIf(v, r)):
		return StepRetrying
	case p.Fallback != nil:
		return StepFallback
	}
	return StepFinished
}
