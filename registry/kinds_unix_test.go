//go:build unix

package registry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/builtin"
	"github.com/flowrun/flowrun/internal/model/discovery"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// kind is a tool of one kind, and calls of it. HERE in an arguments' text is the workspace.
type kind struct {
	name, display, says string // says is in its description
	parameter           string // that it must be given
	exact, sloppy       string // arguments that mean the same
	missing, wrong      string // arguments of which some are not there, or not valid
	sentence            string // is in what a call says it will do
	told                string // is in what a call is answered
	slow                string // arguments of a call that continues until it is stopped
	silent              bool   // a slow call does not tell that it has begun
}

// slowly is a shell's command that tells that it has begun, and would tell its end.
const slowly = "touch begun; sleep 600; touch ended"

// kinds are one of each.
var kinds = map[string]kind{
	"YAML": {"in_yaml", "in_yaml", "Written in YAML", "what",
		`{"what":"touch done; echo did it","n":3}`, `{what: 'touch done; echo did it', n: "3",}`, `{"n":3}`, `{"what":"x","n":99}`,
		"touch done; echo did it", "did it", `{"what":"` + slowly + `"}`, false},
	"Markdown": {"in_markdown", "In Markdown", "Written in Markdown", "what",
		`{"what":"touch done; echo did it"}`, `in_markdown(what='touch done; echo did it')`, `{}`, `{"what":"x","of":1}`,
		"what=touch done", "did it", `{"what":"` + slowly + `"}`, false},
	"JavaScript": {"in_javascript", "In JavaScript", "Written in JavaScript", "what",
		`{"what":"did it","n":3}`, "```json\n{'what': 'did it', 'n': 3}\n```", `{"n":3}`, `{"what":"x","n":"many"}`,
		"what=did it", "did it", `{"what":"slow"}`, true},
	"Go": {"in_go", "In Go", "Written in Go", "what",
		`{"what":"did it","n":3}`, `{what="did it", n=3}`, `{"n":3}`, `{"what":"x","n":1.5}`,
		"Does did it in Go", "did it", `{"what":"slow"}`, false},
	"discovered": {"in_program", "in_program", "Told by a program", "what",
		`{"what":"touch done; echo did it","n":3}`, "what: touch done; echo did it\nn: 3", `{"n":3}`, `{"what":"x","n":99}`,
		"what=touch done; echo did it", "did it", `{"what":"` + slowly + `"}`, false},
	"built in, of a command": {"run_shell_command", "Shell", "command", "command",
		`{"command":"touch done; echo did it","directory":"HERE"}`, `{"name":"run_shell_command","arguments":{"command":"touch done; echo did it","directory":"HERE"}}`, `{}`, `{"command":"x","timeout":"soon"}`,
		"touch done; echo did it", "did it", `{"command":"` + slowly + `"}`, false},
	"built in, of a file": {"write_file", "WriteFile", "file", "file_path",
		`{"file_path":"HERE/done","content":"did it"}`, `{'file_path': 'HERE/done', 'content': 'did it'}`, `{"content":"x"}`, `{"file_path":"HERE/done","content":5,"mode":"x"}`,
		"done", "done", "", false},
	"built in, of an agent": {"task", "Task", "agent", "prompt",
		`{"description":"it","prompt":"touch done; echo did it"}`, `{"description": "it", "prompt": "touch done; echo did it"` + " /* now */}", `{"description":"it"}`, `{"description":"it","prompt":["a","b"]}`,
		"it", "did it", `{"description":"it","prompt":"` + slowly + `"}`, false},
}

// reader is a program that does what it reads in the member of a JSON object.
func reader(member string) string {
	return `#!/bin/sh
read -r doc
text=${doc#*\"` + member + `\":\"}
exec sh -c "${text%%\"*}"
`
}

