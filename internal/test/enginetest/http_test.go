package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/netclient"
)

// runHTTP runs a definition with the HTTP client of the command line.
func runHTTP(t *testing.T, dir, text string, env ...string) *runresult.Result {
	t.Helper()
	res, err := engine.New(engine.Config{Fetch: netclient.Fetch}).Run(context.Background(), compile(t, dir, text), nil, engine.WithRunEnv(world(dir, env...)))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// received is a server that records requests.
type received struct {
	mu   sync.Mutex
	list []*http.Request
	body []string
}

func (x *received) add(r *http.Request) (n int) {
	b, _ := io.ReadAll(r.Body)
	x.mu.Lock()
	defer x.mu.Unlock()
	x.list, x.body = append(x.list, r), append(x.body, string(b))
	return len(x.list)
}

// TestIdempotencyKey: attempts of a round have the same key; rounds, items of a loop and runs have keys of their own.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	var x received
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := x.add(r); n%2 == 1 { // the first attempt of each round
			w.Header().Set("Retry-After", "0")
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		fmt.Fprint(w, r.Header.Get("Idempotency-Key"))
	}))
	defer s.Close()
	text := fmt.Sprintf(`
description: Sends the same again
steps:
  - name: ask
    for-each: {items: [a, b], max-parallel: 1}
    http: {url: %q, json: {item: "{item}"}}
    repeat: {until: "{ask.attempts} >= 6", every: 1ms, max: 5}
    error-handling: {retry: {attempts: 2, delay: 1ms}}
`, s.URL)
	seen := map[string]int{}
	for range 2 {
		if res := runHTTP(t, t.TempDir(), text); res.Status != dag.Succeeded {
			t.Fatalf("%s: %s", res.Status, res.Message)
		}
	}
	var before string
	for i, r := range x.list {
		key := r.Header.Get("Idempotency-Key")
		seen[key]++
		if i%2 == 1 && key != before {
			t.Errorf("attempt %d has the key %s, and the one before %s", i, key, before)
		}
		before = key
	}
	if len(x.list) != 24 || len(seen) != 12 { // 2 runs, 2 items, 3 rounds, 2 attempts
		t.Errorf("%d requests with %d keys: %v", len(x.list), len(seen), seen)
	}
}

// TestHTTPPlaces: a value stays data wherever it is.
func TestHTTPPlaces(t *testing.T) {
	t.Parallel()
	var x received
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { x.add(r) }))
	defer s.Close()
	dir := folder(t, map[string]string{"up load": "content\x00of a file"})
	hostile := "a/..b?c=d&e=f#g\" \\ %2F \u00e9"
	text := fmt.Sprintf(`
description: Sends values
parameters: {V: {type: string, description: value, default: %q}, N: {type: number, default: 12.5}, L: {type: array, default: [1, two]}}
steps:
  - {name: path, http: {url: "%[2]s/x/{V}/y?q={V}&z=1", query: {"more": "{V}", n: "{N}"}, headers: {X-V: "{V}"}}}
  - {name: json, http: {url: %[2]q, json: {v: "{V}", n: "{N}", l: "{L}", t: "n={N}", "k": [true, null, 1]}}}
  - {name: form, http: {url: %[2]q, form: {v: "{V}", n: "{N}"}}}
  - {name: text, http: {url: %[2]q, method: PUT, body: "{V}", headers: {content-type: text/x}}}
  - {name: file, http: {url: %[2]q, file: "up load", auth: {basic: {user: "{V}", password: "p:w4"}}}}
`, hostile, s.URL)
	if res := runHTTP(t, dir, text); res.Status != dag.Succeeded {
		t.Fatalf("%s: %s %+v", res.Status, res.Message, res.Steps)
	}
	if q := x.list[0]; q.URL.Path != "/x/"+hostile+"/y" || q.URL.Query().Get("q") != hostile || q.URL.Query().Get("z") != "1" || q.URL.Query().Get("more") != hostile ||
		q.URL.Query().Get("n") != "12.5" || q.Header.Get("X-V") != hostile || q.Method != "GET" || len(q.URL.Query()) != 4 {
		t.Errorf("path: %s %v", q.URL, q.Header)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(x.body[1]), &got); err != nil || got["v"] != hostile || got["n"] != 12.5 || fmt.Sprint(got["l"]) != "[1 two]" || got["t"] != "n=12.5" || fmt.Sprint(got["k"]) != "[true <nil> 1]" {
		t.Errorf("json: %s, %v", x.body[1], err)
	}
	form, _ := http.NewRequest("POST", "/", strings.NewReader(x.body[2]))
	form.Header.Set("Content-Type", x.list[2].Header.Get("Content-Type"))
	if form.ParseForm() != nil || form.PostForm.Get("v") != hostile || form.PostForm.Get("n") != "12.5" {
		t.Errorf("form: %s", x.body[2])
	}
	if x.body[3] != hostile || x.list[3].Method != "PUT" || x.list[3].Header.Get("Content-Type") != "text/x" || x.list[3].Header.Get("Idempotency-Key") != "" {
		t.Errorf("text: %s %v", x.body[3], x.list[3].Header)
	}
	user, password, _ := x.list[4].BasicAuth()
	if x.body[4] != "content\x00of a file" || user != hostile || password != "p:w4" || x.list[4].ContentLength != 17 {
		t.Errorf("file: %q, user %q", x.body[4], user)
	}
}

