package mcp_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/mcp"
	"github.com/flowrun/flowrun/internal/waittest"
)

// TestSessionLimit checks that a client that opens sessions without end gets only so many, and ends only sessions that
// nobody uses.
func TestSessionLimit(t *testing.T) {
	s := serve(t, nil)
	h := httptest.NewServer(s.Handler(false))
	defer h.Close()
	post := func(session, body string) (id string, status int) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		r, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		io.Copy(io.Discard, r.Body)
		return r.Header.Get("Mcp-Session-Id"), r.StatusCode
	}
	const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	used, _ := post("", hello)
	unused, _ := post("", hello)
	for i := range mcp.MaxSessions + 200 {
		if id, status := post("", hello); id == "" || status != http.StatusOK {
			t.Fatalf("session %d: %q, status %d", i, id, status)
		}
		if i%100 == 0 {
			if _, status := post(used, ping); status != http.StatusOK {
				t.Fatalf("after %d sessions: status %d", i, status)
			}
			post("made-up", ping)
		}
	}
	waittest.Until(t, "the end of other sessions", func() bool { return mcp.Sessions(s.Server) <= mcp.MaxSessions }, func() any { return mcp.Sessions(s.Server) })
	if _, status := post(unused, ping); status != http.StatusNotFound {
		t.Errorf("a session that nobody uses has the status %d", status)
	}
}