// workshop has a tool of each kind, and a workspace.
func workshop(t *testing.T, o options) (r *caller, here string) {
	t.Helper()
	here, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	begun := filepath.Join(here, "begun")
	for name, text := range map[string]string{
		".flowrun/tools/in_yaml.yaml": `name: in_yaml
description: Written in YAML
parameters:
  what: {type: string, description: The command, required: true}
  n: {type: number, description: How often, validation: {maximum: 7}}
bash: "{RAW:what}"
`,
		".flowrun/tools/in_markdown.md": "---\ntool: true\nid: in_markdown\nname: In Markdown\ndescription: Written in Markdown\ntype: chain\nparameters:\n  - {name: what, type: string, required: true, description: The command}\n---\n\n```yaml\nsteps:\n  - id: only\n    tool: in_yaml\n    parameters: {what: \"{{what}}\"}\n```\n",
		".flowrun/tools/in_javascript.tool.js": `module.exports = {
  getMetadata: () => ({ id: 'in_javascript', name: 'In JavaScript', description: 'Written in JavaScript' }),
  getSchema: () => ({ parameters: { type: 'object', properties: { what: { type: 'string' }, n: { type: 'number' } }, required: ['what'] } }),
  execute: (p) => { while (p.what === 'slow'); return p.what; }
};`,
		"list.sh":  "echo '" + `[{"name":"in_program","description":"Told by a program","parametersJsonSchema":{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer","maximum":7}},"required":["what"]}}]` + "'\n",
		"call.sh":  reader("what"),
		"agent.sh": reader("prompt"),
	} {
		path := filepath.Join(here, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	schema, err := dataschema.Parse([]byte(`{"type":"object","properties":{"what":{"type":"string"},"n":{"type":"integer"}},"required":["what"]}`))
	if err != nil {
		t.Fatal(err)
	}
	inGo := flowrun.GoTool{Name: "in_go", DisplayName: "In Go", Description: "Written in Go", Schema: schema,
		Describe: func(p map[string]any) string { return "Does " + p["what"].(string) + " in Go" },
		Run: func(ctx context.Context, in *flowrun.StepInput) (any, error) {
			if in.Params["what"] != "slow" {
				return in.Params["what"], nil
			}
			if err := os.WriteFile(begun, nil, 0o600); err != nil {
				return nil, err
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}}.Definition()
	told, warnings, err := discovery.Discover(t.Context(), discovery.Config{DiscoveryCommand: "sh list.sh", CallCommand: "sh call.sh", Dir: here})
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	c := builtin.Config{}
	c.AgentCommand = "sh " + filepath.Join(here, "agent.sh")
	lib := library.New(library.Config{WorkingDirectory: here, Home: t.TempDir()})
	lib.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return append(builtin.Tools(c), inGo) })
	lib.Provide(tool.ScopeDiscovered, func() []*tool.Definition { return told })
	scripts := hooks.New(hooks.Config{InProcess: true})
	t.Cleanup(func() { scripts.Close() })
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	o.RunEnv = func(*flowrun.Plan) flowrun.RunEnv { return flowrun.RunEnv{JavaScript: scripts, Workspace: here} }
	o.Engine = flowrun.New(flowrun.Config{JavaScript: scripts})
	return newCaller(lib, o), here
}

func there(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

// TestKinds holds a tool of every kind against what all promise: names,
// schema and declarations, validation, what a call will do, said before it is done.
func TestKinds(t *testing.T) {
	r, here := workshop(t, options{decide: all})
	for name, k := range kinds {
		t.Run(name, func(t *testing.T) {
			x, err := r.Get(k.name)
			if err != nil {
				t.Fatal(err)
			}
			if x.Name() != k.name || x.DisplayName() != k.display || !strings.Contains(strings.ToLower(x.Description()), strings.ToLower(k.says)) {
				t.Errorf("%q, %q, %q", x.Name(), x.DisplayName(), x.Description())
			}
			var schema struct {
				Type       string
				Properties map[string]any
				Required   []string
			}
			if err := json.Unmarshal(x.Schema(), &schema); err != nil || schema.Type != "object" || schema.Properties[k.parameter] == nil || !slices.Contains(schema.Required, k.parameter) {
				t.Errorf("%v: %s", err, x.Schema())
			}
			for _, format := range []string{"json-schema", "openai", "anthropic", "gemini", "mcp"} {
				if d, err := x.Declaration(format); err != nil || !json.Valid(d) || !strings.Contains(string(d), `"`+k.name+`"`) || !strings.Contains(string(d), `"`+k.parameter+`"`) {
					t.Errorf("%s: %s, %v", format, d, err)
				}
			}
			k.reads(t, x, here)
		})
	}
	if there(here, "done") {
		t.Error("to look at a call has done it")
	}
}

// reads holds that arguments are read, and that what a call will do is said.
func (k kind) reads(t *testing.T, x *registry.Tool, here string) {
	t.Helper()
	exact, refused := parse(x, strings.ReplaceAll(k.exact, "HERE", here))
	if refused != nil {
		t.Fatalf("%s: %s", k.exact, refused.Message)
	}
	sloppy, refused := parse(x, strings.ReplaceAll(k.sloppy, "HERE", here))
	if refused != nil {
		t.Fatalf("%s: %s", k.sloppy, refused.Message)
	}
	want, _ := json.Marshal(exact.Params)
	if got, _ := json.Marshal(sloppy.Params); string(got) != string(want) || exact.Repaired || !sloppy.Repaired {
		t.Errorf("%s is read as %s (%v), want %s", k.sloppy, got, sloppy.Repairs, want)
	}
	for text, why := range map[string]string{k.missing: k.parameter, k.wrong: "", `{"nobody":"asked"}`: "nobody", k.exact[:len(k.exact)-1]: ""} {
		_, refused := parse(x, text)
		if doc, err := json.Marshal(refused); refused == nil || err != nil || len(doc) > 2048 || !strings.Contains(refused.Message, why) || !json.Valid(refused.ExpectedFormat) {
			t.Errorf("%s: %s", text, doc)
		}
	}
	if refused := x.Validate(exact.Params); refused != nil {
		t.Error(refused.Message)
	}
	if text := sloppy.Describe(); !strings.Contains(text, k.sentence) || strings.Contains(text, "\n") {
		t.Errorf("it says %q, want %q in it", text, k.sentence)
	}
	shown, err := sloppy.Confirmation(t.Context())
	if err != nil || shown.Title == "" || !strings.Contains(shown.Title+shown.Text, k.sentence) {
		t.Errorf("%+v %v", shown, err)
	}
}

// TestKindsCalled goes the whole way of a call with a tool of every kind: a person says yes, no or
// calls it off; or the caller does, while the person is asked and while it runs.
func TestKindsCalled(t *testing.T) {
	const asked, ran = "requested parsed found validated confirming ", "confirmed executing executed answered"
	answers := func(d registry.Action) func(context.CancelFunc) registry.Action {
		return func(context.CancelFunc) registry.Action { return d }
	}
	for name, k := range kinds {
		for way, c := range map[string]struct {
			answer    func(context.CancelFunc) registry.Action
			arguments string
			trace     string
			status    registry.Status
		}{
			"yes":                        {answers(registry.Proceed), k.sloppy, asked + ran, registry.Succeeded},
			"no":                         {answers(registry.Refuse), k.sloppy, asked + "declined answered", registry.Refused},
			"called off by who is asked": {answers(registry.Cancel), k.sloppy, asked + "cancelled answered", registry.Stopped},
			"cancelled while asking": {func(stop context.CancelFunc) registry.Action {
				stop()
				return registry.Proceed // too late
			}, k.sloppy, asked + "cancelled answered", registry.Stopped},
			"cancelled while executing": {answers(registry.Proceed), k.slow, asked + ran, registry.Stopped},
		} {
			if c.arguments == "" {
				continue
			}
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var watching sync.WaitGroup
				defer watching.Wait()
				trace, here := &traced{}, ""
				o := options{}
				o.confirm = func(_ context.Context, shown *flowrun.Confirmation) registry.Decision {
					if shown == nil || shown.Title == "" {
						t.Error("a person is asked, and does not see about what")
					}
					return registry.Decision{Action: c.answer(stop)}
				}
				o.Trace = func(s registry.State) {
					if trace.to(s); s == registry.Executing && c.status == registry.Stopped {
						watching.Go(func() { defer stop(); k.begins(t, here) })
					}
				}
				r, dir := workshop(t, o)
				here = dir
				began := time.Now()
				a := r.call(ctx, k.name, strings.ReplaceAll(c.arguments, "HERE", here))
				if got := strings.Join(trace.states, " "); got != c.trace || a.Status != c.status {
					t.Errorf("it went %s, want %s: %s %q", got, c.trace, a.Status, a.Content.Text())
				}
				if a.Status == registry.Succeeded && !strings.Contains(a.Content.Text(), k.told) || a.Repaired != (c.arguments == k.sloppy) {
					t.Errorf("%q, repaired %v", a.Content.Text(), a.Repaired)
				}
				if there(here, "ended") || there(here, "done") && a.Status != registry.Succeeded || time.Since(began) > time.Minute {
					t.Errorf("it went on, for %v", time.Since(began))
				}
				if a.Status != registry.Succeeded && a.Error.Code != map[registry.Status]string{registry.Refused: outcome.AnswerDeclined, registry.Stopped: outcome.AnswerCancelled}[a.Status] {
					t.Errorf("%+v", a.Error)
				}
				holds(t, a)
			})
		}
	}
}

