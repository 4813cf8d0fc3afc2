package script

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"

	"github.com/flowrun/flowrun/internal/engine/call"
)

// fetchResult is a response in the form that the script gets.
type fetchResult struct {
	URL        string      `json:"url"`
	Redirected bool        `json:"redirected"`
	Status     int         `json:"status"`
	StatusText string      `json:"statusText"`
	Headers    [][2]string `json:"headers"`
	contents
}

// fetch sends a request for a script whose permissions network:external:HOST or network:local:HOST allow it.
func (k *hostCalls) fetch(ctx context.Context, args json.RawMessage) (any, error) {
	var in struct {
		URL, Method, Redirect string
		Headers               [][2]string
		Body                  *string // base64
	}
	if err := json.Unmarshal(args, &in); err != nil {
		return nil, fmt.Errorf("cannot read the arguments of fetch: %w", err)
	}
	u, err := url.Parse(in.URL)
	if err != nil {
		return nil, errors.New("cannot fetch: the address is not a valid URL")
	}
	g := call.Grants(k.args)
	allow := func(u *url.URL) error {
		k.args.Session().ObserveURL(u)
		return k.granted(u.Host, g.Network(u))
	}
	reach := func(host, port string, to netip.Addr) error {
		return k.granted(net.JoinHostPort(host, port), g.Address(host, port, to))
	}
	if err := allow(u); err != nil {
		return nil, err
	}
	ask := k.args.RunEnv.Fetch
	if ask == nil {
		return nil, errors.New("cannot fetch: this program has no HTTP client for scripts; set Config.Fetch")
	}
	r := call.FetchRequest{Method: in.Method, URL: in.URL, Header: in.Headers, Redirect: in.Redirect, Allow: allow, Reach: reach}
	if in.Body != nil {
		if r.Body, err = base64.StdEncoding.DecodeString(*in.Body); err != nil {
			return nil, errors.New("cannot fetch: the body is not valid base64")
		}
	}
	a, err := ask(ctx, r)
	if err != nil {
		return nil, err
	}
	return fetchResult{a.URL, a.URL != in.URL, a.Status, a.StatusText, a.Header, contentsOf(a.Body)}, nil
}

// granted returns the reason why a connection is not granted, and makes the notice about it: the script may catch the error.
func (k *hostCalls) granted(target string, reason error) error {
	if reason != nil {
		k.args.Session().NotifyRefused(k.call.Path, target, reason.Error())
	}
	return reason
}
