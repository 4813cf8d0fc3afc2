package registry_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

func TestMain(m *testing.M) {
	flowrun.HelperMain()
	goleak.VerifyTestMain(m)
}

// shelf is a folder with a tool of every kind.
var shelf = map[string]string{
	"weather.yaml": `name: weather
description: Tells the weather
tags: [read]
bash: echo "{CITY} for {DAYS}"
parameters:
  CITY: {type: string, description: Where, required: true, examples: [Rome]}
  DAYS: {type: number, description: How long, default: 3, validation: {minimum: 1, maximum: 7}}
  UNIT: {type: string, description: Of temperature, validation: {enum: [metric, imperial]}}
`,
	"login.yaml": `name: login
description: Logs in
bash: 'echo ok; : "{TOKEN}"'
environment: {secrets: [TOKEN]}
parameters:
  TOKEN: {type: string, description: A secret, default: hunter22secret, examples: [example-secret], validation: {enum: [hunter22secret, other22secret]}}
  NAME: {type: string, description: Who, required: true}
`,
	"chain.yaml": `name: chain
description: Does two things.
steps:
  - name: one
    bash: echo one {WHAT}
  - name: two
    bash: echo two
parameters:
  WHAT: {type: string, description: of it, required: true}
`,
	"page.md": "---\ntool: true\nid: page\nname: A page\ndescription: Greets\ntype: chain\nparameters:\n  - {name: who, type: string, required: true, description: whom}\n---\n\n```yaml\nsteps:\n  - id: first\n    tool: weather\n    parameters: {CITY: \"{{who}}\"}\n```\n",
	"add.tool.js": `module.exports = {
  getMetadata: () => ({ id: 'add', name: 'Adder', description: 'Adds.' }),
  getSchema: () => ({ parameters: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number', default: 1 } }, required: ['a'] } }),
  execute: (p) => ({ sum: p.a + p.b })
};`,
	"dotted.yaml": "name: pressure.solve\ndescription: d\nbash: echo solved\n",
	"broken.yaml": "name: broken\ndescription: d\nbash: echo\nbosh: x\n",
	"windows.yaml": `name: elsewhere
description: d
platforms: [windows]
bash: echo
`,
}

