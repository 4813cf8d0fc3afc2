package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/cli/runs"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/executor"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/service/notify"
	"github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/store/sqlite"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

var update = flag.Bool("update", false, "rewrite generated pages")

// noticed is a run with one notice, and what made it.
type noticed struct {
	*testing.T
	kind   notice.Kind
	dir    string
	store  history.Store
	engine *engine.Engine
	lib    *library.Library
	plan   *engine.Plan
	result *runresult.Result
}

// noticedText is a tool that can have every notice.
const noticedText = `name: noticed
description: Has a notice
resources: {cleanup: [{final-command: echo}]}
steps: [{name: a, bash: echo, continue-on-error: true}]
`

// message is that of notices that no step makes by itself.
const message = "this is what happened"

func newNoticed(t *testing.T, k notice.Kind) *noticed {
	t.Helper()
	n := &noticed{T: t, kind: k, dir: t.TempDir()}
	t.Setenv("FLOWRUN_STATE_DIR", n.dir)
	t.Setenv("NO_COLOR", "1")
	file := filepath.Join(n.dir, ".flowrun", "tools", "noticed.yaml")
	store, err := sqlite.Open(t.Context(), n.dir)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, []byte(noticedText), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	n.store, n.lib = store, library.New(library.Config{WorkingDirectory: n.dir, Home: n.dir})
	n.engine = engine.New(engine.Config{Store: store, StateDir: n.dir})
	if n.plan, err = engine.Compile(n.lib, file); err != nil {
		t.Fatal(err)
	}
	if n.result, err = n.engine.Run(t.Context(), n.plan, nil, engine.WithAround(n.around)); err != nil {
		t.Fatal(err)
	}
	return n
}

// around does what has the notice.
func (n *noticed) around(_ context.Context, c *dag.Call, _ dag.Runner) (dag.Result, error) {
	cleans := strings.HasPrefix(string(c.Path), "@cleanup")
	switch n.kind.Code {
	case notice.Tolerated:
		if !cleans {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Message: message}, nil
		}
	case notice.CleanupFailed:
		if cleans {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Message: message}, nil
		}
	default:
		if !cleans {
			call.FrameOf(c.Args()).Session().Notify(notice.Notice{Code: n.kind.Code, Step: c.Path, Message: message})
		}
	}
	return dag.Result{Status: dag.Succeeded}, nil
}

// flowrun returns what a command prints.
func (n *noticed) flowrun(args ...string) string {
	n.Helper()
	var out bytes.Buffer
	if code := cli.Main(cli.Process{Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}); code != 0 {
		n.Errorf("flowrun %s: exit code %d: %s", args, code, &out)
	}
	return out.String()
}

// channels are the ways in which people and programs learn of a run, in the order of the table in docs/reference/notices.md.
var channels = []struct {
	name  string
	model bool // for a language model, which gets only what may have changed the result
	show  func(n *noticed) string
}{
	{"`run`", false, func(n *noticed) string {
		var b bytes.Buffer
		runs.PrintOutcome(&ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(""), Stdout: &b, Stderr: &b}}, n.result, n.plan, false)
		return b.String()
	}},
	{"`run -o json`", false, func(n *noticed) string {
		var b bytes.Buffer
		if err := n.result.WriteJSON(&b); err != nil {
			n.Error(err)
		}
		return b.String()
	}},
	{"`show`", false, func(n *noticed) string { return n.flowrun("show", n.result.ID) }},
	{"`show -o json`", false, func(n *noticed) string { return n.flowrun("show", n.result.ID, "-o", "json") }},
	{"`runs`", false, func(n *noticed) string { return n.flowrun("runs") }},
	{"`runs -o json`", false, func(n *noticed) string { return n.flowrun("runs", "-o", "json") }},
	{"`events`", false, func(n *noticed) string { return n.flowrun("events", n.result.ID) }},
	{"web UI, HTTP API", false, (*noticed).web},
	{"notification", false, (*noticed).notification},
	{"log of `serve`", false, func(n *noticed) string {
		var b bytes.Buffer
		executor.LogNotice(slog.New(slog.NewTextHandler(&b, nil)), n.result.Notices[0])
		return b.String()
	}},
	{"`call`", true, (*noticed).call},
	{"MCP", true, (*noticed).mcp},
}

// web returns the document of the run that the page reads.
func (n *noticed) web() string {
	s, err := service.New(n.Context(), service.Config{Store: n.store, Home: n.dir, Engine: n.engine, Library: func() *library.Library { return n.lib }})
	if err != nil {
		n.Fatal(err)
	}
	defer s.Drain(0, nil)
	const token = "0123456789abcdef0123456789abcdef"
	h, err := web.New(web.ServiceOf(s), web.Options{Tokens: []service.Token{{Text: token}}, StateDir: n.dir})
	if err != nil {
		n.Fatal(err)
	}
	r := httptest.NewRequest("GET", "http://localhost/api/v1/runs/"+n.result.ID+"?brief=1", nil)
	r.Header.Set("Authorization", "Bearer "+token)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Body.String()
}

