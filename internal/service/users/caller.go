package users

import (
	"context"
	"encoding/hex"
)

// Identity says who sent a request, at every entry point. Requests with the same Identity are by the same
// person or program. "" is nobody.
type Identity string

// Owner is the user of the service's process.
const Owner Identity = "owner"

// IdentityOf returns the Identity of the user with a name.
func IdentityOf(name string) Identity { return Identity("user " + name) }

// IdentityOfToken returns the Identity of those who share a token that belongs to no user.
func IdentityOfToken(c Credential) Identity { return Identity("token " + hex.EncodeToString(c[:])) }

// IdentityOfWebhook returns the Identity of those who know the secret of a webhook.
func IdentityOfWebhook(name string) Identity { return Identity("webhook " + name) }

// Caller is the sender of a request.
type Caller struct {
	Identity Identity
	Role     Role
	// Life ends when the credentials of the caller are no longer valid, or give another role. nil never
	// ends.
	Life context.Context
}

// AfterLife calls f in its own goroutine when the Life of the caller has ended. Call stop if f is not
// needed any more.
func (c Caller) AfterLife(f func()) (stop func() bool) {
	if c.Life == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(c.Life, f)
}

type callerKey struct{}

// WithCaller returns a context for what a caller requests.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// CallerOf returns the caller of WithCaller; the zero Caller is nobody.
func CallerOf(ctx context.Context) Caller {
	c, _ := ctx.Value(callerKey{}).(Caller)
	return c
}
