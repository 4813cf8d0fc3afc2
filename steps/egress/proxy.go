package egress

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// Limits of a proxy. A step that opens more connections waits until it closes some: each costs this process
// six descriptors.
const (
	maxConnections = 128
	maxHeader      = 64 << 10
	headerTimeout  = 30 * time.Second
	idleTimeout    = 2 * time.Minute
	dialTimeout    = 30 * time.Second
)

// proxy serves one namespace.
type proxy struct {
	limitednet.Egress
	ctx      context.Context // ends with the proxy
	server   http.Server
	forward  httputil.ReverseProxy
	resolver *net.Resolver // nil: the default
	slots    chan struct{}
	work     sync.WaitGroup // connections of the server, and tunnels
}

// Serve serves a namespace until stop is called, which closes the listeners and all connections.
// flowrun.Config.Egress takes it.
func Serve(e limitednet.Egress) (stop func()) { return serve(e, nil) }

func serve(e limitednet.Egress, names *net.Resolver) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	quiet := log.New(io.Discard, "", 0)
	p := &proxy{Egress: e, ctx: ctx, resolver: names, slots: make(chan struct{}, maxConnections)}
	// Connections are not kept for another request: net/http prints what a server sends on one that is idle.
	transport := &http.Transport{DialContext: p.dialPlain, DisableCompression: true, DisableKeepAlives: true}
	p.forward = httputil.ReverseProxy{Rewrite: rewrite, Transport: transport, FlushInterval: -1, ErrorLog: quiet,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) }}
	p.server = http.Server{Handler: p, ErrorLog: quiet, MaxHeaderBytes: maxHeader, ReadHeaderTimeout: headerTimeout, IdleTimeout: idleTimeout, DisableGeneralOptionsHandler: true,
		BaseContext: func(net.Listener) context.Context { return ctx }, ConnState: p.count}
	var serving sync.WaitGroup
	serving.Go(func() { p.server.Serve(&limited{e.Proxy, p}) })
	for _, f := range e.Forwards {
		serving.Go(func() { p.serveForward(f) })
	}
	return func() {
		cancel()
		p.server.Close()
		for _, f := range e.Forwards {
			f.Close()
		}
		serving.Wait()
		p.work.Wait()
	}
}

// count counts the connections that the server works for.
func (p *proxy) count(_ net.Conn, s http.ConnState) {
	switch s {
	case http.StateNew:
		p.work.Add(1)
	case http.StateHijacked, http.StateClosed:
		p.work.Done()
	}
}

// ServeHTTP answers one request of a program in the namespace.
func (p *proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case !p.knows(r):
		w.Header().Set("Proxy-Authenticate", `Basic realm="flowrun"`)
		w.Header().Set("Connection", "close")
		http.Error(w, "flowrun: this proxy is for the steps of one run; its password is in HTTP_PROXY", http.StatusProxyAuthRequired)
	case r.Method == http.MethodConnect:
		p.connect(w, r)
	case r.URL.Scheme != "http" || r.URL.Host == "":
		http.Error(w, "flowrun: this is a proxy: it takes CONNECT, and requests with an absolute address that begins with http://", http.StatusBadRequest)
	default:
		if err := p.check(clientOf(r.Context()), r.URL.Hostname(), portOf(r)); err != nil {
			refuse(w, err)
			return
		}
		p.forward.ServeHTTP(w, r)
	}
}

// knows reports whether a request has the password.
func (p *proxy) knows(r *http.Request) bool {
	if p.Password == "" {
		return true
	}
	given := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	_, password, _ := given.BasicAuth()
	return subtle.ConstantTimeCompare([]byte(password), []byte(p.Password)) == 1
}

// portOf returns the port of a request of http.
func portOf(r *http.Request) string {
	if port := r.URL.Port(); port != "" {
		return port
	}
	return "80"
}

// rewrite makes the request that is sent on. Its Host is that of the address, which was checked, whatever the header
// says.
func rewrite(r *httputil.ProxyRequest) { r.Out.Host = r.In.URL.Host }

