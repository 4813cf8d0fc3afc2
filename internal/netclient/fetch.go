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
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/flowrun/flowrun"
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
func Fetch(ctx context.Context, r flowrun.FetchRequest) (*flowrun.FetchAnswer, error) {
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return nil, errors.New("cannot fetch: the address or the method is not one of HTTP")
	}
	if r.Body == nil {
		request.Body, request.ContentLength = nil, 0
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
	transport := transport(r)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, CheckRedirect: redirects(r)}
	answer, err := client.Do(request)
	if err != nil {
		return nil, fetchError(request.URL, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxBody+1))
	switch {
	case err != nil:
		return nil, fetchError(request.URL, err)
	case len(body) > maxBody:
		return nil, fmt.Errorf("cannot fetch from %s: the answer is larger than %d MB", request.URL.Host, maxBody/1_000_000)
	}
	a := &flowrun.FetchAnswer{URL: answer.Request.URL.String(), Status: answer.StatusCode, Body: body,
		StatusText: strings.TrimPrefix(strings.TrimPrefix(answer.Status, fmt.Sprint(answer.StatusCode)), " ")}
	for name, values := range answer.Header {
		for _, v := range values {
			a.Header = append(a.Header, [2]string{strings.ToLower(name), v})
		}
	}
	return a, nil
}

// transport makes the connections of one request. They are not reused, because another
// request may have other permissions.
func transport(r flowrun.FetchRequest) *http.Transport {
	t := &http.Transport{
		DisableKeepAlives:      true,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  noAnswer,
		MaxResponseHeaderBytes: 256 << 10,
	}
	var proxied atomic.Value // host of the proxy, which the script did not request
	t.Proxy = func(request *http.Request) (*url.URL, error) {
		u, err := http.ProxyFromEnvironment(request)
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
		if proxied.Load() != host {
			d.Control = func(_, to string, _ syscall.RawConn) error {
				a, err := netip.ParseAddrPort(to)
				if err != nil {
					return err
				}
				return r.Reach(host, port, a.Addr().WithZone(""))
			}
		}
		return d.DialContext(ctx, network, address)
	}
	return t
}

// redirects follows redirects as far as the script requests it and its permissions allow
// it.
func redirects(r flowrun.FetchRequest) func(*http.Request, []*http.Request) error {
	return func(next *http.Request, before []*http.Request) error {
		switch {
		case r.Redirect == "manual":
			return http.ErrUseLastResponse
		case r.Redirect == "error":
			return errors.New("the answer leads elsewhere, and redirect is 'error'")
		case len(before) > maxRedirects:
			return fmt.Errorf("the answers lead elsewhere more than %d times", maxRedirects)
		}
		return r.Allow(next.URL)
	}
}

// fetchError returns an error without the URL, which may contain a secret.
func fetchError(u *url.URL, err error) error {
	var request *url.Error
	if errors.As(err, &request) {
		err = request.Err
	}
	if strings.HasPrefix(err.Error(), "PermissionDenied: ") {
		return err
	}
	if at := strings.Index(err.Error(), "PermissionDenied: "); at >= 0 { // wrapped in an error of package net
		return errors.New(err.Error()[at:])
	}
	return fmt.Errorf("cannot fetch from %s: %w", u.Host, err)
}
