package serve

import (
	"net"
	"net/netip"
	"testing"
	"time"
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
			l.max = len(c.open)
			var conns []*fakeConn
			for _, m := range c.open {
				f := &fakeConn{from: m.from}
				conns = append(conns, f)
				lc := l.admit(f)
				lc.since = time.Now().Add(-time.Minute)
				lc.reading.Store(true)
				lc.received.Store(m.state != "silent")
				if m.state == "used" || m.state == "resting" {
					l.markAuthenticated(l.connContext(t.Context(), lc))
				}
				if m.state == "answered" || m.state == "resting" {
					l.setIdle(lc, time.Hour)
				}
			}
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
