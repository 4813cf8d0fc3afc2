package call

import (
	"net/netip"
	"net/url"
)

// FetchRequest is what a script asks for with fetch.
type FetchRequest struct {
	Method string // GET, POST ...
	URL    string
	Header [][2]string
	Body   []byte // nil: none
	// Redirect says what becomes of an answer that leads elsewhere: follow, error or manual.
	Redirect string
	// Allow says whether an address may be asked for. It is called for URL, and for every
	// address that an answer leads to before that is asked.
	Allow func(*url.URL) error
	// Reach says whether a connection of a host and port may go to an address. Where a proxy
	// makes the connection, it is not called.
	Reach func(host, port string, to netip.Addr) error
}

// FetchAnswer is what came back.
type FetchAnswer struct {
	URL        string // that answered, after redirects
	Status     int
	StatusText string
	Header     [][2]string
	Body       []byte
}
