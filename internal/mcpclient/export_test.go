package mcpclient

import "testing"

// OfferOverHTTP makes clients offer one version of the protocol over HTTP, until the test ends.
func OfferOverHTTP(t *testing.T, version string) {
	before := versions.http
	versions.http = []string{version}
	t.Cleanup(func() { versions.http = before })
}

// Environment is the environment of a server.
var Environment = environment
