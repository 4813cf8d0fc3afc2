package web

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/users"
)

// caller is what a request has proved about its sender.
type caller struct {
	users.Caller
	token   service.Token  // the token it sent; otherwise the zero Token, which is valid for all tools
	user    string         // the name of a user of the service; "" for the owner and for others with a token
	session *users.Session // nil if the request belongs to none
}

// owner is the user of the service's process, who may do everything.
var owner = caller{Caller: users.Caller{Identity: users.Owner, Role: users.Admin}}

// authenticated reports whether the sender is known.
func (c caller) authenticated() bool { return c.Identity != "" }

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

// withCaller authenticates the sender of a request. The request's context says who it is, and ends when
// the caller's life does: streams need no check of their own. Call end after the request.
func (d *server) withCaller(r *http.Request) (_ *http.Request, c caller, end func()) {
	c = d.callerOf(r)
	ctx := context.WithValue(users.WithCaller(r.Context(), c.Caller), callerKey{}, c)
	if c.user != "" {
		ctx = history.WithActor(ctx, c.user)
	}
	ctx, cancel := context.WithCancel(ctx)
	stop, unused := c.AfterLife(cancel), func() {}
	if c.session != nil {
		unused = d.Sessions.Use(c.session)
	}
	return r.WithContext(ctx), c, func() { stop(); cancel(); unused() }
}

// errBusy is the error for a caller who has as many requests in progress as a caller may have.
var errBusy = &problem{status: 503, header: []string{"Retry-After", "5", "Connection", "close"}, Code: "too-many-requests",
	Message: "too many of your requests are in progress", Hint: "close streams that you do not need, or try again in a moment"}

// enter asks for a place for a request of an authenticated caller, until the request ends.
func (d *server) enter(r *http.Request, c users.Caller, lasts bool) error {
	if !d.Enter(r.Context(), c, lasts) {
		return errBusy
	}
	return nil
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
	if u, ok := d.Users.ByName(name); ok {
		return d.callerFor(u)
	}
	return caller{}
}

// callerFor returns the caller who is a user of the service.
func (d *server) callerFor(u users.User) caller {
	return caller{Caller: users.Caller{Identity: users.IdentityOf(u.Name), Role: u.Role, Life: d.Users.Life(u)}, user: u.Name}
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
	c, _ := d.holder(given)
	return c
}

// holder returns the holder of a token, and the hash of the token.
func (d *server) holder(token string) (caller, users.Credential) {
	sum := sha256.Sum256([]byte(strings.TrimSpace(token)))
	return d.holderOf(sum), sum
}

// holderOf returns the holder of the token with a hash. The comparison takes the same time for every
// token, so that its duration reveals nothing.
func (d *server) holderOf(sum users.Credential) (c caller) {
	for _, t := range d.tokens {
		if subtle.ConstantTimeCompare(sum[:], t.sum[:]) == 1 {
			c = caller{Caller: users.Caller{Identity: users.IdentityOfToken(sum), Role: users.Admin}, token: t.Token}
		}
	}
	if c.authenticated() || d.Users == nil {
		if !c.allTools() { // who may not see all tools must not define what they do
			c.Role = users.Operator
		}
		return c
	}
	if u, ok := d.Users.ByToken(sum); ok {
		return d.callerFor(u)
	}
	return caller{}
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
	if !c.authenticated() {
		d.Sessions.End(cookie.Value)
		return caller{}
	}
	c.session, c.Life = s, s.Context // which ends with the user, too
	return c
}
