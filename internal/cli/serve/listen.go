package serve

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/users"
)

// defaultListen is the address on which the service listens without --listen.
const defaultListen = "127.0.0.1:7878"

// listeners are the addresses on which a service listens.
type listeners struct {
	all            []net.Listener // TCP, and the Unix sockets that flags name
	sockets        []socketFile   // files of these Unix sockets
	urls           []string
	tokens         []service.Token
	generatedToken bool              // the token was generated
	sessions       *users.Sessions   // of browsers; nil if there are no pages
	showLink       func(link string) // shows a sign-in link; nil prints it at a terminal
	socket         *stateSocket
	tls            *tls.Config
	hosts          []string
	server         *http.Server
	limit          *connLimit // of TCP connections
	socketLimit    *connLimit // of connections to Unix sockets
	failed         chan error
	work           sync.WaitGroup
}

// authenticatedIdle is how long an authenticated connection may be idle.
const authenticatedIdle = 2 * time.Minute

// listen opens all addresses; connections are accepted later, in serve. An invalid address is a
// usage error. If another program uses the address, the error is that of ui.ServiceErrorf.
func listen(c *cobra.Command, f listenFlags) (ls *listeners, err error) {
	ls = &listeners{failed: make(chan error, 8)}
	defer func() {
		if err != nil {
			ls.close()
		}
	}()
	if ls.tokens, err = loadTokens(c, f.tokenFile); err != nil {
		return ls, err
	}
	if ls.tls, err = certificate(c, f); err != nil {
		return ls, err
	}
	for _, at := range f.listen { // check all addresses before any is opened
		if err := ls.checkAddress(c, at, f.hasUsers); err != nil {
			return ls, err
		}
	}
	for _, at := range f.listen {
		if err := ls.open(at); err != nil {
			return ls, err
		}
	}
	if len(ls.tokens) == 0 && !f.hasUsers {
		ls.tokens, ls.generatedToken = []service.Token{{Text: rand.Text()}}, true
	}
	return ls, nil
}

// certificate returns the TLS configuration from --tls-cert and --tls-key, or nil if neither is
// given.
func certificate(c *cobra.Command, f listenFlags) (*tls.Config, error) {
	switch {
	case f.tlsCert == "" && f.tlsKey == "":
		return nil, nil
	case f.tlsCert == "" || f.tlsKey == "":
		return nil, ui.Usagef(c, "--tls-cert and --tls-key must be given together")
	}
	pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, ui.Usagef(c, "cannot use --tls-cert and --tls-key: %w", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// checkAddress validates an address. An address that other machines can reach requires TLS and a
// token.
func (ls *listeners) checkAddress(c *cobra.Command, at string, hasUsers bool) error {
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		if path == "" {
			return ui.Usagef(c, "--listen unix: needs a path, as in unix:/run/flowrun.sock")
		}
		return nil
	}
	host, _, err := net.SplitHostPort(at)
	if err != nil {
		return ui.Usagef(c, "--listen %s: %v; give HOST:PORT, :PORT for this machine only, or unix:PATH", at, err)
	}
	if host == "" || host == "localhost" || net.ParseIP(host).IsLoopback() {
		return nil
	}
	var missing []string
	if ls.tls == nil {
		missing = append(missing, "--tls-cert and --tls-key")
	}
	if len(ls.tokens) == 0 && !hasUsers {
		missing = append(missing, "a token (FLOWRUN_TOKEN or --token-file)")
	}
	if len(missing) > 0 {
		return ui.Usagef(c, "--listen %s can be reached from other machines; this requires %s", at, strings.Join(missing, " and "))
	}
	return nil
}

// open starts to listen at an address.
func (ls *listeners) open(at string) error {
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		if isListening(path) {
			return ui.ServiceErrorf("cannot listen on %s: another service already does", at)
		}
		l, err := listenUnix(path)
		if err != nil {
			return ui.ServiceErrorf("cannot listen on %s: %w", at, err)
		}
		ls.add(l, at)
		ls.sockets = append(ls.sockets, socketFileOf(path))
		return nil
	}
	host, port, _ := net.SplitHostPort(at)
	l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return ui.ServiceErrorf("cannot listen on %s: the address is in use, perhaps by another flowrun serve; give another address, or use any free port with --listen 127.0.0.1:0", at)
	}
	if err != nil {
		return ui.ServiceErrorf("cannot listen on %s: %w; to use another address: --listen", at, err)
	}
	if host != "" && net.ParseIP(host) == nil {
		ls.hosts = append(ls.hosts, host)
	}
	scheme := "http"
	if ls.tls != nil {
		scheme = "https"
	}
	ls.add(l, scheme+"://"+l.Addr().String())
	return nil
}

