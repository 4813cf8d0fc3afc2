package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// approver allows tools that are tagged free, refuses those tagged forbidden, and asks about
// the others.
type approver struct {
	mu       sync.Mutex
	recorded []string
	fail     error // of Record
}

func (a *approver) Decide(_ context.Context, i *registry.Invocation, canAsk bool) registry.Decision {
	tags := i.Tool.Plan().Definition.Tags
	switch {
	case slices.Contains(tags, "free"):
		return registry.Decision{Action: registry.Proceed}
	case slices.Contains(tags, "forbidden") || !canAsk:
		return registry.Decision{Action: registry.Refuse, Reason: "not approved", Advice: "use --auto-approve"}
	}
	return registry.Decision{Action: registry.Ask}
}

func (a *approver) Card(i *registry.Invocation, shown *gostep.Confirmation) (string, error) {
	return "Approve? " + i.Describe(), nil
}

func (a *approver) Record(_ context.Context, i *registry.Invocation, approved bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recorded = append(a.recorded, map[bool]string{true: "approved ", false: "rejected "}[approved]+i.Tool.Name())
	return a.fail
}

// definitions are the tools of the tests.
var definitions = map[string]string{
	"greet": `{name: greet, description: Greets, tags: [free, read], parameters: {NAME: {type: string, required: true}, TIMES: {type: number, default: 1}}, bash: 'echo "Hello {NAME} {TIMES}"'}`,
	"fail":  `{name: fail, description: Fails, tags: [free, write, idempotent], bash: 'echo broken >&2; exit 3'}`,
	"json":  `{name: json, description: Prints JSON, tags: [free], bash: 'printf %s ''{"n": 12345678901234567890}'''}`,
	"count": `{name: count, description: Counts, tags: [free], parameters: {N: {type: string, default: '1'}, SIZE: {type: number, default: 1}}, bash: 'printf ''{"n": %s, "more": "%s"}'' {N} "$(head -c {SIZE} /dev/zero | tr ''\0'' x)"', output-schema: {type: object, properties: {n: {type: integer}}, required: [n]}}`,
	"steps": `{name: steps, description: Has steps, tags: [free], steps: [{name: a, bash: 'true'}, {name: b, bash: 'true'}]}`,
	"ask":   `{name: ask, description: Asks, parameters: {WHAT: {type: string, default: x}}, bash: 'echo did {WHAT}'}`,
	"gate":  `{name: gate, description: Has a question, tags: [free], steps: [{name: go, approve: {prompt: 'Go on?', form: {properties: {where: {type: string}, often: {type: integer, default: 2}}, required: [where]}}}, {name: do, bash: 'echo {go.json.where} {go.json.often}'}]}`,
	"never": `{name: never, description: Never, tags: [forbidden], bash: 'echo no'}`,
}

// served is a Server with the definitions and its Library.
type served struct {
	*mcp.Server
	approver *approver
	folder   string
	library  *library.Library
}

// serve returns a Server for the definitions.
func serve(t testing.TB, change func(*mcp.Config)) *served {
	t.Helper()
	project := t.TempDir()
	s := &served{approver: &approver{}, folder: filepath.Join(project, ".flowrun", "tools")}
	if err := os.MkdirAll(s.folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range definitions {
		s.write(t, name, text)
	}
	c := mcp.Config{Library: library.New(library.Config{WorkingDirectory: project, Home: t.TempDir()}), Approver: s.approver, Version: "1.2.3",
		Registry: registry.Options{RunEnv: func(*engine.Plan) engine.RunEnv { return engine.RunEnv{Workspace: project} }}}
	if change != nil {
		change(&c)
	}
	s.Server, s.library = mcp.New(c), c.Library
	return s
}

// write writes one definition.
func (s *served) write(t testing.TB, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.folder, name+".yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// connect returns a session of a client.
func (s *served) connect(t testing.TB, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	return s.connectWith(t, o, "")
}

// connectWith returns a session of a client that asks for a version of the protocol.
func (s *served) connectWith(t testing.TB, o *sdk.ClientOptions, version string) *sdk.ClientSession {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	here, there := pipes()
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, there.in, there.out) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, &sdk.IOTransport{Reader: here.in, Writer: here.out}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		cancel()
		if err := <-done; err != nil && !errors.Is(err, io.ErrClosedPipe) { // the client was gone before an answer was written
			t.Errorf("Serve: %v", err)
		}
	})
	return session
}

