package mcpclient

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"time"

	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// A server names the authorization server, and so makes flowrun send requests to addresses that it
// chooses. A server on the internet must not reach what only this machine and its network can.

// elsewhereLimit is how long a request to an authorization server may take.
const elsewhereLimit = 30 * time.Second

// elsewhere returns the client for requests to the authorization server of a server. It does not send
// the headers of the server.
func (s *sameHost) elsewhere() *http.Client {
	return &http.Client{Transport: &authorizationHosts{s}, Timeout: elsewhereLimit}
}

// connected notes that the server answers from a public address.
func (s *sameHost) connected(info httptrace.GotConnInfo) {
	if a, err := netip.ParseAddrPort(info.Conn.RemoteAddr().String()); err == nil && !privatenet.IsPrivateAddress(a.Addr()) {
		s.public.Store(true)
	}
}

// isPublic reports whether the server is on the internet. Behind a proxy, only its name tells.
func (s *sameHost) isPublic() bool {
	if privatenet.IsPrivateHost(privatenet.NormalizeHost(s.server.Hostname())) {
		return false
	}
	return s.public.Load() || proxied(s.server)
}

// proxied reports whether requests to an address go through a proxy.
func proxied(u *url.URL) bool {
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	return err == nil && proxy != nil
}

// authorizationHosts sends requests to authorization servers.
type authorizationHosts struct{ of *sameHost }

// RoundTrip implements http.RoundTripper.
func (a *authorizationHosts) RoundTrip(req *http.Request) (*http.Response, error) {
	host, public := privatenet.NormalizeHost(req.URL.Hostname()), a.of.isPublic()
	switch {
	case req.URL.Scheme != "https" && !isLoopback(host):
		return nil, fmt.Errorf("%s: it does not use https", req.URL.Host)
	case public && privatenet.IsPrivateHost(host):
		return nil, privateError(req.URL.Host)
	}
	var transport http.RoundTripper = http.DefaultTransport
	if public && !proxied(req.URL) {
		transport = publicOnly()
	}
	resp, err := transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	resp.Body = &limitedBody{resp.Body, maxMessage}
	return resp, nil
}

// publicOnly returns a transport that connects only to public addresses.
func publicOnly() *http.Transport {
	d := &net.Dialer{Timeout: elsewhereLimit, Control: privatenet.Control(func(to netip.Addr) error {
		if privatenet.IsPrivateAddress(to) {
			return privateError(to.String())
		}
		return nil
	})}
	return &http.Transport{DialContext: d.DialContext, ForceAttemptHTTP2: true, DisableKeepAlives: true}
}

func privateError(address string) error {
	return fmt.Errorf("%s is an address of this machine or its network, to which a server on the internet cannot refer", address)
}

// isLoopback reports whether a host is this machine.
func isLoopback(host string) bool {
	host = privatenet.NormalizeHost(host)
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}
