package dag

import (
	"math/rand/v2"
	"time"
)

// Policy describes the attempts of a node. The zero Policy means one attempt, no time
// limit, and a failure that counts.
type Policy struct {
	Attempts int // retries after the first attempt
	Backoff  Backoff
	// RetryIf, if set, must return true before each retry. It is called by the goroutine
	// that owns the run. Attempts of the Result is set. It may change the Message of the
	// Result, to say why there is no retry.
	RetryIf  func(View, *Result) bool
	Repeat   *Repeat       // nil means that the node runs once
	Timeout  time.Duration // of each attempt; 0 means none
	Fallback Runner        // runs once after the last attempt has failed; its result becomes that of the node
	Tolerate bool          // a failure does not fail the run
}

// Backoff is the time between two attempts. The zero Backoff does not wait.
type Backoff struct {
	Delay  time.Duration // before the first retry
	Growth Growth
	Max    time.Duration // limit of one wait; 0 means none
	Jitter bool          // wait a random part of the time ("full jitter")
}

// Growth is how the wait grows from retry to retry.
type Growth uint8

const (
	Exponential Growth = iota // delay, 2 delay, 4 delay ...
	Linear                    // delay, 2 delay, 3 delay ...
	Constant                  // delay, delay ...
)

// backoff returns the time between two attempts, or between two rounds if reason says that
// the attempt ended a round.
func (p *Policy) backoff(reason string) Backoff {
	if reason == ReasonRepeat && p.Repeat != nil {
		return p.Repeat.Backoff
	}
	return p.Backoff
}

// maxUnboundedDelay limits an exponential wait without Max: doubling would overflow after a
// few dozen retries.
const maxUnboundedDelay = 24 * time.Hour

// maxDelay returns the longest wait before retry number n, which counts from 1.
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

// Wait returns how long to wait before retry number n, which counts from 1: maxDelay, or with
// Jitter a random part of it.
func (b Backoff) Wait(n int) time.Duration {
	if b.Jitter {
		return randomPart(b.maxDelay(n))
	}
	return b.maxDelay(n)
}

// atLeast returns the shortest wait before a retry that a result asks for.
func (b Backoff) atLeast(r *Result) time.Duration {
	after := time.Duration(r.RetryAfter) * time.Second
	if b.Max > 0 {
		return min(after, b.Max)
	}
	return after
}

// randomPart returns a random part of a wait.
func randomPart(wait time.Duration) time.Duration { return rand.N(wait + 1) }
