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
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/service"
)

// defaultListen is where a service listens that is told nothing else.
const defaultListen = "127.0.0.1:7878"

// door is where a service listens.
type door struct {
	listeners []net.Listener // TCP and sockets that flags name
	sockets   []socketFile   // of the latter
	urls      []string
	tokens    []service.Token
	made      bool // the token was made up
	socket    *ownSocket
	tls       *tls.Config
	hosts     []string
	server    *http.Server
	failed    chan error
	log       *slog.Logger
	work      sync.WaitGroup
}

// trustedIdle is how long a connection may idle on which a token was shown.
const trustedIdle = 2 * time.Minute

// openDoor begins to listen; nobody is answered yet. What cannot be is a wrong command
// line, or somebody else's address.
func openDoor(c *cobra.Command, f serveFlags) (d *door, err error) {
	d = &door{failed: make(chan error, 8)}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	if d.tokens, err = givenTokens(c, f.tokenFile); err != nil {
		return d, err
	}
	if d.tls, err = certificate(c, f); err != nil {
		return d, err
	}
	addresses := f.listen
	if len(addresses) == 0 {
		addresses = []string{defaultListen}
	}
	for _, at := range addresses { // all of them, before any is used
		if err := d.mayListen(c, at); err != nil {
			return d, err
		}
	}
	for _, at := range addresses {
		if err := d.listen(at); err != nil {
			return d, err
		}
	}
	if len(d.tokens) == 0 {
		d.tokens, d.made = []service.Token{{Text: rand.Text()}}, true
	}
	return d, nil
}

// certificate is what --tls-cert and --tls-key give, nil where they are not there.
func certificate(c *cobra.Command, f serveFlags) (*tls.Config, error) {
	switch {
	case f.tlsCert == "" && f.tlsKey == "":
		return nil, nil
	case f.tlsCert == "" || f.tlsKey == "":
		return nil, ui.Usagef(c, "--tls-cert and --tls-key belong together")
	}
	pair, err := tls.LoadX509KeyPair(f.tlsCert, f.tlsKey)
	if err != nil {
		return nil, ui.Usagef(c, "--tls-cert and --tls-key cannot be used: %v", err)
	}
	return &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2", "http/1.1"}}, nil
}

// mayListen holds an address against its form, and one that others reach against what it
// needs.
func (d *door) mayListen(c *cobra.Command, at string) error {
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		if path == "" {
			return ui.Usagef(c, "--listen unix: names no socket; give a path, as in unix:/run/flowrun.sock")
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
	if d.tls == nil {
		missing = append(missing, "--tls-cert and --tls-key")
	}
	if len(d.tokens) == 0 {
		missing = append(missing, "a token (FLOWRUN_TOKEN or --token-file)")
	}
	if len(missing) > 0 {
		return ui.Usagef(c, "--listen %s lets other machines in; that needs %s", at, strings.Join(missing, " and "))
	}
	return nil
}

// listen begins to listen at an address.
func (d *door) listen(at string) error {
	if path, ok := strings.CutPrefix(at, "unix:"); ok {
		if answers(path) {
			return ui.NoService("cannot listen at %s: another service does", at)
		}
		l, err := listenUnix(path)
		if err != nil {
			return ui.NoService("cannot listen at %s: %w", at, err)
		}
		d.add(l, at)
		d.sockets = append(d.sockets, socketFileOf(path))
		return nil
	}
	host, port, _ := net.SplitHostPort(at)
	l, err := net.Listen("tcp", net.JoinHostPort(cmp.Or(host, "127.0.0.1"), port))
	if errors.Is(err, syscall.EADDRINUSE) {
		return ui.NoService("cannot listen at %s: another program does, perhaps another flowrun serve; give another address: --listen 127.0.0.1:0 takes any port that is free", at)
	}
	if err != nil {
		return ui.NoService("cannot listen at %s: %w; --listen gives another address", at, err)
	}
	if host != "" && net.ParseIP(host) == nil {
		d.hosts = append(d.hosts, host)
	}
	scheme := "http"
	if d.tls != nil {
		scheme = "https"
	}
	d.add(l, scheme+"://"+l.Addr().String())
	return nil
}

func (d *door) add(l net.Listener, url string) {
	d.listeners, d.urls = append(d.listeners, l), append(d.urls, url)
}

// open answers whoever comes.
func (d *door) open(sv *service.Service, web Web, o WebOptions) error {
	limit := newConnLimit()
	o.Tokens, o.Hosts, o.Trust = d.tokens, d.hosts, limit.trust
	handler, err := web(sv, o)
	if err != nil {
		return err
	}
	d.server = &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: trustedIdle, MaxHeaderBytes: 32 << 10,
		TLSConfig: d.tls, ErrorLog: quiet(), ConnState: limit.state, ConnContext: limit.context}
	for _, l := range d.listeners {
		if _, unix := l.(*net.UnixListener); !unix {
			l = limitedListener{l, limit}
		}
		d.answer(l)
	}
	d.socket = newOwnSocket(ui.SocketOf(o.StateDir), d.log, d.answer)
	return nil
}

// answer serves a listener until it is closed.
func (d *door) answer(l net.Listener) {
	d.work.Go(func() {
		var err error
		if _, unix := l.(*net.UnixListener); d.tls != nil && !unix {
			err = d.server.ServeTLS(l, "", "")
		} else {
			err = d.server.Serve(l)
		}
		if err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, net.ErrClosed) {
			d.failed <- ui.NoService("cannot listen any more: %w", err)
		}
	})
}

// announce says where the service is found. A token that was made up is shown this once.
func (d *door) announce(env *ui.Env) {
	for _, url := range d.urls {
		env.Notef("flowrun serves at %s", url)
	}
	if d.made {
		env.Notef("token: %s (for this service only; FLOWRUN_TOKEN or --token-file give one that stays)", d.tokens[0].Text)
	}
}

// shut answers what is being asked, for a moment, and nothing more.
func (d *door) shut() {
	if d.socket != nil {
		d.socket.close()
	}
	if d.server != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if d.server.Shutdown(ctx) != nil {
			d.server.Close()
		}
	}
	d.work.Wait()
}

// close frees the addresses.
func (d *door) close() {
	for _, s := range d.sockets {
		s.remove()
	}
	for _, l := range d.listeners {
		l.Close()
	}
}
