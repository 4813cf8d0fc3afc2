package web

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/attention"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// onePlace is the file that decides who sent a request, and the others that may say these words.
var onePlace = map[string][]string{
	"callerOf(":          {"caller.go"},
	".users.":            {"caller.go"},
	".Users":             {"caller.go"},
	".tokens":            {"caller.go"},
	".Tokens":            {"caller.go"},
	".userHeader":        {"caller.go"},
	".UserHeader":        {"caller.go"},
	"essions.Find(":      {"caller.go"},
	"users.WithCaller(":  {"caller.go"},
	"history.WithActor(": {"caller.go"},
	"history.ActorOf(":   nil,
	".Cookie(":           {"caller.go", "signin.go"}, // to end the session
	`"Authorization"`:    {"caller.go", "guard.go"},  // to slow down who guesses
	"mux.Handle(":        {"web.go"},
	"http.HandlerFunc(":  {"guard.go", "signin.go", "web.go"},
	"r.RemoteAddr":       {"throttle.go"},
	"http.NewServeMux(":  {"web.go"},
	"runID(":             {"guard.go"}, // before each handler
	".Enter":             {"web.go"},   // which passes it to the type places
	".places(":           nil,
}

// TestOnePlace checks that no handler decides by itself who sent a request.
func TestOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for word, places := range onePlace {
			if !strings.HasSuffix(file, "_test.go") && strings.Contains(string(text), word) && !slices.Contains(places, file) {
				t.Errorf("%s says %q: ask the caller of the request (caller.go)", file, word)
			}
		}
	}
}

type schedules = service.Schedules

// noSchedules adds the routes of schedules.
type noSchedules struct{ schedules }

// TestEveryRouteKnowsCaller checks that each route has a role, that nobody without it reaches the handler, and that the handler
// knows who the others are.
func TestEveryRouteKnowsCaller(t *testing.T) {
	dir := t.TempDir()
	senders := map[string]string{"": "", "token": "the token of the service", "limited": "a token for some tools"} // name -> token
	for _, role := range users.RoleNames() {
		token, err := users.Add(dir, role, users.Role(role))
		if err != nil {
			t.Fatal(err)
		}
		senders[role] = token
	}
	h, err := New(&Service{}, Options{Users: users.NewRegistry(dir, func(err error) { t.Error(err) }), MCP: http.NotFoundHandler(), Metrics: http.NotFoundHandler(),
		Schedules: noSchedules{}, Attention: func() []attention.Item { return nil }, Audit: sqlite.Audit{}, Webhooks: []config.Webhook{{Name: "x", Secret: []byte("x")}},
		Tokens: []service.Token{{Text: senders["token"]}, {Text: senders["limited"], Tools: []string{"x"}}}})
	if err != nil {
		t.Fatal(err)
	}
	d := h.(*server)
	ids := map[string]bool{}
	for _, rt := range tableOf(d.groups) {
		ids[rt.id] = true
		if !slices.Contains(users.RoleNames(), string(rt.role())) || changes(rt.method) && rt.role() == users.Viewer && rt.id != "logout" {
			t.Errorf("%s has the role %q", rt.id, rt.role())
		}
		var seen *http.Request
		rt.handle = func(_ http.ResponseWriter, r *http.Request) error { seen = r; return nil }
		rt.path, rt.continuesRun = strings.ReplaceAll(rt.path, "{id}", "x"), false // which run it is does not matter
		for name, token := range senders {
			seen = nil
			r := httptest.NewRequest(rt.method, rt.path, nil)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.IPv4(192, 0, 2, 1)}))
			if token != "" {
				r.Header.Set("Authorization", "Bearer "+token)
			}
			d.handler(rt).ServeHTTP(&response{ResponseWriter: httptest.NewRecorder()}, r)
			role := map[string]users.Role{"token": users.Admin, "limited": users.Operator}[name]
			if slices.Contains(users.RoleNames(), name) {
				role = users.Role(name)
			}
			if allowed := rt.auth == openToAll || role.Includes(rt.role()); (seen != nil) != allowed {
				t.Errorf("%s is reached by %q: %v", rt.id, name, seen != nil)
			}
			if seen == nil {
				continue
			}
			actor := history.ActorOf(seen.Context())
			who := users.CallerOf(seen.Context())
			if c := callerFrom(seen); c.Caller != who || who.Role != role || (who.Identity == "") != (name == "") || actor != c.user || (role != "" && string(role) == name) != (actor == name && name != "") {
				t.Errorf("%s by %q: %+v, %q", rt.id, name, who, actor)
			}
		}
	}
	for id := range roleOf {
		if !ids[id] {
			t.Errorf("there is no route %s, but it has a role", id)
		}
	}
}
