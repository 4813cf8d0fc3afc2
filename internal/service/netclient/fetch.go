// Package netclient is the HTTP client of the flowrun command. Fetch sends the request of a
// script and returns the whole response. Status returns only the status code of a URL, for
// a step that waits for a service to respond. Each request has its own connection. The
// package does not know permissions: a request brings the functions that check each address
// and each redirect. The engine itself has no HTTP client, so that a program that embeds it
// does not link one; it gets these functions in its Config.
// it does not link one; it takes these functions in its Config.
package netclient

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/httpstep"
	"github.com/flowrun/flowrun/internal/os/privatenet"
)

const (
	maxRedirects = 20         // as in browsers
	maxBody      = 10_000_000 // bytes of a response
	noAnswer     = 60 * time.Second
)

// Fetch sends the request of a script; flowrun.Config.Fetch takes it. The proxies in
// HTTP_PROXY, HTTPS_PROXY and NO_PROXY are used. Cookies and logins are not kept. A
// response of more than 10 MB is an error, as is one that does not start within a minute.
// Errors contain only the host of a URL. Safe for concurrent use.
func Fetch(ctx context.Context, r call.FetchRequest) (*call.FetchAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, permanent{errors.New("cannot fetch: the address or the method is not one of HTTP")}
	}
	switch {
	case r.Open != nil:
		if err := openBody(request, r.Open); err != nil {
			return nil, err
		}
	case r.Body == nil:
		request.Body, request.GetBody, request.ContentLength = nil, nil, 0
	}
	request.Header.Set("User-Agent", "flowrun")
	given := http.Header{}
	for _, h := range r.Header {
		given.Add(h[0], h[1])
	}
	for name, values := range given {
		request.Header[name] = values
	}
	if host := given.Get("Host"); host != "" { // the request must go to the host that was permitted
		request.Header.Del("Host")
	}
	transport, err := transport(r)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: redirects(r)}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fetchError(request.URL, err)
	}
	defer answer.Body.Close()
	body, size, err := readBody(r, answer)
	if err != nil {
		return nil, fetchError(request.URL, err)
	}
	a := &call.FetchAnswer{URL: answer.Request.URL.String(), Status: answer.StatusCode, Body: body, Size: size,
		StatusText: strings.TrimPrefix(strings.TrimPrefix(answer.Status, fmt.Sprint(answer.StatusCode)), " ")}
	for name, values := range answer.Header {
		for _, v := range values {
			a.Header = append(a.Header, [2]string{strings.ToLower(name), v})
		}
	}
	return a, nil
}

// openBody sets a body that is opened again for each redirect that needs it.
func openBody(request *http.Request, open func() (io.ReadCloser, int64, error)) (err error) {
	request.Body, request.ContentLength, err = open()
	request.GetBody = func() (io.ReadCloser, error) {
		body, _, err := open()
		return body, err
	}
	return err
}

// readBody reads the body of a response, or passes it on.
func readBody(r call.FetchRequest, answer *http.Response) (body []byte, size int64, err error) {
	if r.Save != nil {
		if to := r.Save(answer.StatusCode); to != nil {
			size, err = io.Copy(to, answer.Body)
			return nil, size, err
		}
	}
	limit := cmp.Or(r.MaxBody, maxBody)
	body, err = io.ReadAll(io.LimitReader(answer.Body, limit+1))
	if err == nil && int64(len(body)) > limit {
		err = permanent{fmt.Errorf("the answer is larger than %s", sizeText(limit))}
	}
	return body, int64(len(body)), err
}

// sizeText returns a limit in the unit that people would use.
func sizeText(n int64) string {
	if n%1_000_000 == 0 {
		return fmt.Sprint(n/1_000_000, " MB")
	}
	return fmt.Sprint(n, " bytes")
}