// text returns the texts of a result.
func text(r *sdk.CallToolResult) string {
	var b strings.Builder
	for _, c := range r.Content {
		if one, ok := c.(*sdk.TextContent); ok {
			b.WriteString(one.Text)
		}
	}
	return b.String()
}

// call calls a tool. An error of the protocol fails the test.
func callTool(t testing.TB, c *sdk.ClientSession, name string, args any) *sdk.CallToolResult {
	t.Helper()
	r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// TestTools checks what clients see.
func TestTools(t *testing.T) {
	c := serve(t, nil).connect(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]*sdk.Tool{}
	for _, one := range list.Tools {
		seen[one.Name] = one
	}
	if len(seen) != len(definitions)+1 {
		t.Errorf("%d tools, want %d and execute_tool", len(seen), len(definitions))
	}
	hints := func(name string) string {
		a := seen[name].Annotations
		return strings.Join(slices.DeleteFunc([]string{
			map[bool]string{true: "read-only"}[a.ReadOnlyHint], map[bool]string{true: "destructive"}[*a.DestructiveHint],
			map[bool]string{true: "open"}[*a.OpenWorldHint], map[bool]string{true: "idempotent"}[a.IdempotentHint]}, func(s string) bool { return s == "" }), " ")
	}
	for name, want := range map[string]string{"greet": "read-only", "fail": "destructive idempotent", "ask": "destructive open"} {
		if got := hints(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	schema, _ := json.Marshal(seen["greet"].InputSchema)
	for _, want := range []string{`"NAME"`, `"required":["NAME"]`, `"default":1`} {
		if !strings.Contains(string(schema), want) {
			t.Errorf("the schema of greet has no %s: %s", want, schema)
		}
	}
}

// TestOutputSchema checks that clients see the declared schema of an output, and that results match it. An error has no
// structured content then, because some clients check that against the schema too.
func TestOutputSchema(t *testing.T) {
	c := serve(t, func(c *mcp.Config) { c.Store = history.NewMemory() }).connect(t, nil)
	list, err := c.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list.Tools {
		if (one.OutputSchema != nil) != (one.Name == "count") {
			t.Errorf("%s: output schema %v", one.Name, one.OutputSchema)
		}
	}
	if r := callTool(t, c, "count", map[string]any{"N": "12"}); r.IsError || r.StructuredContent.(map[string]any)["n"] != 12.0 {
		t.Errorf("%v", r.StructuredContent)
	}
	bad := callTool(t, c, "count", map[string]any{"N": `"x"`})
	doc, _ := bad.Meta["flowrun/error"].(map[string]any)
	if !bad.IsError || bad.StructuredContent != nil || !strings.Contains(text(bad), "does not match the schema that the tool declares: n: ") || doc["execution_status"] != "error" {
		t.Errorf("%s, %v, %v", text(bad), bad.StructuredContent, bad.Meta)
	}
	if r := callTool(t, c, "count", map[string]any{"NOPE": 1}); !r.IsError || r.StructuredContent != nil || r.Meta["flowrun/error"] == nil {
		t.Errorf("%s, %v, %v", text(r), r.StructuredContent, r.Meta)
	}
	large := callTool(t, c, "count", map[string]any{"SIZE": 2 << 20})
	if len(large.Content) != 2 || large.StructuredContent == nil {
		t.Errorf("%.100s", text(large))
	}
}

// TestCall checks the results of calls.
func TestCall(t *testing.T) {
	c := serve(t, nil).connect(t, nil)
	for name, test := range map[string]struct {
		tool   string
		args   any
		failed bool
		text   string // in the content
		code   string // of the structured error
	}{
		"plain":               {"greet", map[string]any{"NAME": "Ada; $(id)"}, false, "Hello Ada; $(id) 1", ""},
		"coerced":             {"greet", map[string]any{"NAME": "Ada", "TIMES": "2"}, false, "Hello Ada 2", ""},
		"text":                {"greet", "{'NAME': 'Ada',}", false, "Hello Ada 1", ""},
		"no arguments":        {"steps", nil, false, "", ""},
		"missing":             {"greet", map[string]any{}, true, "NAME", "missing"},
		"undeclared":          {"greet", map[string]any{"NAME": "x", "NOPE": 1}, true, "NOPE", "undeclared"},
		"truncated":           {"greet", `{"NAME": "A`, true, "", "truncated"},
		"failed":              {"fail", nil, true, "broken", "failed"},
		"refused":             {"never", nil, true, "not approved", "not-approved"},
		"nobody to ask":       {"ask", nil, true, "not approved", "not-approved"},
		"by name":             {"execute_tool", map[string]any{"tool_name": "greet", "parameters": map[string]any{"NAME": "Bob"}}, false, "Hello Bob 1", ""},
		"by name, text":       {"execute_tool", map[string]any{"tool_name": "greet", "parameters": "{NAME: Bob}"}, false, "Hello Bob 1", ""},
		"by name, none":       {"execute_tool", map[string]any{"tool_name": "steps"}, false, "", ""},
		"by name, unknown":    {"execute_tool", map[string]any{"tool_name": "gret"}, true, "did you mean \"greet\"", "not-found"},
		"by name, path":       {"execute_tool", map[string]any{"tool_name": "./greet.yaml"}, true, "", "not-found"},
		"by name, itself":     {"execute_tool", map[string]any{"tool_name": "execute_tool"}, true, "", "not-found"},
		"by name, no name":    {"execute_tool", map[string]any{"parameters": map[string]any{}}, true, "tool_name", ""},
		"by name, wrong type": {"execute_tool", map[string]any{"tool_name": 3}, true, "tool_name", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := callTool(t, c, test.tool, test.args)
			if r.IsError != test.failed || !strings.Contains(text(r), test.text) {
				t.Errorf("error %v, text %q", r.IsError, text(r))
			}
			doc, _ := r.StructuredContent.(map[string]any)
			problem, _ := doc["error"].(map[string]any)
			if code, _ := problem["code"].(string); code != test.code {
				t.Errorf("code %q, want %q", code, test.code)
			}
			if all, _ := json.Marshal(r); strings.Contains(string(all), "--auto-approve") {
				t.Errorf("the model learns how to get approved: %s", all)
			}
		})
	}
	t.Run("structured", func(t *testing.T) {
		doc, _ := json.Marshal(callTool(t, c, "json", nil).StructuredContent)
		if !strings.HasPrefix(string(doc), `{"n":1234567890123456`) {
			t.Errorf("structured content %s", doc)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "nope"}); err == nil {
			t.Error("a tool that is not listed can be called")
		}
	})
}

// elicit answers every question of a server.
func elicit(answer func(*sdk.ElicitParams) (*sdk.ElicitResult, error)) *sdk.ClientOptions {
	return &sdk.ClientOptions{ElicitationHandler: func(_ context.Context, r *sdk.ElicitRequest) (*sdk.ElicitResult, error) { return answer(r.Params) }}
}

// TestApproval checks that a person decides about a call.
func TestApproval(t *testing.T) {
	decision := func(word string) map[string]any { return map[string]any{"decision": word} }
	for name, test := range map[string]struct {
		answer   *sdk.ElicitResult
		code     string
		recorded string
	}{
		"approved":        {&sdk.ElicitResult{Action: "accept", Content: decision("approve")}, "", "approved ask"},
		"denied":          {&sdk.ElicitResult{Action: "accept", Content: decision("deny")}, "declined", "rejected ask"},
		"declined":        {&sdk.ElicitResult{Action: "decline"}, "declined", "rejected ask"},
		"cancelled":       {&sdk.ElicitResult{Action: "cancel"}, "cancelled", ""},
		"accepted, empty": {&sdk.ElicitResult{Action: "accept"}, "declined", "rejected ask"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, nil)
			var cards []string
			c := s.connect(t, elicit(func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
				cards = append(cards, p.Message)
				return test.answer, nil
			}))
			r := callTool(t, c, "ask", map[string]any{"WHAT": "that"})
			doc, _ := r.StructuredContent.(map[string]any)
			problem, _ := doc["error"].(map[string]any)
			if code, _ := problem["code"].(string); code != test.code || r.IsError != (test.code != "") {
				t.Errorf("code %q, want %q: %s", code, test.code, text(r))
			}
			if len(cards) != 1 || !strings.Contains(cards[0], "that") {
				t.Errorf("the person was shown %q", cards)
			}
			if got := strings.Join(s.approver.recorded, ", "); got != test.recorded {
				t.Errorf("recorded %q, want %q", got, test.recorded)
			}
			if test.code == "" && text(r) != "did that\n" {
				t.Errorf("output %q", text(r))
			}
		})
	}
	t.Run("not recorded", func(t *testing.T) {
		s := serve(t, nil)
		s.approver.fail = errors.New("disk full")
		c := s.connect(t, elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: decision("approve")}, nil
		}))
		if r := callTool(t, c, "ask", nil); !r.IsError || !strings.Contains(text(r), "disk full") {
			t.Errorf("a decision that cannot be recorded: %s", text(r))
		}
	})
}

