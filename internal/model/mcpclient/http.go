package mcpclient

import (
	"bufio"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
)

// onlyHost returns the transport for the requests to a server. It sends the headers, and talks to
// no other host: a redirect or an endpoint elsewhere would receive them.
func onlyHost(address string, headers map[string]string) (*sameHost, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("its address is not a URL that starts with http:// or https://")
	}
	return &sameHost{server: u, headers: headers}, nil
}

// sameHost sends requests to one host.
type sameHost struct {
	server  *url.URL
	headers map[string]string
	public  atomic.Bool // it has answered from a public address
}

// RoundTrip implements http.RoundTripper.
func (s *sameHost) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != s.server.Scheme || req.URL.Host != s.server.Host {
		return nil, fmt.Errorf("it refers to another host, %s", req.URL.Host)
	}
	req = req.Clone(httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{GotConn: s.connected}))
	for name, v := range s.headers {
		req.Header.Set(name, v)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	switch kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind {
	case "text/event-stream": // the library limits an event
		resp.Body = &eventsBody{Closer: resp.Body, in: bufio.NewReaderSize(resp.Body, 64<<10)}
	case "application/json":
		resp.Body, resp.ContentLength = &messageBody{ReadCloser: &limitedBody{resp.Body, maxMessage}}, -1
	default:
		resp.Body = &limitedBody{resp.Body, maxMessage}
	}
	return resp, nil
}

// limitedBody is a body that fails after a number of bytes.
type limitedBody struct {
	io.ReadCloser
	left int
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
