package serve

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/proc"
)

const (
	// maxConnections is how many TCP connections a service has open at once, whatever
	// the limits of the process allow.
	maxConnections = 1024
	// strangerIdle is how long a connection may idle on which no token was shown.
	strangerIdle = 3 * time.Second
	// arrivalTime is how long a connection on which a request is arriving is left alone
	// when a new connection needs its place: enough for a TLS handshake and a small
	// request from the same machine. arrivalPoll is how often such connections are
	// looked at when there are no others.
	arrivalTime = 50 * time.Millisecond
	arrivalPoll = 5 * time.Millisecond
)

// connLimit bounds the connections of the TCP listeners of a service, all together. When
// there is room for no more, it closes a connection of a stranger, which is anybody who
// has shown no token on it: of an address that has the most of them, so that one address
// cannot take the place of others, and there the one that is of the least use. So a
// newcomer gets in, and who holds a token is answered however many silent connections
// there are. Safe for concurrent use.
type connLimit struct {
	max   int
	mu    sync.Mutex
	open  []*limitedConn       // oldest first
	from  map[netip.Prefix]int // connections of strangers, by address
	freed chan struct{}        // has something after a connection was closed
}

// newConnLimit allows a quarter of the descriptors that the process may have.
func newConnLimit() *connLimit {
	return &connLimit{max: max(min(proc.MaxFiles()/4, maxConnections), 4), from: map[netip.Prefix]int{}, freed: make(chan struct{}, 1)}
}

// limitedListener is a listener whose connections are bounded.
type limitedListener struct {
	net.Listener
	limit *connLimit
}

// Accept waits for a connection, and makes room for it.
func (l limitedListener) Accept() (net.Conn, error) {
	for {
		c, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if lc := l.limit.admit(c); lc != nil {
			return lc, nil
		}
		c.Close()
	}
}

// limitedConn is a connection that counts.
type limitedConn struct {
	net.Conn
	limit  *connLimit
	from   netip.Prefix
	since  time.Time
	read   atomic.Bool // its goroutine has begun to read
	heard  atomic.Bool // something was read
	trusty bool        // a token was shown on it
	idle   *time.Timer // what closes it; nil while a request is under way
	closed bool
}

// Read notes that the other side has said something.
func (c *limitedConn) Read(b []byte) (int, error) {
	if !c.read.Load() {
		c.read.Store(true)
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.heard.Load() {
		c.heard.Store(true)
	}
	return n, err
}

// Close closes the connection and frees its place.
func (c *limitedConn) Close() error {
	c.limit.forget(c)
	return c.Conn.Close()
}

// admit counts a connection in; nil where there is no place for it.
func (l *connLimit) admit(c net.Conn) *limitedConn {
	for {
		l.mu.Lock()
		if len(l.open) < l.max {
			lc := &limitedConn{Conn: c, limit: l, from: sourceOf(c), since: time.Now()}
			l.open = append(l.open, lc)
			l.from[lc.from]++
			l.mu.Unlock()
			return lc
		}
		victim, wait := l.victim(time.Now())
		l.mu.Unlock()
		switch {
		case victim == nil:
			return nil
		case wait > 0:
			select {
			case <-l.freed:
			case <-time.After(min(wait, arrivalPoll)):
			}
		default:
			victim.Close()
		}
	}
}

// victim is the connection that makes room for a new one, and how long it is still to be
// left alone; nil where all are in use by holders of a token.
func (l *connLimit) victim(now time.Time) (_ *limitedConn, wait time.Duration) {
	most := 0
	for _, n := range l.from {
		most = max(most, n)
	}
	var found *limitedConn
	for _, c := range l.open {
		if !c.trusty && l.from[c.from] < most {
			continue
		}
		if found == nil || c.use() < found.use() {
			found = c
		}
	}
	switch {
	case found == nil || found.use() == inUse:
		return nil, 0
	case found.use() == arriving:
		wait = arrivalTime - now.Sub(found.since)
	}
	return found, max(wait, 0)
}

// The uses of a connection: the lower, the sooner it is closed for a new one.
const (
	answered = iota // a stranger's between two requests
	silent          // nothing has come on it
	arriving        // a stranger's request or handshake is under way, or was not looked at yet
	resting         // of a holder of a token, between two requests
	inUse           // by a holder of a token
)

func (c *limitedConn) use() int {
	switch {
	case c.trusty && c.idle == nil:
		return inUse
	case c.trusty:
		return resting
	case c.idle != nil:
		return answered
	case c.read.Load() && !c.heard.Load():
		return silent
	}
	return arriving
}

func (l *connLimit) forget(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	l.setIdle(c, 0)
	l.open = slices.DeleteFunc(l.open, func(other *limitedConn) bool { return other == c })
	l.leaveStrangers(c)
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// leaveStrangers takes the connection from the count of its address.
func (l *connLimit) leaveStrangers(c *limitedConn) {
	if c.trusty {
		return
	}
	if l.from[c.from]--; l.from[c.from] == 0 {
		delete(l.from, c.from)
	}
}

// setIdle closes the connection after a time without a request; 0 never does.
func (l *connLimit) setIdle(c *limitedConn, after time.Duration) {
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	if after > 0 {
		c.idle = time.AfterFunc(after, func() { c.Close() })
	}
}

// state is for http.Server.ConnState.
func (l *connLimit) state(conn net.Conn, s http.ConnState) {
	c := limitedOf(conn)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.closed:
	case s == http.StateIdle && c.trusty:
		l.setIdle(c, trustedIdle)
	case s == http.StateIdle:
		l.setIdle(c, strangerIdle)
	default:
		l.setIdle(c, 0)
	}
}

// connKey finds the connection of a request in its context.
type connKey struct{}

// context is for http.Server.ConnContext.
func (l *connLimit) context(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedOf(conn))
}

// trust notes that a request on the connection has shown a token.
func (l *connLimit) trust(ctx context.Context) {
	c, _ := ctx.Value(connKey{}).(*limitedConn)
	if c == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !c.trusty && !c.closed {
		l.leaveStrangers(c)
		c.trusty = true
	}
}

// limitedOf is the connection that counts beneath one of the server's; nil for a socket's.
func limitedOf(conn net.Conn) *limitedConn {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

// sourceOf is the address that a connection comes from: of IPv6 the network, which is
// one customer's.
func sourceOf(c net.Conn) netip.Prefix {
	a, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Prefix{}
	}
	ip := a.AddrPort().Addr().Unmap().WithZone("")
	bits := ip.BitLen()
	if ip.Is6() {
		bits = 64
	}
	p, _ := ip.Prefix(bits)
	return p
}