// notification returns what a webhook gets.
func (n *noticed) notification() string {
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got <- string(b)
	}))
	defer server.Close()
	for _, err := range notify.Send(n.Context(), notify.Settings{}, []notify.Rule{{On: []notify.Event{notify.Always}, Webhook: server.URL}}, notify.Outcome{Event: notify.Success, Result: n.result}) {
		n.Error(err)
	}
	return <-got
}

// call returns what a model reads that called the tool.
func (n *noticed) call() string {
	i, refused := registry.New(n.lib, registry.Options{Engine: n.engine}).Read(n.Context(), registry.Request{Tool: "noticed"})
	if refused != nil {
		n.Fatalf("%+v", refused.Error)
	}
	b, err := json.Marshal(i.Do(n.Context(), engine.WithAround(n.around)))
	if err != nil {
		n.Error(err)
	}
	return string(b)
}

// mcp returns the content that a client gets which called the tool.
func (n *noticed) mcp() string {
	s := mcp.New(mcp.Config{Library: n.lib, Registry: registry.Options{Engine: n.engine}, Approver: proceeding{},
		Observe: func(*registry.Invocation) ([]engine.RunOption, func(context.Context, *registry.Answer)) {
			return []engine.RunOption{engine.WithAround(n.around)}, func(context.Context, *registry.Answer) {}
		}})
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ctx, cancel := context.WithCancel(n.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, in, out) }()
	answer := func(request string) (content string) {
		fmt.Fprintln(client, request)
		var reply struct {
			Result struct{ Content json.RawMessage }
		}
		if err := json.NewDecoder(answers).Decode(&reply); err != nil {
			n.Fatal(err)
		}
		return string(reply.Result.Content)
	}
	answer(`{"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}`)
	fmt.Fprintln(client, `{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	content := answer(`{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "noticed", "arguments": {}}}`)
	cancel()
	client.Close()
	answers.Close()
	<-ended
	return content
}

// proceeding is an mcp.Approver that allows every call.
type proceeding struct{}

func (proceeding) Decide(context.Context, *registry.Invocation, bool) registry.Decision {
	return registry.Decision{Action: registry.Proceed}
}
func (proceeding) Card(*registry.Invocation, *gostep.Confirmation) (string, error) { return "", nil }
func (proceeding) Record(context.Context, *registry.Invocation, bool) error        { return nil }

// cell says what a channel shows of the notice: the most that it has.
func (n *noticed) cell(text string) string {
	for _, c := range []struct{ cell, has string }{
		{"code, message", `"` + n.kind.Code + `"`}, {"message", message}, {"code", "notice=" + n.kind.Code},
		{"status", "cleanup failed"}, {"status", "1 tolerated"}, {"count", "1 notice"},
	} {
		if strings.Contains(text, c.has) && (c.cell != "code, message" || strings.Contains(text, message)) {
			return c.cell
		}
	}
	return ""
}

// TestNoticeChannels: every channel shows every kind of notice, and the page docs/reference/notices.md says how. A model
// does not get those about the machine.
func TestNoticeChannels(t *testing.T) {
	var table strings.Builder
	table.WriteString("| code |")
	for _, c := range channels {
		table.WriteString(" " + c.name + " |")
	}
	table.WriteString("\n|---|" + strings.Repeat("---|", len(channels)) + "\n")
	for _, k := range notice.Kinds() {
		n := newNoticed(t, k)
		if len(n.result.Notices) != 1 || n.result.Notices[0].Code != k.Code {
			t.Errorf("%s: notices %+v", k.Code, n.result.Notices)
			continue
		}
		table.WriteString("| `" + k.Code + "` |")
		for _, c := range channels {
			text := c.show(n)
			cell := n.cell(text)
			if told := !c.model || k.Changes; told != (cell != "") {
				t.Errorf("%s shows of %s %q:\n%s", c.name, k.Code, cell, text)
			}
			if cell == "" {
				cell = "–"
			}
			table.WriteString(" " + cell + " |")
		}
		table.WriteString("\n")
	}
	var codes strings.Builder
	codes.WriteString("| code | meaning |\n|---|---|\n")
	for _, k := range notice.Kinds() {
		fmt.Fprintf(&codes, "| `%s` | %s |\n", k.Code, k.Meaning)
	}
	const page = "../../docs/reference/notices.md"
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	fresh := replaceTable(replaceTable(string(b), "codes", codes.String()), "channels", table.String())
	if fresh != string(b) && *update {
		err = os.WriteFile(page, []byte(fresh), 0o644)
	} else if fresh != string(b) {
		t.Errorf("%s is not fresh; run go test ./internal/cli -run NoticeChannels -update", page)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// replaceTable replaces what is between the marks of a table in a page.
func replaceTable(page, name, table string) string {
	begin, end := "<!-- "+name+" -->\n", "<!-- end of "+name+" -->\n"
	head, rest, _ := strings.Cut(page, begin)
	_, tail, _ := strings.Cut(rest, end)
	return head + begin + "\n" + table + "\n" + end + tail
}