// TestApprovalShown checks that an answer is no longer good if a person would be shown something
// else now, such as the change of another file.
func TestApprovalShown(t *testing.T) {
	s := serve(t, nil)
	shown := "one"
	edit := gostep.GoTool{Name: "edit", Description: "Edits", Run: func(context.Context, *gostep.StepInput) (any, error) { return "edited", nil },
		Confirm: func(context.Context, *gostep.StepInput) (*gostep.Confirmation, error) {
			return &gostep.Confirmation{Text: shown}, nil
		}}
	s.library.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return []*tool.Definition{edit.Definition()} })
	s = &served{Server: mcp.New(mcp.Config{Library: s.library, Approver: s.approver, Filter: mcp.Filter{Also: []string{"edit"}}})}
	o := elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) { return nil, errors.New("not used") })
	o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	c := s.connect(t, o)
	answered := func(change func()) *sdk.CallToolResult {
		t.Helper()
		first, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit"})
		if err != nil {
			t.Fatal(err)
		}
		change()
		approve := sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}}
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "edit", RequestState: first.RequestState, InputResponses: approve})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := answered(func() {}); r.IsError || text(r) != "edited" {
		t.Errorf("an approved call: %s", text(r))
	}
	if r := answered(func() { shown = "two" }); !r.IsError {
		t.Error("an answer is accepted for a change that nobody has seen")
	}
}

