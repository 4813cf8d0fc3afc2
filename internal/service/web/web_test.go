package web_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/users"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/schematest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	goleak.VerifyTestMain(m)
}

const token = "a-token-for-tests"

// tools are what the service of a test has.
var tools = map[string]string{
	"keeps": `name: keeps
description: Keeps files.
steps:
  - name: make
    bash: d=$(mktemp -d keeps.XXXX); mkdir $d/sub; echo -n bin > $d/sub/a.bin; ln -s sub/a.bin $d/link; echo '<h1>hi</h1><script>alert(1)</script>' > page.html; rm -rf kept; mv $d kept
    artifacts: [{path: kept, name: dist}, page.html]
`,
	"hello":  "name: hello\ndescription: Says hello\ntags: [read]\nbash: echo \"hello {WHO}, {N}\"\nparameters:\n  WHO: {type: string, description: whom, default: you}\n  N: {type: number, default: 1}\n  KEY: {type: string, default: nothing}\nenvironment:\n  secrets: [KEY]\n",
	"gate":   "name: gate\nsteps:\n  - name: one\n    bash: echo first; echo grumble >&2\n  - name: two\n    bash: |\n      echo waiting\n      until [ -e {FILE} ]; do sleep 0.02; done\n      echo done\nparameters:\n  FILE: {type: string, required: true}\n",
	"fails":  "name: fails\nsteps:\n  - {name: good, bash: echo good}\n  - {name: bad, bash: 'exit 3'}\n",
	"bare":   "name: bare\nbash: echo {WHO}\nparameters:\n  WHO: {type: string}\n",
	"turns":  "name: turns\nmax-active-runs: 1\nlocks: [db]\nbash: until [ -e {FILE} ]; do sleep 0.02; done\nparameters:\n  FILE: {type: string, required: true}\n",
	"asks":   "name: asks\nsteps:\n  - name: gate\n    approve:\n      prompt: Ship it?\n      form: {properties: {VERSION: {type: string}}, required: [VERSION]}\n  - {name: ship, bash: 'echo {gate.json.VERSION}'}\n",
	"gates":  "name: gates\nsteps:\n  - name: each\n    for-each: {items: ['a b', c], key: '{item}'}\n    approve: Go {item}?\n",
	"root":   "name: root\nbash: id\nsecurity: {execution-privilege: elevated}\n",
	"broken": "name: broken\nsteps: 7\n",
}

// bench is a service over a Store in memory, with its server, on the loopback interface.
type bench struct {
	testing.TB
	dir      string
	store    history.Store
	service  *service.Service
	handler  http.Handler
	server   *httptest.Server
	log      bytes.Buffer
	socket   string
	openAPI  []byte
	stopping chan struct{}
	distrust bool            // the user does not trust the project
	asked    map[string]bool // operations that were answered as they should
	mu       sync.Mutex
}

