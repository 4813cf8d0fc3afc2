package web_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/library"
)

// faulty fails to start runs, and panics where it is asked for more than Start.
type faulty struct {
	web.Starter
	err error
}

func (f faulty) Start(context.Context, service.Request) (string, error) { return "", f.err }

// serve calls a server without a connection.
func serve(handler http.Handler, method, path, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, r)
	return w
}

// TestHostile checks the responses to hostile requests.
func TestHostile(t *testing.T) {
	b := newBench(t, web.Options{Hosts: []string{"flow.example.com"}, MaxBody: 2000,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/plain") })})
	run := b.start(`{"tool": "hello"}`)
	b.becomes(run, dag.Succeeded)
	live, _ := b.gated()
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	for _, c := range []struct {
		name, method, path, body string
		header                   []string
		status                   int
		code                     string
	}{
		{"no token", "GET", "/api/v1/runs", "", []string{"Authorization", ""}, 401, "unauthorized"},
		{"a wrong token", "GET", "/api/v1/runs", "", []string{"Authorization", "Bearer x"}, 401, "unauthorized"},
		{"half a token", "GET", "/api/v1/runs", "", []string{"Authorization", "Bearer " + token[:5]}, 401, "unauthorized"},
		{"another scheme", "GET", "/api/v1/runs", "", []string{"Authorization", "Basic " + token}, 401, "unauthorized"},
		{"no scheme", "GET", "/api/v1/runs", "", []string{"Authorization", token}, 401, "unauthorized"},
		{"no token, nowhere", "GET", "/nowhere", "", []string{"Authorization", ""}, 401, "unauthorized"},
		{"a token in the query", "GET", "/api/v1/runs?token=" + token, "", nil, 400, "token-in-query"},
		{"a token in the query alone", "GET", "/api/v1/runs?Access_Token=" + token, "", []string{"Authorization", ""}, 400, "token-in-query"},
		{"a token in the query of what needs none", "GET", "/healthz?token=" + token, "", nil, 400, "token-in-query"},
		{"a rebound name", "GET", "/api/v1/runs", "", []string{"Host", "evil.example"}, 403, "foreign-host"},
		{"a rebound name for health", "GET", "/healthz", "", []string{"Host", "evil.example:7878"}, 403, "foreign-host"},
		{"a name that begins like ours", "GET", "/healthz", "", []string{"Host", "localhost.evil.example"}, 403, "foreign-host"},
		{"another address", "GET", "/healthz", "", []string{"Host", "10.1.2.3"}, 403, "foreign-host"},
		{"our name", "GET", "/healthz", "", []string{"Host", "LOCALHOST.:80"}, 200, ""},
		{"our address", "GET", "/healthz", "", []string{"Host", "[::1]"}, 200, ""},
		{"a name that was given", "GET", "/healthz", "", []string{"Host", "flow.example.com:443"}, 200, ""},
		{"another origin", "POST", "/api/v1/runs", `{"tool": "hello"}`, []string{"Origin", "http://evil.example"}, 403, "foreign-origin"},
		{"another origin's form", "POST", "/api/v1/runs", `{"tool": "hello"}`, []string{"Sec-Fetch-Site", "cross-site"}, 403, "foreign-origin"},
		{"no origin", "POST", "/api/v1/runs", `{"tool": "hello"}`, []string{"Origin", "null"}, 403, "foreign-origin"},
		{"a preflight", "OPTIONS", "/api/v1/runs", "", []string{"Origin", "http://evil.example", "Access-Control-Request-Method", "POST"}, 405, "wrong-method"},

		{"no route", "GET", "/api/v1/run", "", nil, 404, "not-found"},
		{"a path to be cleaned", "GET", "/api//v1/runs", "", nil, 404, "not-found"},
		{"a path upwards", "GET", "/api/v1/../../etc/passwd", "", nil, 404, "not-found"},
		{"a wrong method", "DELETE", "/api/v1/runs", "", nil, 405, "wrong-method"},
		{"a run with SQL", "GET", "/api/v1/runs/x'%20OR%201=1", "", nil, 404, "unknown-run"},
		{"a run with a path", "GET", "/api/v1/runs/..%2f..%2fetc", "", nil, 404, "unknown-run"},
		{"a run's logs upwards", "GET", "/api/v1/runs/%2e%2e/logs", "", nil, 404, "unknown-run"},
		{"no such run", "GET", "/api/v1/runs/0123456789abc", "", nil, 404, "unknown-run"},
		{"half a run", "GET", "/api/v1/runs/" + run[:6], "", nil, 404, "unknown-run"},
		{"no such run's events", "GET", "/api/v1/runs/0123456789abc/events", "", nil, 404, "unknown-run"},
		{"no such run to cancel", "POST", "/api/v1/runs/0123456789abc/cancel", "", nil, 404, "unknown-run"},
		{"a run that is over to cancel", "POST", "/api/v1/runs/" + run + "/cancel", "", nil, 409, "ended"},
		{"a run that is over to resume", "POST", "/api/v1/runs/" + run + "/resume", "", nil, 409, "finished"},
		{"a run that goes on to resume", "POST", "/api/v1/runs/" + live + "/resume", "", nil, 409, "live"},
		{"a run that goes on to retry", "POST", "/api/v1/runs/" + live + "/retry", "", nil, 409, "live"},
		{"no such step to retry", "POST", "/api/v1/runs/" + run + "/retry", `{"from": ["helo"]}`, nil, 404, "unknown-step"},
		{"no such step's logs", "GET", "/api/v1/runs/" + run + "/logs?step=helo", "", nil, 404, "unknown-step"},

		{"no body", "POST", "/api/v1/runs", "", nil, 400, "no-tool"},
		{"no JSON", "POST", "/api/v1/runs", "tool=hello", nil, 400, "broken-json"},
		{"half a JSON", "POST", "/api/v1/runs", `{"tool": "hello"`, nil, 400, "broken-json"},
		{"two JSONs", "POST", "/api/v1/runs", `{"tool": "hello"} {}`, nil, 400, "broken-json"},
		{"a key twice", "POST", "/api/v1/runs", `{"tool": "hello", "params": {"WHO": "a", "WHO": "b"}}`, nil, 400, "broken-json"},
		{"64 levels", "POST", "/api/v1/runs", `{"tool": "hello", "params": {"WHO": ` + deep + `}}`, nil, 400, "broken-json"},
		{"half of a character", "POST", "/api/v1/runs", `{"tool": "\ud83d"}`, nil, 400, "broken-json"},
		{"no UTF-8", "POST", "/api/v1/runs", "{\"tool\": \"\xff\"}", nil, 400, "broken-json"},
		{"no object", "POST", "/api/v1/runs", `["hello"]`, nil, 400, "not-an-object"},
		{"a field that is none", "POST", "/api/v1/runs", `{"tool": "hello", "parms": {}}`, nil, 400, "unknown-field"},
		{"a tool that is no text", "POST", "/api/v1/runs", `{"tool": 7}`, nil, 400, "wrong-type"},
		{"parameters that are no object", "POST", "/api/v1/runs", `{"tool": "hello", "params": []}`, nil, 400, "wrong-type"},
		{"a form", "POST", "/api/v1/runs", `{"tool": "hello"}`, []string{"Content-Type", "text/plain"}, 415, "media-type"},
		{"no type", "POST", "/api/v1/runs", `{"tool": "hello"}`, []string{"Content-Type", ""}, 415, "media-type"},
		{"a large body", "POST", "/api/v1/runs", `{"tool": "` + strings.Repeat("x", 2000) + `"}`, nil, 413, "too-large"},
		{"an empty key", "POST", "/api/v1/runs", `{"tool": "hello"}`, []string{"Idempotency-Key", strings.Repeat("k", 256)}, 400, "wrong-key"},
		{"no such tool", "POST", "/api/v1/runs", `{"tool": "helo"}`, nil, 404, "unknown-tool"},
		{"no such tool to show", "GET", "/api/v1/tools/helo", "", nil, 404, "unknown-tool"},
		{"a file", "POST", "/api/v1/runs", `{"tool": "/etc/x.yaml"}`, nil, 400, "tool-path"},
		{"a file to show", "GET", "/api/v1/tools/..%2fx", "", nil, 400, "tool-path"},
		{"a broken tool", "POST", "/api/v1/runs", `{"tool": "broken"}`, nil, 422, "invalid-definition"},
		{"a tool with rights", "POST", "/api/v1/runs", `{"tool": "root"}`, nil, 403, "refused"},
		{"wrong parameters", "POST", "/api/v1/runs", `{"tool": "hello", "params": {"WHO": "-rf", "N": "many", "X": 1}}`, nil, 422, "invalid-parameters"},

		{"an option for a value", "POST", "/api/v1/runs", `{"tool": "bare", "params": {"WHO": "-rf"}}`, nil, 422, "invalid-parameters"},

		{"no such query", "GET", "/api/v1/runs?limits=5", "", nil, 400, "unknown-query"},
		{"a query twice", "GET", "/api/v1/runs?limit=5&limit=6", "", nil, 400, "repeated-query"},
		{"no such state", "GET", "/api/v1/runs?status=fail", "", nil, 400, "wrong-query"},
		{"a limit too high", "GET", "/api/v1/runs?limit=1001", "", nil, 400, "wrong-query"},
		{"no time", "GET", "/api/v1/runs?since=yesterday", "", nil, 400, "wrong-query"},
		{"a broken query", "GET", "/api/v1/runs?%zz", "", nil, 400, "broken-query"},
		{"a position that is none", "GET", "/api/v1/events?after=-1", "", nil, 400, "wrong-position"},
		{"a last event that is none", "GET", "/api/v1/runs/" + run + "/events", "", []string{"Last-Event-ID", "x"}, 400, "wrong-position"},
		{"no such stream", "GET", "/api/v1/runs/" + run + "/logs?stream=stdin", "", nil, 400, "wrong-query"},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, doc := b.ask(c.method, c.path, c.body, c.header...)
			if c.code == "" {
				if res.StatusCode != c.status {
					t.Errorf("%d %s", res.StatusCode, doc)
				}
				return
			}
			p := problemIn(t, doc)
			if res.StatusCode != c.status || p.Code != c.code || p.Message == "" || strings.Contains(string(doc), b.dir) || strings.Contains(string(doc), "/etc/") && !strings.Contains(c.body+c.path, "/etc/") {
				t.Errorf("%d %s", res.StatusCode, doc)
			}
			if c.status == 401 && res.Header.Get("WWW-Authenticate") == "" {
				t.Error("it does not say how to authenticate")
			}
			if c.status == 405 && res.Header.Get("Allow") == "" {
				t.Error("it does not say which methods there are")
			}
		})
	}
	_, doc := b.ask("POST", "/api/v1/runs", `{"tool": "hello", "params": {"WHO": "-rf", "N": "many", "X": 1}}`)
	if p := problemIn(t, doc); len(p.Problems) != 2 {
		t.Errorf("not all problems are reported: %s", doc)
	}
	if _, doc := b.ask("POST", "/api/v1/runs", `{"tool": "helo"}`); problemIn(t, doc).Hint != `did you mean "hello"?` {
		t.Errorf("%s", doc)
	}
	if strings.Contains(b.logged(), token) {
		t.Errorf("the token is in the log: %s", b.logged())
	}
}