// TestApprovalForged checks that an answer is good for one call only.
func TestApprovalForged(t *testing.T) {
	s := serve(t, nil)
	o := elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) { return nil, errors.New("not used") })
	o.MultiRoundTrip = &sdk.MultiRoundTripOptions{Disabled: true}
	c := s.connect(t, o)
	approve := sdk.InputResponseMap{"approval": &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}}
	ask := func(state string, args map[string]any, answers sdk.InputResponseMap) *sdk.CallToolResult {
		t.Helper()
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "ask", Arguments: args, RequestState: state, InputResponses: answers})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, other := map[string]any{"WHAT": "one"}, map[string]any{"WHAT": "other"}
	if r := ask("made up", one, approve); !r.IsError {
		t.Error("an answer to a question that was never asked is accepted")
	}
	if r := ask("", one, approve); !r.NeedsInput() {
		t.Error("an answer without a question is accepted")
	}
	if r := ask(ask("", one, nil).RequestState, other, approve); !r.IsError {
		t.Error("an answer is accepted for other arguments")
	}
	state := ask("", one, nil).RequestState
	s.write(t, "ask", strings.ReplaceAll(definitions["ask"], "did", "changed"))
	if r := ask(state, one, approve); !r.IsError {
		t.Error("an answer is accepted for a changed definition")
	}
	state = ask("", one, nil).RequestState
	if r := ask(state, one, approve); r.IsError || text(r) != "changed one\n" {
		t.Errorf("the right answer: %s", text(r))
	}
	if r := ask(state, one, approve); !r.IsError {
		t.Error("an answer is accepted twice")
	}
}

// TestProtocolVersions checks calls and approvals in every version of the protocol.
func TestProtocolVersions(t *testing.T) {
	s := serve(t, nil)
	for _, version := range sdk.SupportedProtocolVersions() {
		t.Run(version, func(t *testing.T) {
			o := elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
				return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
			})
			c := s.connectWith(t, o, version)
			if got := c.InitializeResult().ProtocolVersion; got != version {
				t.Errorf("the session has version %s", got)
			}
			if r := callTool(t, c, "greet", map[string]any{"NAME": "Ada"}); text(r) != "Hello Ada 1\n" {
				t.Errorf("greet: %s", text(r))
			}
			if r := callTool(t, c, "ask", nil); text(r) != "did x\n" {
				t.Errorf("ask: %s", text(r))
			}
		})
	}
}