func newBench(t testing.TB, o web.Options) *bench {
	t.Helper()
	b := &bench{TB: t, dir: t.TempDir(), store: history.NewMemory(), asked: map[string]bool{}, stopping: make(chan struct{})}
	for name, text := range tools {
		file := filepath.Join(b.dir, ".flowrun", "tools", name+".yaml")
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	state := filepath.Join(b.dir, "state")
	var err error
	b.service, err = service.New(t.Context(), service.Config{
		Store: b.store, Home: b.dir, Engine: engine.New(engine.Config{Store: b.store, StateDir: state, Grace: time.Second}),
		Library: func() *library.Library {
			return library.New(library.Config{WorkingDirectory: b.dir, Home: b.dir, Getenv: func(string) string { return "" }})
		},
		Trusts: func(project string) bool { return !b.distrust },
		Decide: func(p *engine.Plan) error {
			if p.Definition.Security.ExecutionPrivilege == "elevated" {
				return errors.New("it is denied by a setting in /etc/flowrun/config.yaml")
			}
			return nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	o.Tokens, o.StateDir, o.Version, o.Stopping = append(o.Tokens, service.Token{Text: token}), state, "test", b.stopping
	o.Log = slog.New(slog.NewTextHandler(locked{&b.mu, &b.log}, nil))
	if b.handler, err = web.New(web.ServiceOf(b.service), o); err != nil {
		t.Fatal(err)
	}
	b.server = httptest.NewServer(b.handler)
	t.Cleanup(func() {
		b.drain()
		b.server.Close()
	})
	_, b.openAPI = b.get("/api/v1/openapi.json")
	return b
}

// drain stops the service, unless it was stopped before.
func (b *bench) drain() {
	if !b.service.Health().Draining {
		close(b.stopping)
		b.service.Drain(0, nil)
	}
}

// locked is a buffer for several goroutines.
type locked struct {
	*sync.Mutex
	w io.Writer
}

func (l locked) Write(b []byte) (int, error) {
	l.Lock()
	defer l.Unlock()
	return l.w.Write(b)
}

func (b *bench) logged() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.log.String()
}

// request returns a request with the token; header are names and values.
func (b *bench) request(method, path, body string, header ...string) *http.Request {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), method, b.server.URL+path, strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		switch {
		case header[i] == "Host":
			r.Host = header[i+1]
		case header[i+1] == "":
			r.Header.Del(header[i])
		default:
			r.Header.Set(header[i], header[i+1])
		}
	}
	return r
}

// ask sends a request and checks the response against the OpenAPI document.
func (b *bench) ask(method, path, body string, header ...string) (*http.Response, []byte) {
	b.Helper()
	return b.send(b.request(method, path, body, header...))
}

func (b *bench) send(r *http.Request) (*http.Response, []byte) {
	b.Helper()
	res, err := b.server.Client().Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	doc, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	b.check(r.Method, r.URL.Path, res, doc)
	return res, doc
}

func (b *bench) get(path string) (*http.Response, []byte) { b.Helper(); return b.ask("GET", path, "") }

// check compares a response with the document, and its headers with those of every
// response.
func (b *bench) check(method, path string, res *http.Response, doc []byte) {
	b.Helper()
	for _, name := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Credentials"} {
		if res.Header.Get(name) != "" {
			b.Errorf("%s %s has the header %s", method, path, name)
		}
	}
	if res.Header.Get("X-Content-Type-Options") != "nosniff" || res.Header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(res.Header.Get("Content-Security-Policy"), "default-src 'none'") {
		b.Errorf("%s %s: headers are missing: %v", method, path, res.Header)
	}
	if b.openAPI == nil || method == "HEAD" {
		return
	}
	if op := b.operation(method, path); op != nil {
		if described, ok := op.Responses[strconv.Itoa(res.StatusCode)]; ok {
			b.mu.Lock()
			b.asked[op.ID] = true
			b.mu.Unlock()
			for media, c := range described.Content {
				if got := res.Header.Get("Content-Type"); media != "*/*" && !strings.HasPrefix(got, media) {
					b.Errorf("%s %s is of the type %q, want %q", method, path, got, media)
				}
				if media == "application/json" {
					schematest.ValidatePart(b, b.openAPI, strings.TrimPrefix(c.Schema.Ref, "#"), doc)
				}
			}
			return
		}
	}
	if res.StatusCode < 400 {
		b.Errorf("%s %s answers %d, which nothing describes", method, path, res.StatusCode)
	}
	schematest.ValidatePart(b, b.openAPI, "/components/schemas/error", doc)
}

