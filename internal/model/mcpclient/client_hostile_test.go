package mcpclient_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/model/mcpclient"
)

// TestHostileList is what a server can do wrong before it is called. No case may take long, use
// much memory, or affect another server.
func TestHostileList(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		tools   int
		problem string // "" for none
	}{
		"wrong-version": {0, "unsupported protocol version"},
		"rejects":       {0, "it answered: go [31maway"},
		"exits":         {0, "it ended with exit code 7; it printed: the token *** is wrong"},
		"endless-line":  {0, "it sent a message larger than 32 MiB"},
		"notes":         {1, ""},
		"mark":          {1, ""},
		"without-tools": {0, ""},
		"one-is-broken": {2, `its tool "b" is used without fields that are not valid: description`},
		"endless-pages": {100, "its list of tools does not end"},
		"same-page":     {1, "its list of tools does not end"},
		"many-tools":    {2000, "it lists 5000 tools; only the first 2000 are used"},
		"names":         {1, `its tool "[31mred" is not used: its name is not valid`},
		"descriptions":  {2, ""},
		"schemas":       {6, `its tool "giant" is not used: its schema is larger than 1 MiB`},
		"no-list":       {0, "cannot list its tools: it answered: broken"},
		"list-type":     {0, "cannot list its tools"},
		"dies-in-list":  {0, "cannot list its tools: it ended with exit code 1"},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := program(t, "h", kind)
			s.Env["TOKEN"] = "secret-token"
			u := use(t, "", s, program(t, "good", "good"))
			tools := u.Tools()
			hostile := 0
			for _, d := range tools {
				if strings.HasPrefix(d.Name, "h__") {
					hostile++
				}
				if strings.ContainsAny(d.Name+d.DisplayName+d.Description, "\x1b\a\r\x00\u202e\U000e0041") || len(d.Description) > 9<<10 {
					t.Errorf("%s: %.200q", d.Name, d.Description)
				}
				if schema, _ := d.Schema.MarshalJSON(); strings.Contains(string(schema), `\u001b`) {
					t.Errorf("%s: %s", d.Name, schema)
				}
			}
			if hostile != c.tools || len(tools) == hostile {
				t.Errorf("%d tools, want %d, and %d others", hostile, c.tools, len(tools)-hostile)
			}
			found := slices.ContainsFunc(u.problems, func(p string) bool { return strings.Contains(p, c.problem) })
			if c.problem == "" && len(u.problems) > 0 || c.problem != "" && !found {
				t.Errorf("%q, want %q", u.problems, c.problem)
			}
		})
	}
}

// TestHostileSchemas is which schemas are accepted.
func TestHostileSchemas(t *testing.T) {
	u := use(t, "", program(t, "h", "schemas"))
	var names []string
	for _, d := range u.Tools() {
		names = append(names, d.Name)
	}
	if want := []string{"h__t", "h__bad", "h__remote", "h__draft7", "h__named7", "h__draft2020"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q\n%s", names, want, strings.Join(u.problems, "\n"))
	}
	if text := strings.Join(u.problems, "\n"); !strings.Contains(text, `its tool "remote" is used without a part of its schema, which the server has to check: properties/a/$ref`) {
		t.Error(text)
	}
}

// TestHostileMute is a server that never answers. The limit of 30 seconds is not waited for: a
// signal ends connecting at once.
func TestHostileMute(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"mute", "mute-list"} {
		u := use(t, "", program(t, "h", kind))
		time.AfterFunc(300*time.Millisecond, func() { u.Interrupt(fmt.Errorf("received a signal")) })
		if list := u.Tools(); len(list) > 0 || len(u.problems) > 0 { // after the limit there is one
			t.Errorf("%s: %v, %q", kind, list, u.problems)
		}
	}
}

