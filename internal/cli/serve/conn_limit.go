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

	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/service/users"
)

const (
	// maxConnections is how many TCP connections a service has open at the same time, even if the
	// limits of the process allow more. Unix sockets have as many of their own.
	maxConnections = 1024
	// maxStreams is how many streams one caller can have.
	maxStreams = 64
	// minShare is how many connections one caller can use, even if that is more than a tenth. A browser
	// uses six.
	minShare = 8
	// anonymousIdle is how long an unauthenticated connection may be idle.
	anonymousIdle = 3 * time.Second
	// arrivalTime protects a connection on which a request is arriving from being closed for a new
	// connection. It is enough for a TLS handshake and a small request, also on a busy machine. If
	// there are only such connections, they are checked every arrivalInterval.
	arrivalTime     = 500 * time.Millisecond
	arrivalInterval = 5 * time.Millisecond
)

// connLimit limits the number of connections over all TCP listeners of a service, or over all its Unix
// sockets. When the limit is reached, a new connection replaces an unauthenticated one, that is, one on
// which no token was sent. It chooses an address with the most of these connections, so that one address
// cannot displace others, and there the connection that is least useful. So new clients can always
// connect, and clients with a token are served no matter how many silent connections there are.
// Authenticated callers have shares (enter), so that none of them can displace the others either.
// Safe for concurrent use.
type connLimit struct {
	max       int
	share     int  // of the connections that one caller uses at the same time
	patient   bool // a new connection waits until another one has ended, and replaces none
	mu        sync.Mutex
	open      []*limitedConn         // oldest first
	anonymous map[netip.Prefix]int   // number of unauthenticated connections, by address
	streams   map[users.Identity]int // by caller
	freed     chan struct{}          // receives a value after a connection was closed
}

// newConnLimit returns a limit of a quarter of the file descriptors that the process may have, at
// most maxConnections. With one limit for TCP and one for Unix sockets, half of the descriptors are left
// to runs.
func newConnLimit() *connLimit {
	l := &connLimit{max: max(min(proc.MaxFiles()/4, maxConnections), 4), anonymous: map[netip.Prefix]int{}, streams: map[users.Identity]int{}, freed: make(chan struct{}, 1)}
	l.share = max(l.max/10, minShare)
	return l
}

// newSocketLimit returns the limit of Unix sockets. Their clients are programs of one user, who need not
// share with others. A request that has just arrived, such as a run that is handed over, is not given up for the next one.
func newSocketLimit() *connLimit {
	l := newConnLimit()
	l.patient = true
	return l
}

// placesFor returns how many connections may be in use when a caller with a role wants one more. The
// rest is for callers with more rights, and for those who are not authenticated, such as health checks.
func (l *connLimit) placesFor(r users.Role) int {
	switch r {
	case users.Admin:
		return l.max - max(l.max/16, 1)
	case users.Operator:
		return l.max * 3 / 4
	}
	return l.max / 2
}

// limitedListener is a listener whose connections are limited.
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

// limitedConn is a connection that counts towards the limit.
type limitedConn struct {
	net.Conn
	limit         *connLimit
	from          netip.Prefix
	since         time.Time
	reading       atomic.Bool    // its goroutine has started to read
	received      atomic.Bool    // something was received
	authenticated bool           // a token was sent on it
	used          bool           // an authenticated request is in progress, which has a place
	user          users.Identity // who has the place
	idle          *time.Timer    // closes the connection; nil while a request is in progress
	closed        bool
}

// Read reads, and notes whether anything was received.
func (c *limitedConn) Read(b []byte) (int, error) {
	if !c.reading.Load() {
		c.reading.Store(true)
	}
	n, err := c.Conn.Read(b)
	if n > 0 && !c.received.Load() {
		c.received.Store(true)
	}
	return n, err
}

// Close closes the connection and removes it from the limit.
func (c *limitedConn) Close() error {
	c.limit.remove(c)
	return c.Conn.Close()
}

// admit adds a connection, and closes another one if necessary. It returns nil if there is no room.
func (l *connLimit) admit(c net.Conn) *limitedConn {
	for {
		l.mu.Lock()
		if len(l.open) < l.max {
			lc := &limitedConn{Conn: c, limit: l, from: sourceOf(c), since: time.Now()}
			l.open = append(l.open, lc)
			l.anonymous[lc.from]++
			l.mu.Unlock()
			return lc
		}
		victim, wait := l.victim(time.Now())
		l.mu.Unlock()
		if l.patient {
			wait = arrivalInterval
		}
		switch {
		case victim == nil && !l.patient:
			return nil
		case wait > 0:
			select {
			case <-l.freed:
			case <-time.After(min(wait, arrivalInterval)):
			}
		default:
			victim.Close()
		}
	}
}