// operation of the OpenAPI document.
type operation struct {
	ID        string     `json:"operationId"`
	Role      users.Role `json:"x-flowrun-role"`
	Responses map[string]struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			} `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

func (b *bench) operations() map[string]map[string]*operation {
	var doc struct {
		Paths map[string]map[string]*operation `json:"paths"`
	}
	if err := json.Unmarshal(b.openAPI, &doc); err != nil {
		b.Fatal(err)
	}
	return doc.Paths
}

// operation returns what the document says about a request, nil for nothing.
func (b *bench) operation(method, path string) *operation {
	given := strings.Split(path, "/")
	for p, methods := range b.operations() {
		parts := strings.Split(p, "/")
		same := len(parts) == len(given)
		for i := 0; same && i < len(parts); i++ {
			same = parts[i] == given[i] || strings.HasPrefix(parts[i], "{")
		}
		if op := methods[strings.ToLower(method)]; same && op != nil {
			return op
		}
	}
	return nil
}

// problem is the error in a document.
type problem struct {
	Code, Message, Hint string
	Problems            []value.ParamProblem
}

func problemIn(t testing.TB, doc []byte) problem {
	t.Helper()
	var d struct{ Error problem }
	if err := json.Unmarshal(doc, &d); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	return d.Error
}

// start starts a tool over the API and returns the run's id.
func (b *bench) start(body string, header ...string) string {
	b.Helper()
	res, doc := b.ask("POST", "/api/v1/runs", body, header...)
	var s struct{ ID string }
	if err := json.Unmarshal(doc, &s); err != nil || res.StatusCode != 202 || res.Header.Get("Location") != "/api/v1/runs/"+s.ID {
		b.Fatalf("%d %s %v", res.StatusCode, doc, res.Header)
	}
	return s.ID
}

// gated starts a run that waits until a file exists, and returns the path of that file too.
func (b *bench) gated() (id, file string) {
	b.Helper()
	file = filepath.Join(b.TempDir(), "open")
	return b.start(`{"tool": "gate", "params": {"FILE": ` + strconv.Quote(file) + `}}`), file
}

func (b *bench) open(file string) {
	b.Helper()
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		b.Fatal(err)
	}
}

// becomes waits until a run has a status.
func (b *bench) becomes(id string, want dag.Status) {
	b.Helper()
	var info history.RunInfo
	waittest.Until(b, "run that is "+want.String(), func() bool {
		info, _ = b.store.Info(context.Background(), id)
		return info.Status == want
	}, func() any { return info })
}

// message is one of a stream of server-sent events.
type message struct{ id, event, data string }

// listen opens a stream. The returned function returns the next message, false at the end
// of the stream; it skips keep-alive comments.
func (b *bench) listen(path string, header ...string) (next func() (message, bool), stop func()) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), waittest.Limit)
	res, err := b.server.Client().Do(b.request("GET", path, "", header...).WithContext(ctx))
	if err != nil {
		b.Fatal(err)
	}
	if got := res.Header.Get("Content-Type"); res.StatusCode != 200 || got != "text/event-stream" {
		b.Fatalf("%s answers %d, %s", path, res.StatusCode, got)
	}
	b.mu.Lock()
	b.asked[b.operation("GET", strings.Split(path, "?")[0]).ID] = true
	b.mu.Unlock()
	in := bufio.NewReader(res.Body)
	b.Cleanup(func() { cancel(); res.Body.Close() })
	return func() (m message, more bool) {
		for {
			line, err := in.ReadString('\n')
			if err != nil {
				return m, false
			}
			name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
			switch name {
			case "id":
				m.id = value
			case "event":
				m.event = value
			case "data":
				m.data = value
			case "":
				if m.data != "" {
					return m, true
				}
				m = message{}
			}
		}
	}, cancel
}

// onSocket serves the server on a Unix socket too.
func (b *bench) onSocket() *http.Client {
	b.Helper()
	path := filepath.Join(b.TempDir(), "service.sock")
	l, err := net.Listen("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	b.socket = path
	server := &http.Server{Handler: b.handler}
	go server.Serve(l)
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
	b.Cleanup(func() { client.CloseIdleConnections(); server.Close() })
	return client
}