// adder is a tool written in Go, with parameters as JSON Schema.
func adder(t testing.TB) *tool.Definition {
	t.Helper()
	schema, err := dataschema.Parse([]byte(`{"type":"object","properties":{
		"a":{"type":"integer"},
		"list":{"type":"array","items":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}},
		"maybe":{"anyOf":[{"type":"integer"},{"type":"null"}]},
		"kind":{"const":"sum"},
		"any":{"$ref":"#/$defs/x"}},"required":["a"],"$defs":{"x":{"type":"object"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return flowrun.GoTool{Name: "go_add", DisplayName: "Go adder", Description: "Adds in Go", Schema: schema,
		Describe: func(p map[string]any) string { return fmt.Sprintf("Adds %d", p["a"].(int64)) },
		Run: func(ctx context.Context, in *flowrun.StepInput) (any, error) {
			if _, slow := in.Params["maybe"]; slow {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return flowrun.TextContent("for the model", "**for a person**"), nil
		}}.Definition()
}

// stock is a registry over the shelf.
func stock(t testing.TB, o options) *caller {
	t.Helper()
	dir := filepath.Join(t.TempDir(), ".flowrun", "tools")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range shelf {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lib := library.New(library.Config{WorkingDirectory: filepath.Dir(filepath.Dir(dir)), Home: t.TempDir()})
	scripts := hooks.New(hooks.Config{InProcess: true})
	t.Cleanup(func() { scripts.Close() })
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	inGo := adder(t)
	lib.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return []*tool.Definition{inGo} })
	o.RunEnv = func(*flowrun.Plan) flowrun.RunEnv { return flowrun.RunEnv{JavaScript: scripts} }
	if o.Engine == nil {
		o.Engine = flowrun.New(flowrun.Config{JavaScript: scripts})
	}
	return newCaller(lib, o)
}

// TestList: tools of every kind are in one list; what is broken is reported beside it.
func TestList(t *testing.T) {
	r := stock(t, options{})
	tools, problems := r.List()
	var names []string
	for _, x := range tools {
		names = append(names, x.Name()+"/"+x.DisplayName())
		var schema struct{ Type string }
		if err := json.Unmarshal(x.Schema(), &schema); err != nil || schema.Type != "object" || x.Description() == "" {
			t.Errorf("%s: %s, %q", x.Name(), x.Schema(), x.Description())
		}
		for _, format := range []string{"json-schema", "openai", "anthropic", "gemini", "mcp"} {
			if d, err := x.Declaration(format); err != nil || !json.Valid(d) {
				t.Errorf("%s for %s: %s, %v", x.Name(), format, d, err)
			}
		}
	}
	want := []string{"add/Adder", "chain/chain", "go_add/Go adder", "login/login", "page/A page", "pressure.solve/pressure.solve", "weather/weather"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if err := tool.Diagnostics(problems).Err(); err == nil || !strings.Contains(err.Error(), "bosh") {
		t.Errorf("%v", problems)
	}
	declared, _ := r.Declarations("openai")
	if len(declared) != len(want) || !strings.Contains(string(declared[5]), `"name":"pressure_solve"`) {
		t.Errorf("%s", declared)
	}
	for _, d := range declared {
		if strings.Contains(string(d), "secret") && strings.Contains(string(d), "22") {
			t.Errorf("a secret is declared: %s", d)
		}
	}
}

func TestGet(t *testing.T) {
	r := stock(t, options{})
	for name, want := range map[string]string{
		"weather": "", "pressure.solve": "", "pressure_solve": "", "go_add": "", "add": "",
		"wether": `did you mean "weather"?`, "": "cannot find the tool", "broken": "bosh",
		"./weather.yaml": "is a path", "../x": "is a path", "weather.yaml": "is a path", `a\b`: "is a path", strings.Repeat("x", 1<<16): "",
	} {
		got, err := r.Get(name)
		switch {
		case len(name) > 1000:
			if err == nil {
				t.Error("a long name is found")
			}
		case want == "" && (err != nil || got.Name() == ""):
			t.Errorf("%q: %v", name, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", name, err, want)
		}
	}
}

// TestParse: what is read of arguments, for tools of every kind.
func TestParse(t *testing.T) {
	r := stock(t, options{})
	for _, c := range []struct{ tool, text, params, defaults, refused string }{
		{"weather", `{"CITY":"Rome"}`, `{"CITY":"Rome"}`, "DAYS", ""},
		{"weather", `{"CITY":"Rome","DAYS":"5"}`, `{"CITY":"Rome","DAYS":5}`, "", ""},
		{"weather", `{"CITY":"Rome","DAYS":null}`, `{"CITY":"Rome"}`, "DAYS", ""},
		{"weather", `{"CITY":"Rome","UNIT":"Metric"}`, `{"CITY":"Rome","UNIT":"metric"}`, "DAYS", ""},
		{"weather", `{"CITY":"Rome","DAYS":9}`, "", "", "invalid"},
		{"weather", `{"DAYS":2}`, "", "", "missing"},
		{"weather", `{"CITY":"Rome","DAY":2}`, "", "", "undeclared"},
		{"weather", `{"CITY":"--rm"}`, "", "", "invalid"},
		{"page", `{"who":"Ada"}`, `{"who":"Ada"}`, "", ""},
		{"page", `{"whom":"Ada"}`, "", "", "undeclared"},
		{"add", `{"a":"2"}`, `{"a":2}`, "b", ""},
		{"add", `{"a":2,"c":1}`, "", "", "undeclared"},
		{"go_add", `{"a":12345678901234567890123}`, `{"a":12345678901234567890123}`, "", ""},
		{"go_add", `{"a":1,"list":[{"n":"3"}],"maybe":null,"any":{"x":[1]}}`, `{"a":1,"any":{"x":[1]},"list":[{"n":3}],"maybe":null}`, "", ""},
		{"go_add", `{"a":1,"kind":"product"}`, "", "", "enum"},
		{"go_add", `{"a":1,"any":5}`, "", "", "invalid"},
		{"pressure.solve", ``, `{}`, "", ""},
		{"pressure.solve", `{}`, `{}`, "", ""},
	} {
		tl, err := r.Get(c.tool)
		if err != nil {
			t.Fatal(err)
		}
		i, refused := parse(tl, c.text)
		if refused != nil {
			if text, err := json.Marshal(refused); err != nil || len(text) > 2048 || refused.Code != c.refused || refused.Message == "" || refused.ExpectedFormat == nil {
				t.Errorf("%s %s: refused with %s (%v), want %q", c.tool, c.text, text, err, c.refused)
			}
			if _, again := parse(tl, string(refused.ExpectedFormat)); again != nil {
				t.Errorf("%s: the example %s is refused: %v", c.tool, refused.ExpectedFormat, again)
			}
			continue
		}
		params, _ := json.Marshal(i.Params)
		if c.refused != "" || string(params) != c.params || strings.Join(i.Defaults, ",") != c.defaults {
			t.Errorf("%s %s: %s, defaults %v; want %s, %s%s", c.tool, c.text, params, i.Defaults, c.params, c.defaults, c.refused)
		}
	}
}

// TestRefusalIsSmall holds a refusal within 2 KB, whatever is in it.
func TestRefusalIsSmall(t *testing.T) {
	lib := library.New(library.Config{Home: t.TempDir(), WorkingDirectory: t.TempDir()})
	var params []*tool.Parameter
	call := map[string]any{}
	for i := range 200 {
		name := strings.Repeat("<&\"", 20) + strings.Repeat("é", i)
		least := 1.0
		params = append(params, &tool.Parameter{Name: name, Type: "number", Required: true, Validation: tool.Validation{Minimum: &least}})
		call[name] = 0
	}
	if err := lib.Add(flowrun.GoTool{Name: "many", Parameters: params, Run: func(context.Context, *flowrun.StepInput) (any, error) { return nil, nil }}.Definition()); err != nil {
		t.Fatal(err)
	}
	r := registry.New(lib, registry.Options{})
	tl, err := r.Get("many")
	if err != nil {
		t.Fatal(err)
	}
	for _, refused := range []*registry.Refusal{tl.Validate(call), tl.Validate(map[string]any{strings.Repeat("\x00\u2028", 5000): 1})} {
		text, err := json.Marshal(refused)
		if err != nil || len(text) > 2048 || refused.Message == "" {
			t.Errorf("%d bytes: %s %v", len(text), text, err)
		}
	}
}

// TestSecretsAreNotShown: neither a refusal nor a description tells a secret.
func TestSecretsAreNotShown(t *testing.T) {
	r := stock(t, options{decide: all})
	tl, err := r.Get("login")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{`{}`, `{"NAME":5,"TOKEN":"given-secret"}`, `{"NAM":"x","TOKEN":"x"}`, "nonsense"} {
		_, refused := parse(tl, text)
		if refused == nil {
			t.Fatalf("%s is not refused", text)
		}
		doc, _ := json.Marshal(refused)
		if strings.Contains(string(doc), "22secret") || strings.Contains(string(doc), "example-secret") || strings.Contains(string(doc), "given-secret") {
			t.Errorf("%s: %s", text, doc)
		}
	}
	i, refused := parse(tl, `{"NAME":"Ada","TOKEN":"other22secret"}`)
	if refused != nil {
		t.Fatal(refused)
	}
	if d := i.Describe(); strings.Contains(d, "other22secret") || !strings.Contains(d, "***") {
		t.Errorf("%q", d)
	}
	c, err := i.Confirmation(t.Context())
	if err != nil || strings.Contains(c.Title, "other22secret") {
		t.Errorf("%+v %v", c, err)
	}
}

func TestDescribe(t *testing.T) {
	r := stock(t, options{})
	for _, c := range []struct{ tool, text, want string }{
		{"weather", `{"CITY":"Rome; rm -rf ."}`, `Runs: echo "Rome; rm -rf . for 3"`},
		{"chain", `{"WHAT":"it"}`, `chain: Does two things (WHAT=it; 2 steps)`},
		{"add", `{"a":1}`, `add: Adds (a=1, b=1)`},
		{"go_add", `{"a":1}`, `Adds 1`},
		{"chain", `{"WHAT":"` + strings.Repeat("long ", 100) + `"}`, `chain: Does two things (WHAT=long long long long long long long long long long long long…; 2 steps)`},
	} {
		tl, err := r.Get(c.tool)
		if err != nil {
			t.Fatal(err)
		}
		i, refused := parse(tl, c.text)
		if refused != nil {
			t.Fatal(refused)
		}
		if got := i.Describe(); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.tool, c.text, got, c.want)
		}
	}
}

// traced is a registry whose calls leave their states behind.
type traced struct{ states []string }

func (t *traced) to(s registry.State) { t.states = append(t.states, string(s)) }

// TestFlow is the flow of a call, with a person who answers from a script.
func TestFlow(t *testing.T) {
	yes := func(context.Context, *flowrun.Confirmation) registry.Decision {
		return registry.Decision{Action: registry.Proceed}
	}
	no := func(context.Context, *flowrun.Confirmation) registry.Decision {
		return registry.Decision{Action: registry.Refuse, Reason: "not today"}
	}
	later := func(context.Context, *flowrun.Confirmation) registry.Decision {
		return registry.Decision{Action: registry.Cancel}
	}
	fails := func(context.Context, *flowrun.Confirmation) registry.Decision {
		return registry.Decision{Err: errors.New("the screen is gone")}
	}
	never := func(*registry.Invocation) registry.Decision {
		return registry.Decision{Action: registry.Refuse, Reason: "the rules say no", Hint: "change them"}
	}
	for name, c := range map[string]struct {
		options         options
		tool, arguments string
		trace           string
		status          registry.Status
		code, told      string
	}{
		"allowed": {options{decide: all}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated executing executed answered", registry.Succeeded, "", "Rome for 3\n"},
		"confirmed": {options{confirm: yes}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated confirming confirmed executing executed answered", registry.Succeeded, "", "Rome for 3\n"},
		"declined": {options{confirm: no}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated confirming declined answered", registry.Refused, outcome.AnswerDeclined, "not today"},
		"cancelled by the person": {options{confirm: later}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated confirming cancelled answered", registry.Stopped, outcome.AnswerCancelled, "nothing ran"},
		"nobody to ask": {options{}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated answered", registry.Refused, outcome.AnswerNotApproved, registry.NotApproved},
		"refused by the rules": {options{decide: never, confirm: yes}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated answered", registry.Refused, outcome.AnswerNotApproved, "the rules say no; change them"},
		"the question fails": {options{confirm: fails}, "weather", `{"CITY":"Rome"}`,
			"requested parsed found validated confirming declined answered", registry.Failed, outcome.AnswerNotRun, "the screen is gone"},
		"no such tool": {options{decide: all}, "wether", `{}`,
			"requested parsed answered", registry.Failed, outcome.AnswerNotFound, `did you mean "weather"?`},
		"a broken tool": {options{decide: all}, "broken", `{}`,
			"requested parsed answered", registry.Failed, outcome.AnswerInvalidDefinition, "bosh"},
		"bad arguments": {options{decide: all}, "weather", `{"CITY":"Rome","DAYS":99}`,
			"requested parsed found answered", registry.Refused, outcome.AnswerInvalid, "Error: Invalid parameters provided. Reason: parameter DAYS: 99 is above"},
		"for another platform": {options{decide: all}, "elsewhere", `{}`,
			"requested parsed found validated executing executed answered", registry.Failed, outcome.AnswerNotRun, "runs on windows only"},
		"rewritten": {options{decide: all, Options: registry.Options{Rewrite: []func(string, string) string{func(_, s string) string { return strings.ReplaceAll(s, "special_syntax", `{"CITY":"Rome"}`) }}}}, "weather", `special_syntax`,
			"requested parsed found validated executing executed answered", registry.Succeeded, "", "Rome for 3\n"},
		"in Go": {options{decide: all}, "go_add", `{"a":1}`,
			"requested parsed found validated executing executed answered", registry.Succeeded, "", "for the model"},
		"in JavaScript": {options{decide: all}, "add", `{"a":1}`,
			"requested parsed found validated executing executed answered", registry.Succeeded, "", `{"sum":2}`},
		"in Markdown": {options{decide: all}, "page", `{"who":"Ada"}`,
			"requested parsed found validated executing executed answered", registry.Succeeded, "", "Ada for 3"},
	} {
		t.Run(name, func(t *testing.T) {
			trace := &traced{}
			c.options.Trace = trace.to
			a := stock(t, c.options).call(t.Context(), c.tool, c.arguments)
			if got := strings.Join(trace.states, " "); got != c.trace {
				t.Errorf("it went %s, want %s", got, c.trace)
			}
			if a.Status != c.status || (a.Error != nil && a.Error.Code != c.code) || (a.Error == nil) != (c.code == "") || !strings.Contains(a.Content.Text(), c.told) {
				t.Errorf("%s %+v: %q", a.Status, a.Error, a.Content.Text())
			}
			holds(t, a)
		})
	}
}

// TestRefused: functions of the options change refusals in turn, before these are shortened.
func TestRefused(t *testing.T) {
	var seen []string
	link := func(tool string, r *registry.Refusal) {
		seen = append(seen, tool+" "+r.OriginalError)
		r.DocumentationLink = "https://docs.example.com/" + tool
	}
	long := func(_ string, r *registry.Refusal) { r.Hint = r.DocumentationLink + strings.Repeat("!", 5000) }
	o := options{Options: registry.Options{Refused: []func(string, *registry.Refusal){link, long}}}
	for _, arguments := range []string{"no call", "{CITY: Rome", `["Rome"]`, `{"CITY":"Rome","DAYS":99}`, "", strings.Repeat(" ", 1<<20+1)} {
		a := stock(t, o).call(t.Context(), "weather", arguments)
		text, err := json.Marshal(a.Err)
		if err != nil || len(text) > 2048 || a.Error.DocumentationLink != "https://docs.example.com/weather" || !strings.HasPrefix(a.Error.Hint, "https://docs.example.com/weather!!") {
			t.Errorf("%.20q: %v %s", arguments, err, text)
		}
		if !strings.Contains(a.Content.Text(), "\nDocumentation: https://docs.example.com/weather") {
			t.Errorf("%.20q: the model reads %q", arguments, a.Content.Text())
		}
	}
	want := []string{
		"weather invalid JSON at byte 2: invalid character 'o' in literal null (expecting 'u')",
		"weather invalid JSON at byte 2: invalid character 'C' looking for beginning of object key string",
		"weather not a JSON object",
		"weather parameter DAYS: 99 is above the maximum of 7 (description: How long)",
		"weather invalid JSON at byte 0: unexpected end of JSON input",
		"weather the arguments are larger than 1 MiB",
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// holds looks whether the document of an answer has its form.
func holds(t *testing.T, a *registry.Answer) {
	t.Helper()
	text, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, key := range []string{"execution_status", "tool_executed", "tolerant_parsing", "repaired", "repairs", "defaults_applied", "coercions", "llmContent", "returnDisplay", "error", "run"} {
		if _, ok := doc[key]; !ok {
			t.Errorf("%s is not in %s", key, text)
		}
	}
	ran := a.Result != nil
	if (doc["tool_executed"] != nil) != ran || (doc["run"] != nil) != ran || doc["tolerant_parsing"] != true || (doc["error"] == nil) != (a.Status == registry.Succeeded) {
		t.Errorf("%s", text)
	}
	if !slices.Contains([]registry.Status{registry.Succeeded, registry.Failed, registry.Refused, registry.Stopped, registry.TimedOut}, a.Status) {
		t.Errorf("status %q", a.Status)
	}
}

// TestCancelWhileAsking: a call that is called off while a person is asked runs nothing.
func TestCancelWhileAsking(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	trace := &traced{}
	r := stock(t, options{Options: registry.Options{Trace: trace.to}, confirm: func(ctx context.Context, _ *flowrun.Confirmation) registry.Decision {
		cancel(errors.New("the model thought better of it"))
		<-ctx.Done()
		return registry.Decision{Action: registry.Proceed} // too late
	}})
	a := r.call(ctx, "weather", `{"CITY":"Rome"}`)
	if got := strings.Join(trace.states, " "); got != "requested parsed found validated confirming cancelled answered" || a.Status != registry.Stopped || a.Tool != "" ||
		!strings.Contains(a.Content.Text(), "the model thought better of it") {
		t.Errorf("%s: %s %q", got, a.Status, a.Content.Text())
	}
	holds(t, a)
}

// TestCancelWhileExecuting: a call that is called off while it runs is stopped.
func TestCancelWhileExecuting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	trace := &traced{}
	r := stock(t, options{decide: all, Options: registry.Options{Trace: func(s registry.State) {
		if trace.to(s); s == registry.Executing {
			time.AfterFunc(20*time.Millisecond, cancel)
		}
	}}})
	a := r.call(ctx, "go_add", `{"a":1,"maybe":1}`)
	if got := strings.Join(trace.states, " "); got != "requested parsed found validated executing executed answered" || a.Status != registry.Stopped || a.Error.Code != outcome.AnswerCancelled {
		t.Errorf("%s: %s %+v", got, a.Status, a.Error)
	}
	if a.Result != nil {
		holds(t, a)
	}
}

// TestTimeout: a call that takes too long is stopped, and says so.
func TestTimeout(t *testing.T) {
	r := stock(t, options{decide: all, Options: registry.Options{Timeout: 50 * time.Millisecond}})
	a := r.call(t.Context(), "go_add", `{"a":1,"maybe":1}`)
	if a.Status != registry.TimedOut || a.Error.Code != outcome.AnswerTimeout || !strings.Contains(a.Content.Text(), "longer than 50ms") || strings.Contains(a.Content.Text()+a.Error.Hint, "--timeout") || !strings.Contains(a.Advice, "limits.call-timeout") {
		t.Errorf("%s %+v", a.Status, a.Error)
	}
	holds(t, a)
}

// TestOwnTimeout: a tool of one step that reaches its own bound timed out, as one does that
// reaches the bound of calls; and what went wrong is reported without naming the tool twice.
func TestOwnTimeout(t *testing.T) {
	slow := flowrun.GoTool{Name: "slow", Description: "d", Timeout: 20 * time.Millisecond, Run: func(ctx context.Context, _ *flowrun.StepInput) (any, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}.Definition()
	command := flowrun.GoTool{Name: "command", Description: "d", Run: func(context.Context, *flowrun.StepInput) (any, error) {
		return &flowrun.Command{Script: "sleep 20", Timeout: 50 * time.Millisecond}, nil
	}}.Definition()
	broken := flowrun.GoTool{Name: "broken", Description: "d", Run: func(context.Context, *flowrun.StepInput) (any, error) {
		return nil, errors.New("there is no ink")
	}}.Definition()
	lib := library.New(library.Config{})
	lib.Provide(tool.ScopeDiscovered, func() []*tool.Definition { return []*tool.Definition{slow, command, broken} })
	r := newCaller(lib, options{decide: all, Options: registry.Options{Engine: flowrun.New(flowrun.Config{})}})
	for name, want := range map[string]string{
		"slow":    "Error: tool slow timed out: it exceeded its own time limit",
		"command": "Error: tool command timed out: it did not end within 50ms",
		"broken":  "Error: tool broken failed: there is no ink",
	} {
		a := r.call(t.Context(), name, "{}")
		first, _, _ := strings.Cut(a.Content.Text(), "\n")
		if ended := name != "broken"; (a.Status == registry.TimedOut) != ended || (a.Error.Code == outcome.AnswerTimeout) != ended || first != want {
			t.Errorf("%s: %s %+v\n%s", name, a.Status, a.Error, a.Content.Text())
		}
		holds(t, a)
	}
}

// FuzzCall: whatever a model writes, it is answered with a document.
func FuzzCall(f *testing.F) {
	for _, s := range []string{`{"CITY":"Rome"}`, "{CITY='Rome', DAYS=3}", "```json\n{\"CITY\":\"x\"}\n```", "null", "", "\x00\xff", `{"CITY":{"a":[]}}`, "weather(CITY='Rome')", strings.Repeat("[", 500)} {
		f.Add("weather", s)
		f.Add("go_add", s)
	}
	f.Add("no such tool", "{}")
	r := stock(f, options{decide: func(*registry.Invocation) registry.Decision {
		return registry.Decision{Action: registry.Refuse, Reason: "this is a test"}
	}})
	f.Fuzz(func(t *testing.T, name, text string) {
		holds(t, r.call(t.Context(), name, text))
	})
}

// parse returns what Parse returns, with its error as the *Refusal that it is.
func parse(t *registry.Tool, text string) (*registry.Invocation, *registry.Refusal) {
	i, err := t.Parse(text)
	refused, _ := err.(*registry.Refusal)
	return i, refused
}
