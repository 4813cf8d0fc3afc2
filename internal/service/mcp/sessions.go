package mcp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/service/users"
)

const (
	// sessionTimeout ends the session of an HTTP client that sends nothing for so long.
	sessionTimeout = 30 * time.Minute
	// maxSessions limits the memory that clients can fill with sessions. One needs about 10 KB.
	maxSessions = 1000
	// sessionHeader is the header with the id of a session, versionHeader that with the version of the protocol.
	// unsaidVersion is the version of requests without that header, which some clients send always.
	sessionHeader, versionHeader, unsaidVersion = "Mcp-Session-Id", "Mcp-Protocol-Version", "2025-03-26"
)

// errClientGone is the cause with which the calls of a client end that cannot receive their results.
var errClientGone = errors.New("the client is gone")

// sessions are the sessions of HTTP clients. A session belongs to the caller who opened it: for others it does not
// exist. Before there would be too many, it ends the one that was not used for the longest time; its client has to open
// a new one. Many clients never end theirs.
type sessions struct {
	http.Handler
	server    *mcp.Server
	stateless bool          // ids of sessions are ignored: each request stands alone
	grace     time.Duration // how long calls go on without a connection to their client

	mu   sync.Mutex
	open map[string]*session // by id
}

// session is the session of an HTTP client.
type session struct {
	owner  users.Caller
	speaks string      // the version of the protocol, "" until it is agreed on
	ended  func() bool // stops waiting for the end of the owner
	last   time.Time   // when it was used
	active int         // requests in progress that can receive something
	alone  *time.Timer // cancels the calls, while there are none of these
	calls  sessionCalls
}

type sessionKey struct{}

// ServeHTTP implements http.Handler.
func (l *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id, owner := r.Header.Get(sessionHeader), users.CallerOf(r.Context())
	if id == "" || l.stateless {
		if !l.makeRoom() {
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many sessions", http.StatusServiceUnavailable)
			return
		}
		s := &session{owner: owner}
		defer l.enter(r.Context(), s)()
		// The library keeps the values of this context for all requests of the session, so they find it there.
		l.Handler.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), sessionKey{}, s)))
		return
	}
	s := l.find(id, owner)
	switch {
	case s == nil:
		http.Error(w, "session not found", http.StatusNotFound)
	case r.Method == http.MethodDelete:
		s.calls.cancel(errClientGone) // the end of a session waits for its calls
		l.Handler.ServeHTTP(w, r)
		l.forget(id)
	default:
		defer l.enter(r.Context(), s)()
		l.Handler.ServeHTTP(w, l.inVersion(r, s))
	}
}

// inVersion returns a request in the version that its session has agreed on, if it says no other. The library would take it
// for one of a client that cannot continue a stream.
func (l *sessions) inVersion(r *http.Request, s *session) *http.Request {
	l.mu.Lock()
	defer l.mu.Unlock()
	if said := r.Header.Get(versionHeader); s.speaks != "" && (said == "" || said == unsaidVersion) {
		r = r.Clone(r.Context())
		r.Header.Set(versionHeader, s.speaks)
	}
	return r
}

// opening is middleware of the server that records a new session before its client gets to know the id.
func (l *sessions) opening(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
		s, ok := ctx.Value(sessionKey{}).(*session)
		if !ok || method != "initialize" {
			return next(ctx, method, r)
		}
		l.add(r.GetSession().ID(), s)
		result, err := next(ctx, method, r)
		if agreed, ok := result.(*mcp.InitializeResult); ok && err == nil {
			l.mu.Lock()
			defer l.mu.Unlock()
			s.speaks = agreed.ProtocolVersion
		}
		return result, err
	}
}

func (l *sessions) add(id string, s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if id == "" || l.open[id] != nil {
		return
	}
	l.open[id] = s
	s.ended = s.owner.AfterLife(func() { l.end(id) })
}

// find returns the session with an id, nil if the caller has none.
func (l *sessions) find(id string, owner users.Caller) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.open[id]; s != nil && s.owner.Identity == owner.Identity {
		return s
	}
	return nil
}

// enter notes that a client is connected until ctx, the context of its request, ends or leave is called.
func (l *sessions) enter(ctx context.Context, s *session) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.last = time.Now()
	s.active++
	if s.alone != nil {
		s.alone.Stop()
	}
	stop := context.AfterFunc(ctx, func() { l.leave(s) }) // a request without a session ends only with its call
	return func() {
		if stop() {
			l.leave(s)
		}
	}
}

// leave notes that one connection of a client has ended. The calls are cancelled if the client does not come back:
// without another connection, it is more likely gone.
func (l *sessions) leave(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s.last = time.Now()
	if s.active--; s.active == 0 {
		s.alone = time.AfterFunc(l.grace, func() { l.giveUp(s) })
	}
}

// giveUp cancels the calls of a client that has not come back.
func (l *sessions) giveUp(s *session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.active == 0 {
		s.calls.cancel(errClientGone)
	}
}

// end ends a session whose owner is not allowed to use it any more, with its calls.
func (l *sessions) end(id string) {
	s := l.forget(id)
	if s == nil {
		return
	}
	s.calls.cancel(errClientGone)
	for o := range l.server.Sessions() {
		if o.ID() == id {
			o.Close()
		}
	}
}

// forget removes a session, and returns it.
func (l *sessions) forget(id string) *session {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.remove(id)
}

// remove is forget with l.mu held.
func (l *sessions) remove(id string) *session {
	s := l.open[id]
	if s != nil {
		s.ended()
		delete(l.open, id)
	}
	return s
}

// makeRoom reports whether there can be one more session.
func (l *sessions) makeRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.open) < maxSessions {
		return true
	}
	current := map[string]*mcp.ServerSession{}
	for s := range l.server.Sessions() {
		current[s.ID()] = s
	}
	oldest := ""
	for id, s := range l.open {
		if current[id] == nil {
			l.remove(id)
		} else if s.active == 0 && (oldest == "" || s.last.Before(l.open[oldest].last)) {
			oldest = id
		}
	}
	if len(l.open) < maxSessions {
		return true
	}
	if oldest == "" {
		return false
	}
	l.remove(oldest)
	go current[oldest].Close() // it waits for what is in progress
	return true
}

// sessionCalls are the calls of one session in progress.
type sessionCalls struct {
	mu   sync.Mutex
	open map[context.Context]context.CancelCauseFunc
}

// enterCall returns the context of a call, which ends when the calls of its session are cancelled. Call leave when the
// call has ended.
func enterCall(ctx context.Context) (_ context.Context, leave func()) {
	s, _ := ctx.Value(sessionKey{}).(*session)
	if s == nil { // not over HTTP
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	l := &s.calls
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open == nil {
		l.open = map[context.Context]context.CancelCauseFunc{}
	}
	l.open[ctx] = cancel
	return ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, ctx)
		cancel(nil)
	}
}

// cancel cancels the calls in progress.
func (l *sessionCalls) cancel(why error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, stop := range l.open {
		stop(why)
	}
}