func (ls *listeners) add(l net.Listener, url string) {
	ls.all, ls.urls = append(ls.all, l), append(ls.urls, url)
}

// serve prints the addresses, then accepts connections and serves requests in the background, until shutdown is called.
func (ls *listeners) serve(env *ui.Env, sv *service.Service, web Web, o WebOptions) error {
	o.Tokens, o.Hosts, o.Enter, o.Sessions, o.URL = ls.tokens, ls.hosts, enter, ls.sessions, ls.browserURL()
	handler, err := web(sv, o)
	if err != nil {
		return err
	}
	ls.server = &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: authenticatedIdle, MaxHeaderBytes: 32 << 10,
		TLSConfig: ls.tls, ErrorLog: discardLogger(), ConnState: connState, ConnContext: connContext}
	ls.limit, ls.socketLimit = newConnLimit(), newSocketLimit()
	ls.announce(env) // before the first request, about which the log says more
	for _, l := range ls.all {
		ls.serveListener(l)
	}
	return nil
}

// serveStateSocket also serves commands of the same user, which find the service in the state
// directory.
func (ls *listeners) serveStateSocket(dir string, log *slog.Logger) {
	ls.socket = newStateSocket(ui.SocketPath(dir), log, ls.serveListener)
}

// serveListener serves a listener until it is closed.
func (ls *listeners) serveListener(l net.Listener) {
	ls.work.Go(func() {
		var err error
		switch _, unix := l.(*net.UnixListener); {
		case unix:
			err = ls.server.Serve(limitedListener{l, ls.socketLimit})
		case ls.tls != nil:
			err = ls.server.ServeTLS(limitedListener{l, ls.limit}, "", "")
		default:
			err = ls.server.Serve(limitedListener{l, ls.limit})
		}
		if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			ls.failed <- ui.ServiceErrorf("cannot accept connections: %w", err)
		}
	})
}

// browserURL returns the first address that a browser on this machine can open, or "".
func (ls *listeners) browserURL() string {
	for _, text := range ls.urls {
		u, err := url.Parse(text)
		if err != nil || u.Hostname() == "" {
			continue
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsUnspecified() {
			u.Host = net.JoinHostPort("localhost", u.Port())
		}
		return u.String()
	}
	return ""
}

// offerPages shows a link that signs a browser in. It prints nothing to a log file.
func (ls *listeners) offerPages(env *ui.Env) {
	base := ls.browserURL()
	if ls.sessions == nil || base == "" {
		return
	}
	link := func() string { return base + "/login?code=" + ls.sessions.Link() }
	switch {
	case ls.showLink != nil:
		ls.showLink(link())
	case ui.IsTerminal(env.Stderr):
		env.Notef("web UI: %s (works once, for 5 minutes; for another link: flowrun ui)", link())
	}
}

// announce prints the addresses of the service, and the token if it was generated.
func (ls *listeners) announce(env *ui.Env) {
	for _, url := range ls.urls {
		env.Notef("listening on %s", url)
	}
	if ls.generatedToken {
		env.Notef("token: %s (valid until the service stops; for a permanent token, use FLOWRUN_TOKEN or --token-file)", ls.tokens[0].Text)
	}
	ls.offerPages(env)
}

// wait returns when the service must stop.
func (ls *listeners) wait(stop *stopSignals, log *slog.Logger) error {
	select {
	case <-stop.first:
		return nil
	case err := <-ls.failed:
		log.Error("listener failed", "error", err.Error())
		return err
	}
}

// shutdown stops accepting connections, and gives requests in progress one second to finish.
func (ls *listeners) shutdown() {
	if ls.socket != nil {
		ls.socket.close()
	}
	if ls.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if ls.server.Shutdown(ctx) != nil {
			ls.server.Close()
		}
	}
	ls.work.Wait()
}

// close closes the listeners and removes the files of Unix sockets.
func (ls *listeners) close() {
	for _, s := range ls.sockets {
		s.remove()
	}
	for _, l := range ls.all {
		l.Close()
	}
}
