package mcpclient

import (
	"context"
	"net/http"
	"testing"
)

// OfferOverHTTP makes clients offer one version of the protocol over HTTP, until the test ends.
func OfferOverHTTP(t *testing.T, version string) {
	before := versions.http
	versions.http = []string{version}
	t.Cleanup(func() { versions.http = before })
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