// TestQuestion checks that a client answers the question of a step, and that a run waits if no
// client can.
func TestQuestion(t *testing.T) {
	for name, test := range map[string]struct {
		answer *sdk.ElicitResult // nil: the client cannot ask
		text   string
		code   string
	}{
		"approved":     {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"where": "here"}}, "here 2", ""},
		"denied":       {&sdk.ElicitResult{Action: "decline"}, "", "failed"},
		"wrong values": {&sdk.ElicitResult{Action: "accept", Content: map[string]any{}}, "", "waiting"},
		"cancelled":    {&sdk.ElicitResult{Action: "cancel"}, "", "waiting"},
		"nobody":       {nil, "", "waiting"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(c *mcp.Config) {
				c.Registry.Engine = engine.New(engine.Config{Store: history.NewMemory(), StateDir: t.TempDir()})
			})
			var o *sdk.ClientOptions
			if test.answer != nil {
				o = elicit(func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
					if schema, _ := json.Marshal(p.RequestedSchema); !strings.Contains(p.Message, "Go on?") || !strings.Contains(string(schema), `"where"`) {
						t.Errorf("the person is shown %q %s", p.Message, schema)
					}
					return test.answer, nil
				})
			}
			r := callTool(t, s.connectWith(t, o, "2025-11-25"), "gate", nil)
			doc, _ := r.StructuredContent.(map[string]any)
			problem, _ := doc["error"].(map[string]any)
			if code, _ := problem["code"].(string); code != test.code || !strings.Contains(text(r), test.text) {
				t.Errorf("code %q, want %q: %s", code, test.code, text(r))
			}
			if strings.Contains(text(r), "flowrun approve") {
				t.Errorf("the model learns how to approve: %s", text(r))
			}
		})
	}
}

// TestProgress checks that clients get a notification for every step, before the result.
func TestProgress(t *testing.T) {
	r := open(t, serve(t, nil))
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":"token"}}}`)
	var heard []string
	for _, m := range r.until(1.0) {
		params, _ := m["params"].(map[string]any)
		heard = append(heard, fmt.Sprintf("%v %v", params["progress"], params["message"]))
	}
	if got := strings.Join(heard, ", "); got != "1 a: started, 2 a: succeeded, 3 b: started, 4 b: succeeded" {
		t.Errorf("heard %s", got)
	}
}

// TestProgressOfStep checks that clients get what a step reports of its progress.
func TestProgressOfStep(t *testing.T) {
	s := serve(t, nil)
	err := s.library.Add(gostep.GoTool{Name: "work", Description: "Works", Tags: []string{"free"}, Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
		in.Progress(1, 2, "half")
		return "done", nil
	}}.Definition())
	if err != nil {
		t.Fatal(err)
	}
	s.Refresh()
	r := open(t, s)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","_meta":{"progressToken":"token"}}}`)
	var heard []string
	for _, m := range r.until(1.0) {
		params, _ := m["params"].(map[string]any)
		heard = append(heard, fmt.Sprint(params["message"]))
	}
	if !slices.Contains(heard, "work: 1 of 2: half") {
		t.Errorf("heard %q", heard)
	}
}

// TestQuestionWithoutForm checks that a step that only asks for approval gets the decision.
func TestQuestionWithoutForm(t *testing.T) {
	for decision, want := range map[string]string{"approve": "done\n", "deny": ""} {
		s := serve(t, func(c *mcp.Config) {
			c.Registry.Engine = engine.New(engine.Config{Store: history.NewMemory(), StateDir: t.TempDir()})
		})
		s.write(t, "plain", `{name: plain, description: Asks, tags: [free], steps: [{name: go, approve: 'Go on?'}, {name: do, bash: 'echo done'}]}`)
		s.Refresh()
		c := s.connectWith(t, elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
			return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": decision}}, nil
		}), "2025-11-25")
		if r := callTool(t, c, "plain", nil); r.IsError != (want == "") || want != "" && text(r) != want {
			t.Errorf("%s: %s", decision, text(r))
		}
	}
}

