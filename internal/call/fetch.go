package call

import (
	"net/netip"
	"net/url"
)

// FetchRequest is a request that a script makes with fetch.
type FetchRequest struct {
	Method string // GET, POST ...
	URL    string
	Header [][2]string
	Body   []byte // nil for none
	// Redirect says how to treat a redirect: follow, error or manual.
	Redirect string
	// Allow returns an error if an address may not be requested. It is called for URL, and for the target of every
	// redirect before it is requested.
	Allow func(*url.URL) error
	// Reach returns an error if a connection for a host and port may not go to an IP address. It is not called if a
	// proxy makes the connection.
	Reach func(host, port string, to netip.Addr) error
}

// FetchAnswer is the response to a FetchRequest.
type FetchAnswer struct {
	URL        string // address of the response, after redirects
	Status     int
	StatusText string
	Header     [][2]string
	Body       []byte
}