// transport makes the connections of one request. They are not reused, because another
// request may have other permissions.
func transport(r call.FetchRequest) (*http.Transport, error) {
	t := &http.Transport{
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  cmp.Or(r.Wait, noAnswer),
		MaxResponseHeaderBytes: 256 << 10,
	}
	if err := certificates(t, r); err != nil {
		return nil, err
	}
	proxyOf, err := chooseProxy(r)
	if err != nil {
		return nil, err
	}
	limitConnections(t, proxyOf, r.Reach)
	return t, nil
}

// limitConnections makes a transport use a proxy, and connect without one only as reach allows; nil: everywhere.
func limitConnections(t *http.Transport, proxyOf func(*http.Request) (*url.URL, error), reach func(host, port string, to netip.Addr) error) {
	var proxied atomic.Value // host of the proxy, which nobody requested
	t.Proxy = func(request *http.Request) (*url.URL, error) {
		u, err := proxyOf(request)
		if u != nil {
			proxied.Store(u.Hostname())
		}
		return u, err
	}
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return nil, err
		}
		d := net.Dialer{Timeout: 30 * time.Second}
		if reach != nil && proxied.Load() != host {
			d.Control = privatenet.Control(func(to netip.Addr) error { return reach(host, port, to) })
		}
		return d.DialContext(ctx, network, address)
	}
}

// chooseProxy returns the function that finds the proxy for a request.
func chooseProxy(r call.FetchRequest) (func(*http.Request) (*url.URL, error), error) {
	switch {
	case r.Direct:
		return http.ProxyURL(nil), nil
	case r.Proxy == "":
		return http.ProxyFromEnvironment, nil
	}
	u, err := httpstep.ParseProxy(r.Proxy)
	if err != nil {
		return nil, permanent{err}
	}
	return http.ProxyURL(u), nil
}

// certificates sets the certificates of a request.
func certificates(t *http.Transport, r call.FetchRequest) error {
	if r.CA == nil && r.Cert == nil {
		return nil
	}
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if r.CA != nil {
		t.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !t.TLSClientConfig.RootCAs.AppendCertsFromPEM(r.CA) {
			return permanent{errors.New("tls.ca has no certificate in PEM format")}
		}
	}
	if r.Cert != nil {
		pair, err := tls.X509KeyPair(r.Cert, r.Key)
		if err != nil {
			return permanent{errors.New("tls.cert and tls.key are not a certificate and its private key in PEM format")}
		}
		t.TLSClientConfig.Certificates = []tls.Certificate{pair}
	}
	return nil
}

// redirects follows redirects as far as the script requests it and its permissions allow
// it.
func redirects(r call.FetchRequest) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		switch {
		case r.Redirect == "manual":
			return http.ErrUseLastResponse
		case r.Redirect == "error":
			return permanent{errors.New("the answer leads elsewhere, and redirect is 'error'")}
		case len(before) > cmp.Or(r.MaxRedirects, maxRedirects):
			return permanent{fmt.Errorf("the answers lead elsewhere more than %d times", cmp.Or(r.MaxRedirects, maxRedirects))}
		case next.URL.Scheme != "http" && next.URL.Scheme != "https":
			return permanent{fmt.Errorf("the answer leads to an address with the scheme %q", next.URL.Scheme)}
		}
		if r.Guarded {
			if err := guard(next, before[0]); err != nil {
				return err
			}
		}
		return r.Allow(next.URL)
	}
}

// guard keeps from another host what the request was not meant to tell it.
func guard(next, first *http.Request) error {
	switch {
	case first.URL.Scheme == next.URL.Scheme && first.URL.Host == next.URL.Host:
		return nil
	case first.URL.Scheme == "https" && next.URL.Scheme == "http":
		return permanent{fmt.Errorf("the answer leads from https to http, on %s", next.URL.Host)}
	case next.Body != nil && next.Body != http.NoBody || next.ContentLength > 0 || next.GetBody != nil:
		return permanent{fmt.Errorf("the answer leads to another host, %s, which would get the body of the request", next.URL.Host)}
	}
	next.Header = http.Header{"User-Agent": {"flowrun"}}
	return nil
}
