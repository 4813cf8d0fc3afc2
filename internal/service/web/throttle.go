package web

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// freeGuesses is how many wrong tokens in a row an address may send before it is slowed
	// down. Each further one delays the response by another guessStep, up to maxGuessWait.
	freeGuesses  = 10
	guessStep    = 100 * time.Millisecond
	maxGuessWait = time.Second
	// forgetGuesses is the time without a wrong token after which the count of an address
	// restarts.
	forgetGuesses = time.Minute
	// maxGuessers is the maximum number of addresses that are remembered.
	maxGuessers = 4096
)

// throttle slows down addresses that send wrong tokens. It never delays a request with a valid
// token, because tokens are checked first. Safe for concurrent use.
type throttle struct {
	stopping <-chan struct{} // closed when the service begins to stop
	mu       sync.Mutex
	who      map[netip.Prefix]guesses
}

type guesses struct {
	wrong int
	last  time.Time
}

// wait records a wrong token and returns how long to delay the response.
func (b *throttle) wait(from netip.Prefix, now time.Time) time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	g := b.who[from]
	if now.Sub(g.last) > forgetGuesses {
		g.wrong = 0
	}
	g.wrong, g.last = g.wrong+1, now
	if b.who == nil || len(b.who) >= maxGuessers {
		b.who = map[netip.Prefix]guesses{}
	}
	b.who[from] = g
	return max(0, min(time.Duration(g.wrong-freeGuesses)*guessStep, maxGuessWait))
}

// delay delays the response to a request with a wrong token or proof, until the service stops.
func (b *throttle) delay(r *http.Request) {
	var from netip.Prefix
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		ip := a.Addr().Unmap().WithZone("")
		bits := ip.BitLen()
		if ip.Is6() {
			bits = 64 // a /64 is the network of one customer
		}
		from, _ = ip.Prefix(bits)
	}
	t := time.NewTimer(b.wait(from, time.Now()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	case <-b.stopping:
	}
}
