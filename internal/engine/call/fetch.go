package call

import (
	"io"
	"net/netip"
	"net/url"
	"time"
)

// FetchRequest is a request that a script makes with fetch, or a step of kind http.
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

	// The rest is for steps of kind http; the zero values are for scripts.
	Open func() (io.ReadCloser, int64, error) // opens the body and says its size, in place of Body
	// Save returns where the body of a response with that status goes. nil, or a nil Writer, means FetchAnswer.Body.
	Save         func(status int) io.Writer
	MaxBody      int64 // largest FetchAnswer.Body; 0 = 10 MB
	MaxRedirects int   // 0 = 20
	// Guarded means that a redirect to another host gets no headers of the request and no body, and that none leads
	// from https to http.
	Guarded bool
	Wait    time.Duration // until the response starts; 0 = one minute
	Proxy   string        // URL; "" = that of the environment
	Direct  bool          // without a proxy, so that Reach is asked about every connection
	// Certificates in PEM format: those that sign that of the server, in place of the system's, and that of the client.
	CA, Cert, Key []byte
}

// FetchAnswer is the response to a FetchRequest.
type FetchAnswer struct {
	URL        string // address of the response, after redirects
	Status     int
	StatusText string
	Header     [][2]string
	Body       []byte
	Size       int64 // of the body
}
