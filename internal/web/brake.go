package web

import (
	"net/http"
	"net/netip"
	"sync"
	"time"
)

const (
	// freeGuesses is how many wrong tokens in a row an address may show before it is
	// slowed down; each further one is answered later by guessStep, up to mostGuessWait.
	freeGuesses  = 10
	guessStep    = 100 * time.Millisecond
	maxGuessWait = time.Second
	// forgetGuesses is how long an address has to show no wrong token to begin anew.
	forgetGuesses = time.Minute
	// maxGuessers is how many addresses are remembered.
	maxGuessers = 4096
)

// brake slows down addresses that show wrong tokens. It never keeps a right one from
// being answered: that is looked at first. Safe for concurrent use.
type brake struct {
	mu  sync.Mutex
	who map[netip.Prefix]guesses
}

type guesses struct {
	wrong int
	last  time.Time
}

// wait notes a wrong token, and is how long its answer is to wait.
func (b *brake) wait(from netip.Prefix, now time.Time) time.Duration {
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

// slow holds up the answer to a request that has shown a wrong token or proof.
func (d *door) slow(r *http.Request) {
	var from netip.Prefix
	if a, err := netip.ParseAddrPort(r.RemoteAddr); err == nil {
		ip := a.Addr().Unmap().WithZone("")
		bits := ip.BitLen()
		if ip.Is6() {
			bits = 64 // the network of one customer
		}
		from, _ = ip.Prefix(bits)
	}
	t := time.NewTimer(d.brake.wait(from, time.Now()))
	defer t.Stop()
	select {
	case <-t.C:
	case <-r.Context().Done():
	case <-d.Stopping:
	}
}