// TestTokenless checks that routes open on the loopback interface need a token elsewhere,
// and that a Unix socket needs no token and can start detached runs.
func TestTokenless(t *testing.T) {
	b := newBench(t, web.Options{Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/plain") })})
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/v1/openapi.json"} {
		res, _ := b.ask("GET", path, "", "Authorization", "")
		r := httptest.NewRequest("GET", "http://localhost"+path, nil) // by no connection that is known
		w := httptest.NewRecorder()
		b.handler.ServeHTTP(w, r)
		if far := strings.HasSuffix(path, "z"); res.StatusCode != 200 || (w.Code == 200) != far {
			t.Errorf("%s: %d, from afar %d", path, res.StatusCode, w.Code)
		}
	}
	socket := b.onSocket()
	for url, want := range map[string]string{"http://anything": "detach", b.server.URL: "api"} {
		r := b.request("POST", "/api/v1/runs", `{"tool": "hello", "detach": true}`)
		client := b.server.Client()
		if want == "detach" {
			r.Header.Del("Authorization")
			r.Host, client = "anything", socket
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		id := strings.TrimPrefix(res.Header.Get("Location"), "/api/v1/runs/")
		record, err := b.store.Record(t.Context(), id)
		if err != nil || record.Origin != want {
			t.Errorf("%s: %d %v %+v", url, res.StatusCode, err, record)
		}
		b.becomes(id, dag.Succeeded)
	}
}

// TestUnofferedRun checks that a token neither resumes nor retries the run of a file that the service does not offer,
// which only its user can: they come by the Unix socket.
func TestUnofferedRun(t *testing.T) {
	b := newBench(t, web.Options{Tokens: []service.Token{{Text: "limited", Tools: []string{"hello"}}}})
	file := filepath.Join(b.dir, "x.yaml")
	if err := os.WriteFile(file, []byte("name: hello\nbash: exit 3\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{WorkingDirectory: b.dir, Home: b.dir, Getenv: func(string) string { return "" }})
	plan, err := engine.Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	id := history.NewID(time.Now())
	if _, err := engine.New(engine.Config{Store: b.store}).Run(t.Context(), plan, nil, engine.WithID(id)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"", "/events", "/definition", "/resume"} { // a token for hello is none for another file of that name
		if res, doc := b.ask("GET", "/api/v1/runs/"+id+path, "", "Authorization", "Bearer limited"); res.StatusCode != 404 {
			t.Errorf("GET %s by a token for hello: %d %s", path, res.StatusCode, doc)
		}
	}
	socket := b.onSocket()
	for _, c := range []struct{ method, path string }{{"GET", "/resume"}, {"GET", "/retry"}, {"POST", "/retry"}, {"POST", "/resume"}} {
		body, preview := "", c.method == "GET"
		if !preview {
			body = "{}"
		}
		res, doc := b.ask(c.method, "/api/v1/runs/"+id+c.path, body)
		if (res.StatusCode == 404) == preview { // what it would do may be seen, as the run itself
			t.Errorf("%s %s: %d %s", c.method, c.path, res.StatusCode, doc)
		}
		own, err := socket.Do(b.request(c.method, "/api/v1/runs/"+id+c.path, body))
		if err != nil {
			t.Fatal(err)
		}
		own.Body.Close()
		if own.StatusCode >= 300 {
			t.Errorf("%s %s on the socket: %d", c.method, c.path, own.StatusCode)
		}
	}
}

// TestNoToken checks that a server without tokens admits nobody without a token.
func TestNoToken(t *testing.T) {
	handler, err := web.New(&web.Service{Starter: faulty{}}, web.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, header := range []string{"", "Bearer", "Bearer ", "Bearer x"} {
		r := httptest.NewRequest("POST", "http://localhost/api/v1/runs", strings.NewReader(`{"tool": "x"}`))
		r.Header.Set("Authorization", header)
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != 401 {
			t.Errorf("%q: %d", header, w.Code)
		}
	}
}

// TestPanic checks that a panic is reported as a bug, and logged with its place.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	handler, err := web.New(&web.Service{Starter: faulty{}}, web.Options{Tokens: []service.Token{{Text: token}}, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	w := serve(handler, "GET", "/api/v1/tools/secret-word", "")
	if p := problemIn(t, w.Body.Bytes()); w.Code != 500 || p.Code != "bug" {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if text := log.String(); !strings.Contains(text, "showTool") || strings.Contains(text, "secret-word") || strings.Contains(text, token) {
		t.Errorf("%s", text)
	}
}

// TestParamsOfBytes checks that a request can give bytes that are not UTF-8, and that the response shows a replacement.
func TestParamsOfBytes(t *testing.T) {
	b := newBench(t, web.Options{})
	const body, other = `{"tool": "hello", "params": {"WHO": "\u0000caf%E9"}}`, `{"tool": "hello", "params": {"WHO": "\u0000caf%E8"}}`
	run := b.start(body, "Idempotency-Key", "k1")
	b.becomes(run, dag.Succeeded)
	if _, doc := b.ask("GET", "/api/v1/runs/"+run, ""); !strings.Contains(string(doc), `"WHO":"caf\ufffd"`) {
		t.Errorf("%s", doc)
	}
	if again := b.start(body, "Idempotency-Key", "k1"); again != run {
		t.Errorf("%s, then %s", run, again)
	}
	if res, doc := b.ask("POST", "/api/v1/runs", other, "Idempotency-Key", "k1"); res.StatusCode != 409 {
		t.Errorf("%d %s", res.StatusCode, doc)
	}
	for _, text := range []string{`\u0000`, `a\u0000%E9`, `\u0000caf`, `\u0000%00`} {
		if res, doc := b.ask("POST", "/api/v1/runs", `{"tool": "hello", "params": {"WHO": "`+text+`"}}`); res.StatusCode != 422 || !strings.Contains(string(doc), `"nul"`) {
			t.Errorf("%s: %d %s", text, res.StatusCode, doc)
		}
	}
}

// TestIdempotency checks that a repeated request with the same key is one run, and that
// another request cannot use the key.
func TestIdempotency(t *testing.T) {
	b := newBench(t, web.Options{})
	const body = `{"tool": "hello", "params": {"WHO": "Ada", "N": 1.50, "KEY": "a-secret-word"}}`
	first := b.start(body, "Idempotency-Key", "k1")
	b.becomes(first, dag.Succeeded)
	if again := b.start(body, "Idempotency-Key", "k1"); again != first {
		t.Errorf("%s, then %s", first, again)
	}
	if other := b.start(body, "Idempotency-Key", "k2"); other == first {
		t.Error("two keys are one run")
	}
	for _, body := range []string{`{"tool": "fails"}`, `{"tool": "hello"}`, `{"tool": "hello", "params": {"WHO": "Eve", "N": 1.50}}`} {
		res, doc := b.ask("POST", "/api/v1/runs", body, "Idempotency-Key", "k1")
		if p := problemIn(t, doc); res.StatusCode != 409 || p.Code != "key-reused" {
			t.Errorf("%s: %d %s", body, res.StatusCode, doc)
		}
	}
	ids := make(chan string)
	for range 8 {
		go func() { ids <- b.start(`{"tool": "hello"}`, "Idempotency-Key", "k3") }()
	}
	all := map[string]bool{}
	for range 8 {
		all[<-ids] = true
	}
	if len(all) != 1 {
		t.Errorf("at once they are %v", all)
	}
	statuses := make(chan int)
	for i := range 8 {
		go func() {
			res, _ := b.ask("POST", "/api/v1/runs", fmt.Sprintf(`{"tool": "hello", "params": {"WHO": "w%d"}}`, i), "Idempotency-Key", "k4")
			statuses <- res.StatusCode
		}()
	}
	counts := map[int]int{}
	for range 8 {
		counts[<-statuses]++
	}
	if counts[202] != 1 || counts[409] != 7 {
		t.Errorf("of different requests at once with one key, the answers are %v", counts)
	}
	if list, err := b.store.Runs(t.Context(), history.Query{}); err != nil || len(list) != 4 {
		t.Errorf("%d runs, %v", len(list), err)
	}
}

// TestTraceparent checks that a valid trace context reaches the run's steps, and an invalid
// one does not.
func TestTraceparent(t *testing.T) {
	var got []string
	handler, err := web.New(&web.Service{Starter: recording{got: &got}}, web.Options{Tokens: []service.Token{{Text: token}}})
	if err != nil {
		t.Fatal(err)
	}
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	for _, header := range []string{good, "x", "00-00000000000000000000000000000000-b7ad6b7169203331-01", good + "\nX: y", "ff" + good[2:]} {
		r := httptest.NewRequest("POST", "http://localhost/api/v1/runs", strings.NewReader(`{"tool": "x"}`))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("traceparent", header)
		handler.ServeHTTP(httptest.NewRecorder(), r)
	}
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", []string{good, "", "", "", ""}) {
		t.Errorf("%q", got)
	}
}

// recording takes every run.
type recording struct {
	web.Starter
	got *[]string
}

func (s recording) Start(_ context.Context, r service.Request) (string, error) {
	*s.got = append(*s.got, r.Parent)
	return "0123456789abc", nil
}