// begins waits until a slow call has begun.
func (k kind) begins(t *testing.T, here string) {
	stacks := make([]byte, 1<<20)
	if !waittest.Holds(waittest.Limit, func() bool {
		return there(here, "begun") || k.silent && bytes.Contains(stacks[:runtime.Stack(stacks, true)], []byte("goja.(*vm).run("))
	}) {
		t.Error("it has not begun")
	}
}

// TestKindsAtOnce calls tools of every kind from several goroutines, of one registry.
func TestKindsAtOnce(t *testing.T) {
	r, here := workshop(t, options{decide: all})
	var calling sync.WaitGroup
	for i := range 3 {
		for name, k := range kinds {
			own := strings.ReplaceAll(k.sloppy, "HERE/done", fmt.Sprintf("HERE/done-%d", i)) // nobody writes what another is writing
			calling.Go(func() {
				a := r.call(t.Context(), k.name, strings.ReplaceAll(own, "HERE", here))
				if a.Status != registry.Succeeded || !strings.Contains(a.Content.Text(), k.told) {
					t.Errorf("%s: %s %q", name, a.Status, a.Content.Text())
				}
			})
		}
		calling.Go(func() {
			if list, problems := r.Declarations("openai"); len(list) < len(kinds) || tool.Diagnostics(problems).Err() != nil {
				t.Errorf("%d are declared, %v", len(list), problems)
			}
		})
	}
	calling.Wait()
}
