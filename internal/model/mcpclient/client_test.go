package mcpclient_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// used is a Client with a Library that has its tools.
type used struct {
	*mcpclient.Client
	library  *library.Library
	folder   string
	mu       sync.Mutex
	problems []string
}

// use returns a Client for servers.
func use(t *testing.T, state string, servers ...mcpclient.ServerConfig) *used {
	t.Helper()
	return useWith(t, mcpclient.Config{Servers: servers, StateDir: state})
}

func useWith(t *testing.T, c mcpclient.Config) *used {
	t.Helper()
	u := &used{folder: t.TempDir()}
	c.Workspace, c.Version = u.folder, "1"
	c.Report = func(server, problem string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.problems = append(u.problems, server+": "+problem)
	}
	u.Client = mcpclient.New(c)
	t.Cleanup(u.Close)
	u.library = library.New(library.Config{WorkingDirectory: u.folder, Home: t.TempDir()})
	u.library.ProvideFrom(tool.ScopeMCP, u.Client)
	return u
}

// program returns the settings of a server that is this test program.
func program(t *testing.T, name, kind string) mcpclient.ServerConfig {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return mcpclient.ServerConfig{Name: name, Command: file, Env: map[string]string{serverVariable: kind}, Timeout: time.Minute}
}

// call calls a tool as a model would.
func (u *used) call(ctx context.Context, name, arguments string) *registry.Answer {
	i, answer := registry.New(u.library, registry.Options{}).Read(ctx, registry.Request{Tool: name, Arguments: arguments})
	if answer != nil {
		return answer
	}
	return i.Do(ctx)
}

// errorOf returns why a call failed, "" if it did not.
func errorOf(a *registry.Answer) string {
	if a.Error == nil {
		return ""
	}
	if a.Result != nil {
		for _, s := range a.Result.Steps {
			if s.Message != "" {
				return s.Message
			}
		}
	}
	return a.Error.Message
}