// connect makes a tunnel.
func (p *proxy) connect(w http.ResponseWriter, r *http.Request) {
	host, port := r.URL.Hostname(), r.URL.Port()
	w.Header().Set("Connection", "close") // what follows a failed request is not for the proxy
	if host == "" || port == "" {
		http.Error(w, "flowrun: CONNECT needs HOST:PORT", http.StatusBadRequest)
		return
	}
	// The context of the request ends when the program has sent everything.
	out, err := p.dial(p.ctx, clientOf(r.Context()), host, port)
	if err != nil {
		refuse(w, err)
		return
	}
	p.work.Add(1)
	defer p.work.Done()
	in, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		out.Close()
		return
	}
	_, err = io.WriteString(in, "HTTP/1.1 200 Connection established\r\n\r\n")
	if err == nil {
		_, err = io.CopyN(out, early, int64(early.Reader.Buffered())) // what came with the request
	}
	if err != nil {
		in.Close()
		out.Close()
		return
	}
	p.tunnel(in, out)
}

// serveForward connects what arrives at a listener with its target.
func (p *proxy) serveForward(f limitednet.EgressForward) {
	l := &limited{f.Listener, p}
	for {
		in, err := l.Accept()
		if err != nil {
			return
		}
		p.work.Go(func() {
			out, err := p.dial(p.ctx, netip.Addr{}, f.Host, f.Port)
			if err != nil {
				in.Close()
				return
			}
			p.tunnel(in, out)
		})
	}
}

// tunnel copies in both directions until both have ended or the proxy is stopped, and closes both connections.
func (p *proxy) tunnel(a, b net.Conn) {
	closeBoth := func() {
		a.Close()
		b.Close()
	}
	defer context.AfterFunc(p.ctx, closeBoth)()
	var back sync.WaitGroup
	back.Go(func() { transfer(a, b) })
	transfer(b, a)
	back.Wait()
	closeBoth()
}

// transfer copies one direction and passes its end on.
func transfer(to, from net.Conn) {
	if _, err := io.Copy(to, from); err != nil {
		to.Close()
		return
	}
	if half, ok := to.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// refusedError reports that the permissions do not grant a connection.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// check returns an error, and reports it, if the permissions do not grant a host.
func (p *proxy) check(client netip.Addr, host, port string) error {
	err := p.Host(host, port)
	if err == nil {
		return nil
	}
	p.Refused(client, host, port, err)
	return &refusedError{err}
}

// clientOf returns the loopback address at which the program that sent a request has reached the proxy.
func clientOf(ctx context.Context) netip.Addr {
	a, _ := ctx.Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if a == nil {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap()
}

func (p *proxy) dialPlain(ctx context.Context, _, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	return p.dial(ctx, clientOf(ctx), host, port)
}

// dial connects to a host if its name is granted, at an address that is granted for that name.
func (p *proxy) dial(ctx context.Context, client netip.Addr, host, port string) (net.Conn, error) {
	if err := p.check(client, host, port); err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: dialTimeout, Resolver: p.resolver, Control: privatenet.Control(func(to netip.Addr) error {
		if err := p.Address(host, port, to); err != nil {
			return &refusedError{err}
		}
		return nil
	})}
	c, err := d.DialContext(ctx, "tcp", net.JoinHostPort(host, port))
	var refused *refusedError
	if errors.As(err, &refused) {
		p.Refused(client, host, port, refused.error)
		return nil, refused
	}
	return c, err
}

// refuse answers a request whose target cannot be reached: 403 if it may not be, else 502.
func refuse(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway
	var refused *refusedError
	if errors.As(err, &refused) {
		status, err = http.StatusForbidden, refused
	}
	http.Error(w, fmt.Sprintf("flowrun: %v", err), status)
}

// limited accepts at most maxConnections connections at a time, over all listeners of a proxy.
type limited struct {
	net.Listener
	*proxy
}

func (l *limited) Accept() (net.Conn, error) {
	select {
	case l.slots <- struct{}{}:
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.slots
		return nil, err
	}
	t, ok := c.(*net.TCPConn)
	if !ok {
		<-l.slots
		return nil, errors.Join(errors.ErrUnsupported, c.Close())
	}
	return &connection{TCPConn: t, slots: l.slots}, nil
}

// connection gives its slot back when it is closed.
type connection struct {
	*net.TCPConn
	slots chan struct{}
	once  sync.Once
}

func (c *connection) Close() error {
	err := c.TCPConn.Close()
	c.once.Do(func() { <-c.slots })
	return err
}