// victim returns the connection to close for a new one, and how long to wait before that. It
// returns nil if all connections are in use by authenticated callers.
func (l *connLimit) victim(now time.Time) (_ *limitedConn, wait time.Duration) {
	maxOfAddress := 0
	for _, n := range l.anonymous {
		maxOfAddress = max(maxOfAddress, n)
	}
	var found *limitedConn
	for _, c := range l.open {
		if !c.authenticated && l.anonymous[c.from] < maxOfAddress {
			continue
		}
		if found == nil || c.usage() < found.usage() {
			found = c
		}
	}
	switch {
	case found == nil || found.usage() == authenticatedActive:
		return nil, 0
	case found.usage() == anonymousActive:
		wait = arrivalTime - now.Sub(found.since)
	}
	return found, max(wait, 0)
}

// Uses of a connection. Connections with lower values are closed first.
const (
	anonymousIdling     = iota // unauthenticated, between two requests
	anonymousSilent            // unauthenticated, nothing received yet
	anonymousActive            // unauthenticated, with a request or handshake in progress or not yet read
	authenticatedIdling        // authenticated, between two requests, or with one that has no place
	authenticatedActive        // authenticated, with a request in progress that has a place
)

func (c *limitedConn) usage() int {
	switch {
	case c.used:
		return authenticatedActive
	case c.authenticated:
		return authenticatedIdling
	case c.idle != nil:
		return anonymousIdling
	case c.reading.Load() && !c.received.Load():
		return anonymousSilent
	}
	return anonymousActive
}

func (l *connLimit) remove(c *limitedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed {
		return
	}
	c.closed = true
	l.setIdle(c, 0)
	l.open = slices.DeleteFunc(l.open, func(other *limitedConn) bool { return other == c })
	l.removeAnonymous(c)
	select {
	case l.freed <- struct{}{}:
	default:
	}
}

// removeAnonymous removes the connection from the count of unauthenticated connections of its
// address.
func (l *connLimit) removeAnonymous(c *limitedConn) {
	if c.authenticated {
		return
	}
	if l.anonymous[c.from]--; l.anonymous[c.from] == 0 {
		delete(l.anonymous, c.from)
	}
}

// setIdle closes the connection after a time without a request; 0 means never. l.mu must be held.
func (l *connLimit) setIdle(c *limitedConn, after time.Duration) {
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	if after > 0 {
		c.used = false
		c.idle = time.AfterFunc(after, func() { c.Close() })
	}
}

// connState implements http.Server.ConnState.
func connState(conn net.Conn, s http.ConnState) {
	c := limitedOf(conn)
	if c == nil {
		return
	}
	l := c.limit
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case c.closed:
	case s == http.StateIdle && c.authenticated:
		l.setIdle(c, authenticatedIdle)
	case s == http.StateIdle:
		l.setIdle(c, anonymousIdle)
	default:
		l.setIdle(c, 0)
	}
}

// connKey is the key of a request's connection in its context.
type connKey struct{}

// connContext implements http.Server.ConnContext.
func connContext(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, limitedOf(conn))
}

// enter implements WebOptions.Enter: it reports whether there is a place for the request of an
// authenticated caller with that context.
func enter(ctx context.Context, who users.Caller, lasts bool) bool {
	c, _ := ctx.Value(connKey{}).(*limitedConn)
	return c == nil || c.limit.enter(ctx, c, who, lasts)
}

func (l *connLimit) enter(ctx context.Context, c *limitedConn, who users.Caller, lasts bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.closed || !c.used && !l.hasPlace(who) || lasts && l.streams[who.Identity] >= min(maxStreams, max(l.max/2, 1)) {
		return false
	}
	if lasts {
		l.streams[who.Identity]++
		context.AfterFunc(ctx, func() { l.endStream(who.Identity) })
	}
	if !c.authenticated {
		l.removeAnonymous(c)
		c.authenticated = true
	}
	c.used, c.user = true, who.Identity
	return true
}

// hasPlace reports whether a caller may use one more connection.
func (l *connLimit) hasPlace(who users.Caller) bool {
	if l.patient {
		return true // there are no other callers
	}
	all, own := 0, 0
	for _, o := range l.open {
		if o.used {
			all++
			if o.user == who.Identity {
				own++
			}
		}
	}
	return own < l.share && all < l.placesFor(who.Role)
}

func (l *connLimit) endStream(who users.Identity) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.streams[who]--; l.streams[who] == 0 {
		delete(l.streams, who)
	}
}

// limitedOf returns the limited connection below a connection of the server.
func limitedOf(conn net.Conn) *limitedConn {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	c, _ := conn.(*limitedConn)
	return c
}

// sourceOf returns the address that a connection comes from. For IPv6 it returns the /64 network,
// because that belongs to one customer.
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