// TestHostileCall is what a server can do wrong in a call.
func TestHostileCall(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct {
		text, fails string
		calls       int // how often the server was called, for two calls of the user
	}{
		"dies":            {"", "the connection was lost during the call, so its outcome is unknown; it is not repeated: it ended with exit code 9; it printed: out of memory", 2},
		"mute-call":       {"", "it did not answer within 500ms; the outcome of the call is unknown", 2},
		"giant-result":    {"", "its outcome is unknown; it is not repeated: it sent a message larger than 32 MiB", 2},
		"twice":           {"fine", "", 2},
		"wrong-id":        {"fine", "", 2},
		"flood":           {"fine", "", 2},
		"asks":            {"fine", "", 2},
		"result-type":     {"text", "", 2},
		"unknown-content": {`{"type": "hologram", "data": "x"}`, "", 2},
		"null-result":     {"", "", 2},
		"stays":           {"fine", "", 2},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := program(t, "h", kind)
			calls := filepath.Join(t.TempDir(), "calls")
			s.Env["CALLS_FILE"] = calls
			if kind == "mute-call" {
				s.Timeout = 500 * time.Millisecond
			}
			u := use(t, "", s)
			for range 2 { // the second call connects again, if that is needed
				a := u.call(t.Context(), "h__t", "{}")
				why := errorOf(a)
				if c.fails == "" && why != "" || !strings.Contains(why, c.fails) {
					t.Errorf("%q, want %q", why, c.fails)
				}
				if c.fails == "" && a.Content.Text() != c.text {
					t.Errorf("%.100q, want %q", a.Content.Text(), c.text)
				}
			}
			if made, _ := os.ReadFile(calls); len(made) != c.calls {
				t.Errorf("the server was called %d times, want %d", len(made), c.calls)
			}
		})
	}
}

// TestHostileBigResult is a large result within the limits.
func TestHostileBigResult(t *testing.T) {
	t.Parallel()
	u := use(t, "", program(t, "h", "big-result"))
	if a := u.call(t.Context(), "h__t", "{}"); a.Error != nil || len(a.Content.Text()) < 8<<20 {
		t.Error(errorOf(a), len(a.Content.Text()))
	}
}

// TestHostileStays is a program that does not end when its input ends.
func TestHostileStays(t *testing.T) {
	t.Parallel()
	u := use(t, "", program(t, "h", "stays"))
	u.Tools()
	u.Close() // or this hangs
}

// TestHostileCancel cancels a call that the server ignores.
func TestHostileCancel(t *testing.T) {
	t.Parallel()
	u := use(t, "", program(t, "h", "mute-call"))
	u.Tools()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if a := u.call(ctx, "h__t", "{}"); a.Error == nil || strings.Contains(errorOf(a), "it did not answer within") {
		t.Error(errorOf(a))
	}
}

// TestChangedTool is a trusted server whose tool changes.
func TestChangedTool(t *testing.T) {
	state, description := t.TempDir(), filepath.Join(t.TempDir(), "description")
	describe := func(text string) {
		if err := os.WriteFile(description, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := program(t, "h", "changes")
	s.Env["DESCRIPTION_FILE"], s.Trust = description, true
	trusted := func(s mcpclient.ServerConfig) bool {
		u := use(t, state, s)
		list := u.Tools()
		if len(list) != 1 {
			t.Fatal(u.problems)
		}
		if told := len(u.problems) > 0; told == list[0].SourceTrusted && s.Trust {
			t.Errorf("trusted %v, problems %q", list[0].SourceTrusted, u.problems)
		}
		return list[0].SourceTrusted
	}
	steps := []struct {
		name, text string
		accept     bool
		change     func(*mcpclient.ServerConfig)
		want       bool
	}{
		{"first", "harmless", false, nil, true},
		{"the same", "harmless", false, nil, true},
		{"changed", "sends everything elsewhere", false, nil, false},
		{"again", "sends everything elsewhere", false, nil, false},
		{"back", "harmless", false, nil, true},
		{"accepted", "sends everything elsewhere", true, nil, true},
		{"other settings", "something else", false, func(s *mcpclient.ServerConfig) { s.Args = []string{"other"} }, true},
		{"not trusted", "harmless", false, func(s *mcpclient.ServerConfig) { s.Trust = false }, false},
	}
	for _, step := range steps {
		describe(step.text)
		one := s
		if step.change != nil {
			step.change(&one)
		}
		if step.accept {
			if err := use(t, state, one).Accept("h"); err != nil {
				t.Fatal(err)
			}
		}
		if got := trusted(one); got != step.want {
			t.Errorf("%s: trusted %v, want %v", step.name, got, step.want)
		}
	}
}

// TestHostileHTTP is what a server can do wrong over HTTP. The headers go to no other host.
func TestHostileHTTP(t *testing.T) {
	leaked := make(chan string, 10)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked <- r.Header.Get("Authorization") }))
	t.Cleanup(elsewhere.Close)
	reply := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		events  bool
		problem string
	}{
		"redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, false, "it refers to another host"},
		"endpoint elsewhere": {reply("text/event-stream", "event: endpoint\ndata: "+elsewhere.URL+"/x\n\n"), true, "cannot connect"},
		"no endpoint":        {reply("text/event-stream", "event: other\ndata: x\n\n"), true, "cannot connect"},
		"a page":             {reply("text/html", "<html>Log in</html>"), false, "cannot connect"},
		"forbidden":          {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who?", http.StatusForbidden) }, false, "cannot connect"},
		"broken":             {reply("application/json", "{"), false, "cannot connect"},
		"giant":              {reply("application/json", `{"jsonrpc": "2.0", "id": 1, "result": "`+strings.Repeat("x", 33<<20)+`"}`), false, "cannot connect"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(c.handler)
			defer server.Close()
			s := mcpclient.ServerConfig{Name: "h", HTTPURL: server.URL, Headers: map[string]string{"Authorization": "secret-token"}}
			if c.events {
				s.HTTPURL, s.URL = "", server.URL
			}
			u := use(t, "", s)
			if list := u.Tools(); len(list) > 0 || len(u.problems) != 1 || !strings.Contains(u.problems[0], c.problem) {
				t.Errorf("%q, want %q", u.problems, c.problem)
			}
			if strings.Contains(strings.Join(u.problems, ""), "secret-token") || len(strings.Join(u.problems, "")) > 20_000 {
				t.Errorf("%.1000q", u.problems)
			}
		})
	}
	if len(leaked) > 0 {
		t.Errorf("another host received %q", <-leaked)
	}
}

