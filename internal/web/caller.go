package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/users"
)

// caller is what a request has proved about its sender.
type caller struct {
	authenticated bool
	token         service.Token  // the token it sent; otherwise the zero Token, which is valid for all tools
	user          string         // the name of a user of the service; "" for the owner and for others with a token
	role          users.Role     // what the caller may do
	session       *users.Session // nil if the request belongs to none
}

// owner is the user of the service's process, who may do everything.
var owner = caller{authenticated: true, role: users.Admin}

// mayUse reports whether the caller may start a tool and see its runs.
func (c caller) mayUse(tool string) bool { return c.token.Permits(tool) }

// allTools reports whether the caller may do so for all tools.
func (c caller) allTools() bool { return c.token.Tools == nil }

type callerKey struct{}

// callerFrom returns the caller of a request that has passed the checks.
func callerFrom(r *http.Request) caller {
	c, _ := r.Context().Value(callerKey{}).(caller)
	return c
}

// withCaller authenticates the sender of a request. The request's context ends with the caller's
// session. Call end after the request.
func (d *server) withCaller(r *http.Request) (_ *http.Request, c caller, end func()) {
	if c = d.callerOf(r); c.authenticated && !onSocket(r) {
		d.Trust(r.Context())
	}
	ctx := context.WithValue(r.Context(), callerKey{}, c)
	if c.user != "" {
		ctx = history.WithActor(ctx, c.user)
	}
	if c.session == nil {
		return r.WithContext(ctx), c, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(c.session.Context, cancel)
	return r.WithContext(ctx), c, func() { stop(); cancel() }
}

// callerOf returns the sender of a request. A name that a trusted proxy sends comes first: it may
// stand beside credentials that are for the proxy.
func (d *server) callerOf(r *http.Request) caller {
	switch names := d.namesByProxy(r); {
	case len(names) == 1:
		return d.userNamed(names[0])
	case len(names) > 1: // one of them is by the client
		return caller{}
	case onSocket(r): // its file's permissions have authenticated the caller
		return owner
	case r.Header.Get("Authorization") != "":
		return d.bearer(r.Header.Values("Authorization"))
	}
	return d.signedIn(r)
}

// isAdmitted reports whether the caller of a request in progress is still authenticated.
func (d *server) isAdmitted(r *http.Request) bool { return d.callerOf(r).authenticated }

// namesByProxy returns the names of users that a trusted proxy on this machine sends: one, or none.
func (d *server) namesByProxy(r *http.Request) []string {
	if d.UserHeader == "" || !onSocket(r) && !onLoopback(r) {
		return nil
	}
	return r.Header.Values(d.UserHeader)
}

// userNamed returns the user with a name. An unknown name is nobody.
func (d *server) userNamed(name string) caller {
	if d.Users == nil {
		return caller{}
	}
	u, ok := d.Users.ByName(name)
	return caller{authenticated: ok, user: u.Name, role: u.Role}
}

// bearer returns the holder of the token in a header.
func (d *server) bearer(header []string) caller {
	if len(header) != 1 {
		return caller{}
	}
	scheme, given, _ := strings.Cut(header[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return caller{}
	}
	return d.holderOf(sha256.Sum256([]byte(strings.TrimSpace(given))))
}

// holderOf returns the holder of the token with a hash. The comparison takes the same time for every
// token, so that its duration reveals nothing.
func (d *server) holderOf(sum users.Credential) (c caller) {
	for _, t := range d.tokens {
		if subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1 {
			c = caller{authenticated: true, token: t.Token, role: users.Admin}
		}
	}
	if c.authenticated || d.Users == nil {
		if !c.allTools() { // who may not see all tools must not define what they do
			c.role = users.Operator
		}
		return c
	}
	u, ok := d.Users.ByToken(sum)
	return caller{authenticated: ok, user: u.Name, role: u.Role}
}

// signedIn returns the person whose browser sent the cookie of a session. The session is as strong
// as the token that it came from, and ends with it.
func (d *server) signedIn(r *http.Request) caller {
	cookie, err := r.Cookie(cookieName(r))
	if err != nil {
		return caller{}
	}
	s := d.Sessions.Find(cookie.Value)
	if s == nil {
		return caller{}
	}
	c := owner
	if s.Credential != (users.Credential{}) {
		c = d.holderOf(s.Credential)
	}
	if !c.authenticated {
		d.Sessions.End(cookie.Value)
		return caller{}
	}
	c.session = s
	return c
}