// TestForgedAnswer checks that a client that answers a request that it never got, and then leaves
// with a question open, cannot keep the server alive.
func TestForgedAnswer(t *testing.T) {
	s := serve(t, nil)
	in, requests := io.Pipe()
	messages, out := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- s.Serve(t.Context(), in, out) }()
	lines := bufio.NewScanner(messages)
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`,
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ask"}}`,
	} {
		if _, err := io.WriteString(requests, line+"\n"); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(line, `"id"`) && !lines.Scan() {
			t.Fatal("no answer")
		}
	}
	if !strings.Contains(lines.Text(), "elicitation/create") {
		t.Fatalf("got %s, want a question", lines.Text())
	}
	go io.Copy(io.Discard, messages)
	if _, err := io.WriteString(requests, `{"jsonrpc":"2.0","id":"never","result":{}}`+"\n"); err != nil {
		t.Fatal(err)
	}
	requests.Close()
	select {
	case <-served:
	case <-time.After(waittest.Limit):
		t.Error("the server waits for an answer that cannot come")
	}
}

// TestLog checks that what a step streams is sent as messages of the log.
func TestLog(t *testing.T) {
	s := serve(t, nil)
	s.write(t, "stream", `{name: stream, description: Streams, tags: [free], steps: [{name: talk, bash: 'echo one; echo two', output: {mode: stream}}]}`)
	s.Refresh()
	r := open(t, s)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"info"}}`)
	r.answer(1.0)
	r.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"stream"}}`)
	var heard []string
	for _, m := range r.until(2.0) {
		params, _ := m["params"].(map[string]any)
		heard = append(heard, fmt.Sprintf("%v %v: %v", params["level"], params["logger"], params["data"]))
	}
	if got := strings.Join(heard, ", "); got != "info talk: one, info talk: two" {
		t.Errorf("heard %s", got)
	}
}

// TestPrompts checks that tools with prompt: true are prompts, and that their arguments are
// completed.
func TestPrompts(t *testing.T) {
	s := serve(t, func(c *mcp.Config) {
		c.Candidates = func(p *tool.Parameter) []string { return []string{"short", "long", p.Name} }
	})
	s.write(t, "review", `{name: review, description: Asks for a review, prompt: true, tags: [free], parameters: {TOPIC: {type: string, required: true, description: what}, DEPTH: {type: string, default: short}}, bash: 'echo "Review {TOPIC}, {DEPTH}."'}`)
	s.write(t, "picture", `{name: picture, description: Shows, prompt: true, tags: [free], bash: 'printf %s ''{"llmContent": ["Look:", {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]}'''}`)
	s.write(t, "secret", `{name: secret, description: Needs approval, prompt: true, bash: 'echo approved'}`)
	s.Refresh()
	c := s.connect(t, elicit(func(*sdk.ElicitParams) (*sdk.ElicitResult, error) {
		return &sdk.ElicitResult{Action: "accept", Content: map[string]any{"decision": "approve"}}, nil
	}))
	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if seen, _ := json.Marshal(list.Prompts); len(list.Prompts) != 3 || !strings.Contains(string(seen), `"arguments":[{"name":"TOPIC","description":"what","required":true},{"name":"DEPTH"}]`) {
		t.Errorf("prompts %s", seen)
	}
	get := func(name string, args map[string]string) string {
		r, err := c.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			return "error: " + err.Error()
		}
		var parts []string
		for _, m := range r.Messages {
			switch p := m.Content.(type) {
			case *sdk.TextContent:
				parts = append(parts, string(m.Role)+": "+p.Text)
			case *sdk.ImageContent:
				parts = append(parts, p.MIMEType)
			}
		}
		return strings.Join(parts, "|")
	}
	for _, test := range []struct {
		name string
		args map[string]string
		want string
	}{
		{"review", map[string]string{"TOPIC": "this; rm -rf"}, "user: Review this; rm -rf, short.\n"},
		{"picture", nil, "user: Look:|image/png"},
		{"secret", nil, "user: approved\n"},
		{"review", nil, "error: "},
		{"greet", map[string]string{"NAME": "x"}, "error: "},
	} {
		if got := get(test.name, test.args); got != test.want && (test.want != "error: " || !strings.HasPrefix(got, "error: ")) {
			t.Errorf("%s %v: %q", test.name, test.args, got)
		}
	}
	complete := func(prompt, arg, prefix string) []string {
		r, err := c.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/prompt", Name: prompt}, Argument: sdk.CompleteParamsArgument{Name: arg, Value: prefix}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Completion.Values
	}
	if got := complete("review", "DEPTH", "s"); !slices.Equal(got, []string{"short"}) {
		t.Errorf("completion %q", got)
	}
	if got := complete("review", "NOPE", ""); len(got) != 0 {
		t.Errorf("completion of an unknown argument %q", got)
	}
	s.write(t, "hidden", strings.ReplaceAll(readText(t, filepath.Join(s.folder, "review.yaml")), "name: review", "name: hidden"))
	if got := complete("hidden", "DEPTH", ""); len(got) != 0 {
		t.Errorf("completion for a tool that is not offered %q", got)
	}
	if err := os.Remove(filepath.Join(s.folder, "hidden.yaml")); err != nil {
		t.Fatal(err)
	}
	s.write(t, "review", `{name: review, description: No prompt, tags: [free], bash: 'true'}`)
	s.Refresh()
	if list, err := c.ListPrompts(t.Context(), nil); err != nil || len(list.Prompts) != 2 {
		t.Errorf("after a change: %v %v", list, err)
	}
}

