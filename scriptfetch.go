package flowrun

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
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

// fetched is an answer as the script gets it.
type fetched struct {
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    [][2]string `json:"headers"`
	contents
}

// fetch asks an address for a script whose permissions network:external:HOST or
// network:local:HOST allow it (S1-212).
func (k *asker) fetch(ctx context.Context, args json.RawMessage) (any, error) {
	var in struct {
		URL, Method, Redirect string
		Headers               [][2]string
		Body                  *string // base64
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("cannot read what is to be fetched: %w", err)
	}
	u, err := url.Parse(in.URL)
	if err != nil {
		return nil, errors.New("cannot fetch: the address is no URL")
	}
	g := k.args.grants()
	if err := g.network(u); err != nil {
		return nil, err
	}
	ask := k.args.world.fetch
	if ask == nil {
		return nil, errors.New("cannot fetch: this program has no HTTP client for scripts; it can give one as Config.Fetch")
	}
	r := FetchRequest{Method: in.Method, URL: in.URL, Header: in.Headers, Redirect: in.Redirect, Allow: g.network, Reach: g.address}
	if in.Body != nil {
		if r.Body, err = base64.StdEncoding.DecodeString(*in.Body); err != nil {
			return nil, errors.New("cannot fetch: the body is no base64")
		}
	}
	a, err := ask(ctx, r)
	if err != nil {
		return nil, err
	}
	return fetched{a.URL, a.URL != in.URL, a.Status, a.StatusText, a.Header, contentsOf(a.Body)}, nil
}
