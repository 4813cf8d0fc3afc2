package mcpclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// callback is where the browser brings the result of a sign-in: an address on this machine.
type callback struct {
	address string
	server  *http.Server
	state   atomic.Pointer[string] // of the sign-in that is awaited; nil = none
	results chan callbackResult
}

// callbackResult is the result of a sign-in.
type callbackResult struct {
	*auth.AuthorizationResult
	err error
}

// listenForCode listens on a port of this machine, 0 for any.
func listenForCode(port int) (*callback, error) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return nil, fmt.Errorf("cannot wait for the browser: %w", err)
	}
	c := &callback{address: "http://" + l.Addr().String() + "/callback", results: make(chan callbackResult, 1)}
	c.server = &http.Server{Handler: c, ReadTimeout: 10 * time.Second}
	go func() { _ = c.server.Serve(l) }() // ends with close
	return c, nil
}

// close ends it. A browser gets its answer before.
func (c *callback) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if c.server.Shutdown(ctx) != nil {
		c.server.Close()
	}
}

// await shows the page where a person signs in, and waits for the result.
func (c *callback) await(ctx context.Context, page string, show func(string)) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(page)
	if err != nil || u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) || plainText(page, len(page)) != page {
		return nil, errors.New("the address of the page for the sign-in is not valid")
	}
	state := u.Query().Get("state")
	c.state.Store(&state)
	show(page)
	select {
	case r := <-c.results:
		return r.AuthorizationResult, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// ServeHTTP accepts the result of the sign-in that is awaited, once. Other requests change nothing: any
// page in the browser can send them.
func (c *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q, state := r.URL.Query(), c.state.Load()
	if r.URL.Path != "/callback" || state == nil || q.Get("state") != *state || !c.state.CompareAndSwap(state, nil) {
		http.Error(w, "This is not the answer to the sign-in that flowrun waits for.", http.StatusBadRequest)
		return
	}
	result := callbackResult{AuthorizationResult: &auth.AuthorizationResult{Code: q.Get("code"), State: *state, Iss: q.Get("iss")}}
	if result.Code == "" {
		result.err = fmt.Errorf("the sign-in failed: %s %s", q.Get("error"), q.Get("error_description"))
	}
	c.results <- result
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "flowrun has received the answer. You can close this page.\n")
}