// TestLostSession is a server over HTTP that forgets its sessions, as after a restart: the next
// call makes a new one. Newer versions of the protocol have no sessions.
func TestLostSession(t *testing.T) {
	for _, version := range []string{"", "2025-11-25", "2025-06-18"} {
		t.Run(version, func(t *testing.T) {
			mcpclient.OfferOverHTTP(t, version)
			testLostSession(t)
		})
	}
}

func testLostSession(t *testing.T) {
	var current atomic.Pointer[http.Handler]
	restart := func() {
		server := goodServer()
		var h http.Handler = sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil)
		current.Store(&h)
	}
	restart()
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*current.Load()).ServeHTTP(w, r) }))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	u := use(t, "", mcpclient.ServerConfig{Name: "s", HTTPURL: front.URL, Timeout: time.Minute})
	for range 3 {
		if a := u.call(t.Context(), "s__echo", `{"text": "hi"}`); a.Error != nil {
			t.Error(errorOf(a))
		}
		restart()
	}
}

// TestHostileEnd is a server over HTTP that never answers the end of its session.
func TestHostileEnd(t *testing.T) {
	good := goodServer()
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return good }, nil)
	var ended atomic.Int64
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodDelete {
			ended.Add(1)
			<-r.Context().Done()
			return
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(func() { front.CloseClientConnections(); front.Close() })
	u := use(t, "", mcpclient.ServerConfig{Name: "s", HTTPURL: front.URL, Timeout: time.Minute})
	restore := mcpclient.OfferOverHTTP(t, "2025-11-25")
	if len(u.Tools()) == 0 {
		t.Fatal(u.problems)
	}
	restore()
	t.Parallel() // the library waits five seconds for the answer
	u.Close()
	if ended.Load() != 1 {
		t.Errorf("the end was asked for %d times", ended.Load())
	}
}

// TestSecretsInMessages: values of variables are in no message, wherever the settings name them.
func TestSecretsInMessages(t *testing.T) {
	t.Setenv("TEST_KEY", "secret-key")
	argument := program(t, "s", "exits")
	argument.Args = []string{"--token=$TEST_KEY"}
	argument.Env["TOKEN"] = "other-token"
	for name, s := range map[string]mcpclient.ServerConfig{
		"url":      {Name: "s", HTTPURL: "http://127.0.0.1:1/mcp?key=$TEST_KEY"},
		"events":   {Name: "s", URL: "http://127.0.0.1:1/$TEST_KEY/sse"},
		"argument": argument,
	} {
		u := use(t, "", s)
		u.Tools()
		if text := strings.Join(u.problems, "\n"); text == "" || strings.Contains(text, "secret-key") {
			t.Errorf("%s: %s", name, text)
		}
	}
}

// TestListedTwice is a trusted server that lists a tool twice: changed, and as it was accepted.
func TestListedTwice(t *testing.T) {
	state, description := t.TempDir(), filepath.Join(t.TempDir(), "description")
	s := program(t, "h", "changes")
	s.Env["DESCRIPTION_FILE"], s.Trust = description, true
	for _, step := range []struct {
		text, twice string
		want        bool
	}{{"harmless", "", true}, {"sends everything elsewhere", "harmless", false}, {"harmless", "harmless", false}, {"harmless", "", true}} {
		if err := os.WriteFile(description, []byte(step.text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.Env["TWICE"] = step.twice
		u := use(t, state, s)
		if list := u.Tools(); len(list) != 1 || list[0].Description != step.text || list[0].SourceTrusted != step.want {
			t.Errorf("%+v: %v, %q", step, list, u.problems)
		}
	}
}