// transports are the ways to reach the good server.
func transports(t *testing.T) map[string]mcpclient.ServerConfig {
	t.Helper()
	check := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "Bearer secret-token" {
				http.Error(w, "who are you?", http.StatusUnauthorized)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	server := goodServer()
	get := func(*http.Request) *sdk.Server { return server }
	streamable := httptest.NewServer(check(sdk.NewStreamableHTTPHandler(get, nil)))
	events := httptest.NewServer(check(sdk.NewSSEHandler(get, nil)))
	t.Cleanup(func() {
		streamable.CloseClientConnections()
		events.CloseClientConnections()
		streamable.Close()
		events.Close()
	})
	t.Setenv("TEST_TOKEN", "secret-token")
	headers := map[string]string{"Authorization": "Bearer ${TEST_TOKEN}"}
	return map[string]mcpclient.ServerConfig{
		"program":    program(t, "s", "good"),
		"streamable": {Name: "s", HTTPURL: streamable.URL, Headers: headers, Timeout: time.Minute},
		"url":        {Name: "s", URL: streamable.URL, Headers: headers, Timeout: time.Minute},
		"http":       {Name: "s", URL: streamable.URL, Type: "http", Headers: headers, Timeout: time.Minute},
		"spelled":    {Name: "s", URL: streamable.URL, Type: "Streamable HTTP", Headers: headers, Timeout: time.Minute, Include: []string{"*"}},
		"remote":     {Name: "s", URL: streamable.URL, Type: "remote", Headers: headers, Timeout: time.Minute},
		"events":     {Name: "s", URL: events.URL, Headers: headers, Timeout: time.Minute},
		"sse":        {Name: "s", URL: events.URL, Type: "sse", Headers: headers, Timeout: time.Minute},
	}
}

// TestClient is what calls give over every transport.
func TestClient(t *testing.T) {
	type part struct{ mime, text string }
	for transport, server := range transports(t) {
		t.Run(transport, func(t *testing.T) {
			u := use(t, "", server)
			for _, c := range []struct {
				tool, arguments string
				want            []part
				fails           string
			}{
				{"echo", `{"text": "hi", "times": 2}`, []part{{"", `{"text":"hi","times":2}`}}, ""},
				{"echo", `{"text": "hi"}`, []part{{"", `{"text":"hi"}`}}, ""},
				{"text", "{}", []part{{"", "one\n"}, {"", "two\n"}}, ""},
				{"image", "{}", []part{{"", "a picture\n"}, {"image/png", "PNG"}}, ""},
				{"audio", "{}", []part{{"audio/wav", "WAV"}}, ""},
				{"resource", "{}", []part{{"", "inside"}}, ""},
				{"blob", "{}", []part{{"application/octet-stream", "data"}}, ""},
				{"link", "{}", []part{{"", "[resource x: file:///x]"}}, ""},
				{"empty", "{}", nil, ""},
				{"structured", "{}", []part{{"", `{"degrees":21}`}}, ""},
				{"wrapped", "{}", []part{{"", "one\ntwo"}}, ""},
				{"number", "{}", []part{{"", "5"}}, ""},
				{"exact", "{}", []part{{"", `{"id": 12345678901234567890}`}}, ""},
				{"fail", "{}", nil, "no such [31mcity"},
				{"refuse", "{}", nil, "not today"},
				{"detailed", "{}", nil, "limit\n{\"retryAfter\":30}"},
				{"ask", "{}", []part{{"", "decline true "}}, ""},
			} {
				a := u.call(t.Context(), "s__"+c.tool, c.arguments)
				if why := errorOf(a); why != c.fails && (c.fails == "" || !strings.Contains(why, c.fails)) {
					t.Errorf("%s: %q, want %q", c.tool, why, c.fails)
					continue
				}
				if c.fails != "" {
					continue
				}
				var got []part
				for _, p := range a.Content.Parts {
					got = append(got, part{p.MIME, p.Text + string(p.Data)})
				}
				if !slices.Equal(got, c.want) {
					t.Errorf("%s: %q, want %q", c.tool, got, c.want)
				}
			}
			if len(u.problems) > 0 {
				t.Error(u.problems)
			}
		})
	}
}

// TestClientNames is which names mean which tool, and which servers a name connects.
func TestClientNames(t *testing.T) {
	a, b := program(t, "a", "good"), program(t, "b", "good")
	b.Include = []string{"text", "image", "echo"}
	b.Exclude = []string{"image"}
	broken := mcpclient.ServerConfig{Name: "broken", Command: "no-such-program-anywhere"}
	t.Run("one server", func(t *testing.T) {
		u := use(t, "", a, b, broken)
		def, _, err := u.library.Lookup("a__echo", nil)
		if err != nil || def.Name != "a__echo" || def.Scope != tool.ScopeMCP || len(def.Tags) > 0 || def.SourceTrusted {
			t.Fatal(def, err)
		}
		for _, d := range u.Known() {
			if !strings.HasPrefix(d.Name, "a__") {
				t.Error("a name connected another server:", d.Name)
			}
		}
		if len(u.problems) > 0 {
			t.Error(u.problems)
		}
	})
	u := use(t, "", a, b, broken)
	for name, want := range map[string]string{"mcp__a__echo": "a__echo", "audio": "a__audio", "b__text": "b__text", "image": "a__image",
		"b__image": "", "b__audio": "", "a__nothing": "", "nothing": "", "broken__x": "", "c__echo": ""} {
		def, _, err := u.library.Lookup(name, nil)
		missing := (*library.NotFoundError)(nil)
		switch {
		case want == "" && !errors.As(err, &missing):
			t.Errorf("%s: %v", name, err)
		case want != "" && (err != nil || def.Name != want):
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	_, _, err := u.library.Lookup("text", nil)
	if ambiguous := (*library.AmbiguousNameError)(nil); !errors.As(err, &ambiguous) || !slices.Equal(ambiguous.Candidates, []string{"a__text", "b__text"}) {
		t.Error(err)
	}
	if want := []string{`broken: "no-such-program-anywhere": the program was not found in PATH`}; len(u.problems) != 1 || !strings.Contains(u.problems[0], "was not found in PATH") {
		t.Errorf("%q, want %q", u.problems, want)
	}
	if failed := u.Failed(); !slices.Equal(failed, []string{"broken"}) {
		t.Error(failed)
	}
}

// TestClientProcess is what the program of a server gets, and that it ends.
func TestClientProcess(t *testing.T) {
	t.Setenv("OTHER_SECRET", "do not pass on")
	t.Setenv("TEST_TOKEN", "secret-token")
	s := program(t, "s", "good")
	s.Env["TOKEN"] = "${TEST_TOKEN}x$TEST_TOKEN"
	s.Dir = "sub"
	u := use(t, "", s)
	if err := os.Mkdir(filepath.Join(u.folder, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	text := u.call(t.Context(), "s__environment", "{}").Content.Text()
	lines := strings.Split(text, "\n")
	if dir, _ := filepath.EvalSymlinks(filepath.Join(u.folder, "sub")); lines[0] != dir && lines[0] != filepath.Join(u.folder, "sub") {
		t.Error(lines[0])
	}
	if !slices.Contains(lines, "TOKEN=secret-tokenxsecret-token") || strings.Contains(text, "OTHER_SECRET") || !strings.Contains(text, "\nPATH=") {
		t.Error(text)
	}
	if root := u.call(t.Context(), "s__roots", "{}").Content.Text(); root != "file://"+filepath.ToSlash(u.folder) {
		t.Error(root)
	}
}

// TestClientSettings is which settings of a server cannot be used.
func TestClientSettings(t *testing.T) {
	for want, s := range map[string]mcpclient.ServerConfig{
		"its name is not valid":         {Name: "a__b", Command: "x"},
		"must have one of command":      {Name: "a"},
		"type \"udp\" does not fit":     {Name: "a", URL: "http://localhost/", Type: "udp"},
		"type \"sse\" does not fit":     {Name: "a", Command: "x", Type: "sse"},
		"type \"stdio\" does not fit":   {Name: "a", URL: "http://localhost/", Type: "stdio"},
		"would ask for: key, token":     {Name: "a", Command: "x", Args: []string{"${input:token}"}, Env: map[string]string{"X": "${input:key}"}},
		"one of command, url":           {Name: "a", Command: "x", URL: "http://x"},
		"not set: NO_SUCH_A, NO_SUCH_B": {Name: "a", Command: "x", Args: []string{"$NO_SUCH_B"}, Env: map[string]string{"X": "${NO_SUCH_A}"}},
		"cannot read its envFile":       {Name: "a", Command: "x", EnvFile: "nowhere.env"},
		"not a URL that starts":         {Name: "a", HTTPURL: "file:///etc/passwd"},
		"connection refused":            {Name: "a", HTTPURL: "http://127.0.0.1:1/mcp"},
	} {
		u := use(t, "", s)
		if list := u.Tools(); len(list) > 0 || len(u.problems) != 1 || !strings.Contains(u.problems[0], want) {
			t.Errorf("%q, want %q", u.problems, want)
		}
	}
}

// TestClientProgress: what a server reports of its progress is passed on while the step runs.
func TestClientProgress(t *testing.T) {
	for transport, server := range transports(t) {
		t.Run(transport, func(t *testing.T) {
			u := use(t, "", server)
			i, answer := registry.New(u.library, registry.Options{}).Read(t.Context(), registry.Request{Tool: "s__progress", Arguments: "{}"})
			if answer != nil {
				t.Fatal(errorOf(answer))
			}
			var got []string
			if a := i.Do(t.Context(), engine.WithConsole(func(c steps.Chunk) { got = append(got, string(c.Step)+" "+string(c.Text)) })); a.Error != nil {
				t.Fatal(errorOf(a))
			}
			want := []string{"s__progress 1 of 3: part [31mred\n", "s__progress 2 of 3: part [31mred\n", "s__progress 3 of 3: part [31mred\n"}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

// TestClientRefusesSampling: without a model, the request is one that the client does not know.
func TestClientRefusesSampling(t *testing.T) {
	u := use(t, "", program(t, "s", "good"))
	if text := u.call(t.Context(), "s__sample", "{}").Content.Text(); text != "-32601" {
		t.Error(text)
	}
}

// TestClientEnvFile: the variables of a file are those of the program, unless env has them. They are not shown.
func TestClientEnvFile(t *testing.T) {
	s := program(t, "s", "good")
	s.EnvFile, s.Env["BOTH"] = "dev.env", "of env"
	u := use(t, "", s)
	if err := os.WriteFile(filepath.Join(u.folder, "dev.env"), []byte("BOTH=of file\nKEY='secret-token'\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(u.call(t.Context(), "s__environment", "{}").Content.Text(), "\n")
	if !slices.Contains(lines, "KEY=secret-token") || !slices.Contains(lines, "BOTH=of env") {
		t.Error(lines)
	}
	s = program(t, "h", "exits")
	s.EnvFile = filepath.Join(u.folder, "dev.env")
	u = use(t, "", s)
	if u.Tools(); !strings.Contains(strings.Join(u.problems, ""), "the token *** is wrong") {
		t.Error(u.problems)
	}
}

// TestMissingProgram: the message names the program, also if its folder is in the environment too.
func TestMissingProgram(t *testing.T) {
	t.Setenv("TEST_VENV", "/opt/no-such-venv")
	for _, command := range []string{"/opt/no-such-venv/bin/python3", "$TEST_VENV/bin/python3"} {
		u := use(t, "", mcpclient.ServerConfig{Name: "s", Command: command, Env: map[string]string{"VIRTUAL_ENV": "/opt/no-such-venv"}})
		if u.Tools(); strings.Count(strings.Join(u.problems, ""), `cannot start "/opt/no-such-venv/bin/python3"`) != 1 || strings.Count(strings.Join(u.problems, ""), "cannot start") != 1 {
			t.Errorf("%q", u.problems)
		}
	}
}

// TestClientCancel cancels a call; the server is notified.
func TestClientCancel(t *testing.T) {
	t.Parallel()
	s := program(t, "s", "good")
	file := filepath.Join(t.TempDir(), "cancelled")
	s.Env["CANCELLED_FILE"] = file
	u := use(t, "", s)
	u.Tools()
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if a := u.call(ctx, "s__slow", "{}"); a.Error == nil || strings.Contains(errorOf(a), "it did not answer within") {
		t.Fatal(errorOf(a))
	}
	waittest.Exists(t, file) // the server was notified
}

// TestClientStep uses a server's tool as a step of another tool.
func TestClientStep(t *testing.T) {
	u := use(t, "", program(t, "s", "good"))
	folder := filepath.Join(u.folder, ".flowrun", "tools")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "name: chain\ndescription: d\nsteps:\n- {name: a, use-tool: s__structured}\n- {name: b, bash: 'echo {a.json.degrees}', wait-for: [a]}\n- {name: c, use-tool: mcp__s__echo, with: {text: '{b.output}'}, wait-for: [b]}\n"
	if err := os.WriteFile(filepath.Join(folder, "chain.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	u.library = library.New(library.Config{WorkingDirectory: u.folder, Home: t.TempDir()})
	u.library.ProvideFrom(tool.ScopeMCP, u.Client)
	plan, err := engine.Compile(u.library, "chain")
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{}).Run(t.Context(), plan, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Content().Text(); got != `{"text":"21"}` {
		t.Errorf("%q %+v", got, res.Steps)
	}
}
