package mcpclient

import (
	"context"
	"net/http"
	"sync"
	"testing"
)

// OfferOverHTTP makes clients offer one version of the protocol over HTTP, until the test ends or calls
// the returned function. A test that continues in parallel with others calls it before.
func OfferOverHTTP(t *testing.T, version string) (restore func()) {
	before := versions.http
	versions.http = []string{version}
	restore = sync.OnceFunc(func() { versions.http = before })
	t.Cleanup(restore)
	return restore
}

// ElsewhereOf returns the client for the authorization server of a server.
func ElsewhereOf(server string, public bool) *http.Client {
	s, err := onlyHost(server, nil)
	if err != nil {
		panic(err)
	}
	s.public.Store(public)
	return s.elsewhere()
}

// DialPublic connects as to a public address.
func DialPublic(address string) error {
	c, err := publicOnly().DialContext(context.Background(), "tcp", address)
	if err == nil {
		c.Close()
	}
	return err
}

// Environment is the environment of a server.
var Environment = environment

// Expand returns a server with its variables replaced.
func Expand(c ServerConfig, base string) (ServerConfig, error) {
	out, _, err := c.expand(base)
	return out, err
}
