package serve

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// fakeConn is a connection from an address.
type fakeConn struct {
	net.Conn
	from   string
	closed bool
}

func (c *fakeConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}

func (c *fakeConn) Close() error { c.closed = true; return nil }

// TestConnLimit: which connection is closed for a new one.
func TestConnLimit(t *testing.T) {
	type made struct {
		from  string
		state string // silent, arriving, answered, resting, used
	}
	const a, b, c6, d6 = "192.0.2.1:1", "192.0.2.2:1", "[2001:db8::1]:1", "[2001:db8::2]:1"
	for name, c := range map[string]struct {
		open   []made
		from   string
		closed int // the index of the one that is closed, -1 where the new one is refused
	}{
		"the oldest of who has most":       {[]made{{b, "silent"}, {a, "silent"}, {a, "silent"}, {a, "silent"}}, b, 1},
		"an address has no more by itself": {[]made{{a, "silent"}, {a, "silent"}, {a, "silent"}, {b, "silent"}}, a, 0},
		"each address one":                 {[]made{{a, "silent"}, {b, "silent"}, {c6, "silent"}, {"192.0.2.3:1", "silent"}}, "192.0.2.4:1", 0},
		"a network of IPv6 is one":         {[]made{{a, "silent"}, {c6, "silent"}, {d6, "silent"}, {b, "silent"}}, a, 1},
		"answered before silent":           {[]made{{a, "silent"}, {a, "silent"}, {a, "answered"}, {a, "silent"}}, b, 2},
		"silent before arriving":           {[]made{{a, "arriving"}, {a, "arriving"}, {a, "silent"}, {a, "arriving"}}, b, 2},
		"strangers before holders":         {[]made{{a, "resting"}, {a, "used"}, {a, "resting"}, {b, "arriving"}}, a, 3},
		"a holder's that rests":            {[]made{{a, "used"}, {a, "resting"}, {a, "resting"}, {b, "used"}}, a, 1},
		"all in use":                       {[]made{{a, "used"}, {a, "used"}, {a, "used"}, {b, "used"}}, a, -1},
	} {
		t.Run(name, func(t *testing.T) {
			l := newConnLimit()
			l.max = 100
			var conns []*fakeConn
			for _, m := range c.open {
				f := &fakeConn{from: m.from}
				conns = append(conns, f)
				lc := l.admit(f)
				lc.since = time.Now().Add(-time.Minute)
				lc.reading.Store(true)
				lc.received.Store(m.state != "silent")
				if m.state == "used" || m.state == "resting" {
					enter(connContext(t.Context(), lc), users.Caller{Identity: users.Identity(fmt.Sprint(len(conns))), Role: users.Admin}, false)
				}
				if m.state == "answered" || m.state == "resting" {
					l.setIdle(lc, time.Hour)
				}
			}
			l.max = len(c.open)
			lc := l.admit(&fakeConn{from: c.from})
			if (lc == nil) != (c.closed < 0) {
				t.Errorf("admitted: %v", lc != nil)
			}
			for i, f := range conns {
				if f.closed != (i == c.closed) {
					t.Errorf("connection %d closed: %v", i, f.closed)
				}
			}
			for _, lc := range append([]*limitedConn(nil), l.open...) {
				lc.Close()
			}
			if len(l.open)+len(l.anonymous) != 0 {
				t.Errorf("left: %v, %v", l.open, l.anonymous)
			}
		})
	}
}

// TestShares: how many requests of callers at the same time get a place, and that a new connection always does.
func TestShares(t *testing.T) {
	type group struct {
		role            users.Role
		callers, each   int // each caller sends a request on so many connections
		places, streams int // how many of them get a place if their responses are documents, or streams
	}
	for name, groups := range map[string][]group{
		"one viewer":         {{users.Viewer, 1, 1600, 160, 64}, {users.Admin, 1, 10, 10, 10}},
		"one administrator":  {{users.Admin, 1, 1600, 160, 64}, {users.Viewer, 1, 10, 10, 10}},
		"many viewers":       {{users.Viewer, 1600, 1, 800, 800}, {users.Operator, 1, 10, 10, 10}, {users.Admin, 1, 10, 10, 10}},
		"many operators":     {{users.Operator, 1600, 1, 1200, 1200}, {users.Viewer, 1, 10, 0, 0}, {users.Admin, 1, 10, 10, 10}},
		"many tokens":        {{users.Admin, 1600, 1, 1500, 1500}, {users.Operator, 1, 10, 0, 0}},
		"share of each role": {{users.Viewer, 100, 5, 500, 500}, {users.Viewer, 1, 200, 160, 64}, {users.Operator, 1, 200, 160, 64}, {users.Admin, 1, 200, 160, 64}},
	} {
		for _, lasts := range []bool{false, true} {
			t.Run(fmt.Sprint(name, lasts), func(t *testing.T) {
				l := newConnLimit()
				l.max, l.share = 1600, 160
				ctx, end := context.WithCancel(t.Context())
				for n, g := range groups {
					got := 0
					for caller := range g.callers {
						who := users.Caller{Identity: users.Identity(fmt.Sprint(n, caller)), Role: g.role}
						for range g.each {
							c := l.admit(&fakeConn{from: "192.0.2.1:1"})
							if c == nil {
								t.Fatal("a new connection is refused")
							}
							c.since = time.Now().Add(-time.Minute)
							if enter(connContext(ctx, c), who, lasts) {
								got++
							} else {
								c.Close() // as after errBusy
							}
						}
					}
					if want := map[bool]int{false: g.places, true: g.streams}[lasts]; got != want {
						t.Errorf("group %d: %d requests have a place, want %d", n, got, want)
					}
				}
				if l.admit(&fakeConn{from: "192.0.2.2:1"}) == nil {
					t.Error("a health check is refused")
				}
				end()
				waittest.Until(t, "the end of the streams", func() bool { l.mu.Lock(); defer l.mu.Unlock(); return len(l.streams) == 0 }, func() any { return l.streams })
			})
		}
	}
}

// Programs of the owner on the Unix socket need not share, but streams leave room for others.
func TestSocketShares(t *testing.T) {
	l := newSocketLimit()
	l.max = 40
	owner := users.Caller{Identity: users.Owner, Role: users.Admin}
	streams := 0
	for range 30 {
		if c := l.admit(&fakeConn{from: "192.0.2.1:1"}); enter(connContext(t.Context(), c), owner, true) {
			streams++
		} else {
			c.Close()
		}
	}
	if streams != 20 {
		t.Errorf("%d streams", streams)
	}
	var last *limitedConn
	for range 20 {
		if last = l.admit(&fakeConn{from: "192.0.2.1:1"}); !enter(connContext(t.Context(), last), owner, false) {
			t.Error("a request has no place")
		}
	}
	next := make(chan *limitedConn)
	go func() { next <- l.admit(&fakeConn{from: "192.0.2.1:1"}) }()
	select {
	case <-next:
		t.Error("a connection too many is admitted")
	case <-time.After(50 * time.Millisecond):
	}
	last.Close()
	if c := <-next; c == nil {
		t.Error("a connection does not wait for another one to end")
	}
}