func readText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestListChanged checks that the list follows the files.
func TestListChanged(t *testing.T) {
	changed := make(chan struct{}, 10)
	s := serve(t, nil)
	c := s.connect(t, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
	names := func() (names []string) {
		for one, err := range c.Tools(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, one.Name)
		}
		return names
	}
	if got := names(); !slices.Contains(got, "never") {
		t.Errorf("before a change: %q", got)
	}
	if err := os.Remove(filepath.Join(s.folder, "never.yaml")); err != nil {
		t.Fatal(err)
	}
	times := 0
	waittest.Until(t, "news of a changed list", func() bool { // the client may begin to listen after the first change
		times++
		s.write(t, "new", fmt.Sprintf(`{name: new, description: New %d, tags: [free], bash: 'echo new'}`, times))
		s.Refresh()
		return len(changed) > 0
	})
	if got := names(); !slices.Contains(got, "new") || slices.Contains(got, "never") {
		t.Errorf("after a change: %q", got)
	}
	s.write(t, "new", `{name: new, nonsense: 1}`)
	s.Refresh()
	if got := names(); slices.Contains(got, "new") {
		t.Errorf("an invalid tool is listed: %q", got)
	}
}

// TestFilter checks which tools are offered, and that no others can be called.
func TestFilter(t *testing.T) {
	for name, test := range map[string]struct {
		filter mcp.Filter
		want   string
	}{
		"names":   {mcp.Filter{Tools: []string{"gr*", "ask"}}, "ask greet"},
		"tags":    {mcp.Filter{Tags: []string{"write", "forbidden"}}, "fail never"},
		"exclude": {mcp.Filter{Exclude: []string{"*e*"}}, "ask count fail json"},
		"permits": {mcp.Filter{Permits: func(p *engine.Plan) bool { return p.Name() == "json" }}, "json"},
	} {
		t.Run(name, func(t *testing.T) {
			c := serve(t, func(o *mcp.Config) { o.Filter = test.filter }).connect(t, nil)
			var names []string
			for one, err := range c.Tools(t.Context(), nil) {
				if err != nil {
					t.Fatal(err)
				}
				if one.Name != "execute_tool" {
					names = append(names, one.Name)
				}
			}
			if got := strings.Join(names, " "); got != test.want {
				t.Errorf("offers %s, want %s", got, test.want)
			}
			for tool := range definitions {
				r := callTool(t, c, "execute_tool", map[string]any{"tool_name": tool, "parameters": map[string]any{"NAME": "x"}})
				if !slices.Contains(names, tool) && !r.IsError {
					t.Errorf("%s is not offered, but can be called", tool)
				}
			}
		})
	}
}

// TestApprovalExpires checks that an old question cannot be answered.
func TestApprovalExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { mcp.CheckExpiry(t) })
}
