package mcp

import (
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// sessionTimeout ends the session of an HTTP client that sends nothing for so long.
	sessionTimeout = 30 * time.Minute
	// maxSessions limits the memory that clients can fill with sessions. One needs about 10 KB.
	maxSessions = 1000
	// sessionHeader is the header with the id of a session.
	sessionHeader = "Mcp-Session-Id"
)

// sessionLimit passes on requests over HTTP. Before there would be too many sessions, it ends the one that was not used
// for the longest time; its client has to open a new one. Many clients never end theirs.
type sessionLimit struct {
	http.Handler
	server *mcp.Server

	mu   sync.Mutex
	used map[string]*sessionUse // by the id of the session
}

// sessionUse says when a session was used.
type sessionUse struct {
	last   time.Time
	active int // requests in progress
}

// ServeHTTP implements http.Handler.
func (l *sessionLimit) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := r.Header.Get(sessionHeader)
	if id == "" && !l.makeRoom() {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	}
	l.use(id, 1)
	l.Handler.ServeHTTP(w, r)
	l.use(id, -1)
	if opened := w.Header().Get(sessionHeader); opened != id {
		l.use(opened, 0)
	}
}

// use records that a session is used, and counts its requests in progress. It ignores sessions that do not exist: a
// client can write any id.
func (l *sessionLimit) use(id string, requests int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.used[id]
	if u == nil {
		if requests != 0 || id == "" {
			return
		}
		u = &sessionUse{}
		l.used[id] = u
	}
	u.last = time.Now()
	u.active += requests
}

// makeRoom reports whether there can be one more session.
func (l *sessionLimit) makeRoom() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.used) < maxSessions {
		return true
	}
	open := map[string]*mcp.ServerSession{}
	for s := range l.server.Sessions() {
		open[s.ID()] = s
	}
	oldest := ""
	for id, u := range l.used {
		if open[id] == nil {
			delete(l.used, id)
		} else if u.active == 0 && (oldest == "" || u.last.Before(l.used[oldest].last)) {
			oldest = id
		}
	}
	if len(l.used) < maxSessions {
		return true
	}
	if oldest == "" {
		return false
	}
	delete(l.used, oldest)
	go open[oldest].Close() // it waits for what is in progress
	return true
}
