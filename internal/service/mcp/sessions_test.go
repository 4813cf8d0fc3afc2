package mcp_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// peer is an HTTP client of a Server.
type peer struct {
	testing.TB
	url string
	who string // sent in the header Who
}

// overHTTP serves a Server over HTTP. A request says itself who its caller is; lives have the contexts of callers.
func (s *served) overHTTP(t testing.TB, stateless bool, lives map[string]context.Context) *httptest.Server {
	h := s.Handler(stateless)
	mcp.Hasten(h, 200*time.Millisecond)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who := r.Header.Get("Who")
		h.ServeHTTP(w, r.WithContext(users.WithCaller(r.Context(), users.Caller{Identity: users.IdentityOf(who), Life: lives[who]})))
	}))
	t.Cleanup(server.Close)
	return server
}

// send sends a message in a session, and returns the response, whose body is open.
func (p peer) send(ctx context.Context, method, session, body string) *http.Response {
	p.Helper()
	return p.request(ctx, method, body, map[string]string{"Mcp-Session-Id": session})
}

// request sends a message with these headers, as far as they have values. The body of the response is open.
func (p peer) request(ctx context.Context, method, body string, headers map[string]string) *http.Response {
	p.Helper()
	req, err := http.NewRequestWithContext(ctx, method, p.url, strings.NewReader(body))
	if err != nil {
		p.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Who", p.who)
	for name, value := range headers {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	r, err := http.DefaultClient.Do(req)
	if err != nil {
		if ctx.Err() == nil {
			p.Error(err)
		}
		return &http.Response{Header: http.Header{}, Body: http.NoBody} // the test has hung up before the answer began
	}
	return r
}

// post sends a message, and reads the answer.
func (p peer) post(session, body string) (id string, status int) {
	p.Helper()
	r := p.send(p.Context(), http.MethodPost, session, body)
	defer r.Body.Close()
	io.Copy(io.Discard, r.Body)
	return r.Header.Get("Mcp-Session-Id"), r.StatusCode
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}`
	ping       = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
)

// TestSessionOwner checks that a session exists only for the caller who opened it, and not longer than the caller, and
// that an id that nobody got does not exist.
func TestSessionOwner(t *testing.T) {
	life, end := context.WithCancel(t.Context())
	h := serve(t, nil).overHTTP(t, false, map[string]context.Context{"adam": life})
	adam, otto := peer{t, h.URL, "adam"}, peer{t, h.URL, "otto"}
	first := adam.send(t.Context(), http.MethodPost, "", initialize)
	defer first.Body.Close()
	of := first.Header.Get("Mcp-Session-Id")
	ottos, _ := otto.post("", initialize)
	for _, c := range []struct {
		who     peer
		session string
		status  int
	}{{adam, of, 200}, {otto, of, 404}, {peer{t, h.URL, ""}, of, 404}, {adam, ottos, 404}, {adam, "made-up", 404}, {otto, ottos, 200}} {
		if _, status := c.who.post(c.session, ping); status != c.status {
			t.Errorf("%s in a session of somebody: status %d, want %d", c.who.who, status, c.status)
		}
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			if c.status == 200 {
				continue
			}
			r := c.who.send(t.Context(), method, c.session, "")
			text, _ := io.ReadAll(r.Body)
			if r.Body.Close(); r.StatusCode != 404 || string(text) != "session not found\n" {
				t.Errorf("%s by %s: %d %s", method, c.who.who, r.StatusCode, text)
			}
		}
	}
	end()
	waittest.Until(t, "the end of the session", func() bool { _, status := adam.post(of, ping); return status == 404 }, func() any { return of })
	if _, status := otto.post(ottos, ping); status != 200 {
		t.Errorf("the session of another: status %d", status)
	}
}

// TestAnswerOfAnother checks that only the caller whose client was asked about a call can answer, also without sessions.
func TestAnswerOfAnother(t *testing.T) {
	s := serve(t, nil)
	h := s.overHTTP(t, true, nil)
	call := func(who, more string) (result struct {
		RequestState string
		IsError      bool
	}) {
		body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask","arguments":{}` + more + `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"elicitation":{"form":{}}}}}}`
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, h.URL, strings.NewReader(body))
		for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Who": who, "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/call", "Mcp-Name": "ask"} {
			r.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body)
		_, data, _ := strings.Cut(string(text), "data: ")
		answer := struct{ Result any }{&result}
		if err := json.Unmarshal([]byte(data), &answer); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return result
	}
	for _, who := range []string{"adam", "otto"} {
		asked := call("adam", "")
		if asked.RequestState == "" {
			t.Fatal("nobody is asked")
		}
		answer := call(who, `,"requestState":"`+asked.RequestState+`","inputResponses":{"approval":{"action":"accept","content":{"decision":"approve"}}}`)
		if answer.IsError != (who != "adam") {
			t.Errorf("the answer of %s: refused %v", who, answer.IsError)
		}
	}
}

// TestSessionLimit checks that a client that opens sessions without end gets only so many, and ends only sessions that
// nobody uses.
func TestSessionLimit(t *testing.T) {
	s := serve(t, nil)
	post := peer{t, s.overHTTP(t, false, nil).URL, ""}.post
	used, _ := post("", initialize)
	unused, _ := post("", initialize)
	for i := range mcp.MaxSessions + 200 {
		if id, status := post("", initialize); id == "" || status != http.StatusOK {
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