// TestHTTPSaveAs: the file has all of an expected response, or is as before. Its folder is checked before the request.
func TestHTTPSaveAs(t *testing.T) {
	t.Parallel()
	var requests atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path == "/bad" {
			w.WriteHeader(404)
		}
		io.WriteString(w, "0123456789")
	}))
	defer s.Close()
	for _, c := range []struct{ name, path, file, limit, message, content string }{
		{"saved", "/", "out", "", "", "0123456789"},
		{"exactly the limit", "/", "out", "10", "", "0123456789"},
		{"above the limit", "/", "out", "9", "the response exceeds resources.max-file-size", "before"},
		{"not expected", "/bad", "out", "", "the response status is 404 Not Found", "before"},
		{"no folder", "/", "none/out", "", "cannot save the response: ", "before"},
		{"a folder", "/", "folder", "", "cannot save the response: folder is a folder", "before"},
		{"a file as a folder", "/", "out/x", "", "cannot save the response: ", "before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := folder(t, map[string]string{"out": "before", "folder/x": ""})
			text := fmt.Sprintf("description: Saves\nsteps:\n  - {name: get, http: {url: %q, save-as: %q}}\n", s.URL+c.path, c.file)
			if c.limit != "" {
				text += "resources: {max-file-size: " + c.limit + "}\n"
			}
			requests.Store(0)
			step := runHTTP(t, dir, text).Steps[0]
			if !strings.Contains(step.Message, c.message) || (step.Status == dag.Succeeded) != (c.message == "") {
				t.Errorf("%s: %s", step.Status, step.Message)
			}
			if sent := !strings.HasPrefix(c.message, "cannot save"); sent != (requests.Load() == 1) {
				t.Errorf("%d requests", requests.Load())
			}
			if b, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != c.content {
				t.Errorf("the file has %q, want %q (%v)", b, c.content, err)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "*.part-*")); len(left) > 0 {
				t.Errorf("left over: %v", left)
			}
		})
	}
}

// TestHTTPPreview: a dry run shows the request as it is sent, without secrets.
func TestHTTPPreview(t *testing.T) {
	t.Parallel()
	p := compile(t, t.TempDir(), `
description: Shows requests
environment: {secrets: [KEY]}
parameters: {KEY: {type: string, description: key}, NAME: {type: string, description: name}, N: {type: number, description: number, default: 3}}
steps:
  - {name: first, http: {url: "https://h/a/{NAME}?q={NAME}&token={NAME}", query: {x: "{NAME}", api_key: "{NAME}"}, json: {name: "{NAME}", n: "{N}", key: "{KEY}"}, auth: {bearer: "{KEY}"}}}
  - {name: second, http: {url: "https://h/{first.json.id}/{KEY}", query: {id: "{first.json.id}"}, json: {id: "{first.json.id}", n: "{N}"}}}
  - {name: form, http: {url: "https://h", form: {name: "{NAME}", password: "{NAME}", key: "{KEY}"}, headers: {X-A: "{KEY}"}}}
  - {name: text, http: {url: "https://h", body: "{NAME} {KEY}", save-as: "{NAME}.txt", auth: {basic: {user: u, password: "{KEY}"}}}}
  - {name: file, http: {url: "https://h", file: "{NAME}", method: PUT}}
security: {required-permissions: [network]}
`)
	v, err := p.Preview(engine.RunEnv{}, map[string]any{"KEY": "open sesame", "NAME": "a/b c"})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"POST https://h/a/a%2Fb%20c?q=a%2Fb+c&token=***&x=a%2Fb+c&api_key=***\nAuthorization: Bearer ***\n" + `{"key":"***","n":3,"name":"a/b c"}`,
		"POST https://h/{first.json.id}/***?id={first.json.id}\n" + `{"id":"{first.json.id}","n":3}`,
		"POST https://h\nX-A: ***\nform name=a/b c\nform password=***\nform key=***",
		"POST https://h\nAuthorization: Basic ***\na/b c ***\nsaved as a/b c.txt",
		"PUT https://h\nthe file a/b c",
	} {
		if got := v.Steps[i].Command; got != want {
			t.Errorf("%s:\n%s\nwant\n%s", v.Steps[i].ID, got, want)
		}
	}
}

// TestRequestWithoutAddress: a request that cannot be read is one problem.
func TestRequestWithoutAddress(t *testing.T) {
	t.Parallel()
	for name, http := range map[string]string{"a text": "https://example.com", "no url": "{method: GET}"} {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			_, err := engine.Compile(b.lib, b.file("asks.yaml", "name: asks\ndescription: d\nsteps:\n  - {name: a, http: "+http+"}\n"))
			ds, _ := errors.AsType[tool.Diagnostics](err)
			if len(ds) != 1 || ds[0].Pos.Line != 4 {
				t.Errorf("%v", err)
			}
		})
	}
}

// TestRequestTimesOut: a server that does not answer is always a time-out of the step.
func TestRequestTimesOut(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(server.Close)
	t.Cleanup(func() { close(release) })
	for i := range 8 { // at once
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			res := runHTTP(t, t.TempDir(), "name: slow\ndescription: d\nsteps:\n  - {name: a, http: {url: "+server.URL+"}, timeout: 1s}\n")
			if s := res.Steps[0]; s.Status != dag.TimedOut || s.Reason != dag.ReasonTimeout || s.ExitCode != 124 || strings.Contains(s.Error, "net/http") {
				t.Fatalf("%s %s %d %s", s.Status, s.Reason, s.ExitCode, s.Error)
			}
		})
	}
}
