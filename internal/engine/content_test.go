package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestContent is what a model and a person read about a run. Package gostep has the table of contents.
func TestContent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ printed, want string }{
		{`plain`, `{"llmContent":"plain","returnDisplay":"plain"}`},
		{``, `{"llmContent":"","returnDisplay":""}`},
		{`{"a":1}`, `{"llmContent":"{\"a\":1}","returnDisplay":"{\"a\":1}"}`},
		{`{"llmContent":"m"}`, `{"llmContent":"m","returnDisplay":"m"}`},
		{`{"llmContent":"cut`, `{"llmContent":"{\"llmContent\":\"cut","returnDisplay":"{\"llmContent\":\"cut"}`},
	} {
		def := gostep.GoTool{Name: "it", Run: func(context.Context, *gostep.StepInput) (any, error) { return c.printed, nil }}.Definition()
		plan, err := engine.CompileDefinition(library.New(library.Config{}), def)
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(engine.Config{}).Run(t.Context(), plan, nil)
		if err != nil || res.Status != dag.Succeeded {
			t.Fatal(err, res)
		}
		got, err := json.Marshal(res.Content())
		if err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.printed, diff)
		}
	}
}

// TestContentIsMasked: secrets are taken out of all that a Go step answers.
func TestContentIsMasked(t *testing.T) {
	t.Parallel()
	def := gostep.GoTool{Name: "it", Parameters: []*tool.Parameter{{Name: "TOKEN"}}, Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
		secret := in.Params["TOKEN"].(string)
		return &gostep.Content{Parts: []gostep.Part{{Text: "it is " + secret}, {MIME: "text/plain", Data: []byte(secret)}}, Display: map[string]any{"deep": []string{secret}}}, nil
	}, Confirm: func(_ context.Context, in *gostep.StepInput) (*gostep.Confirmation, error) {
		secret := in.Params["TOKEN"].(string)
		return &gostep.Confirmation{Title: "Use " + secret, Text: secret, Diff: &gostep.FileDiff{FileName: "f", New: secret, Original: &secret}}, nil
	}}.Definition()
	def.Environment.Secrets = []tool.Secret{{Name: diagnostic.Plain("TOKEN")}}
	plan, err := engine.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		t.Fatal(err)
	}
	res, err := engine.New(engine.Config{}).Run(t.Context(), plan, map[string]any{"TOKEN": "hunter22"})
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(res.Content()); string(got) != `{"llmContent":["it is ***",{"inlineData":{"mimeType":"text/plain","data":"Kioq"}}],"returnDisplay":{"deep":["***"]}}` {
		t.Errorf("%s", got)
	}
	shown, err := plan.Confirmation(t.Context(), engine.RunEnv{}, map[string]any{"TOKEN": "hunter22"})
	if got, _ := json.Marshal(shown); err != nil || strings.Contains(string(got), "hunter22") || !strings.Contains(string(got), "Use ***") {
		t.Errorf("%s, %v", got, err)
	}
}

// TestDescribePanics: a tool in Go whose words panic is described in others, and one that
// cannot work out its confirmation says so.
func TestDescribePanics(t *testing.T) {
	t.Parallel()
	def := gostep.GoTool{Name: "it", Description: "Does it.", Describe: func(map[string]any) string { panic("no words") },
		Confirm: func(context.Context, *gostep.StepInput) (*gostep.Confirmation, error) { panic("no screen") },
		Run:     func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }}.Definition()
	plan, err := engine.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := plan.Describe(engine.RunEnv{}, nil); text != "it: Does it" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := plan.Confirmation(t.Context(), engine.RunEnv{}, nil); err == nil || !strings.Contains(err.Error(), "no screen") {
		t.Error(err)
	}
}

// TestPreviewDescribes: a dry run says of a step in Go what its tool says of the call, without
// secrets; where a parameter is not known yet, what the tool is for.
func TestPreviewDescribes(t *testing.T) {
	t.Parallel()
	lib := library.New(library.Config{})
	lib.Provide(tool.ScopeDiscovered, func() []*tool.Definition {
		words := func(name string, describe func(map[string]any) string) *tool.Definition {
			return gostep.GoTool{Name: name, Description: "Says it. Call it when nothing else helps.", Describe: describe,
				Parameters: []*tool.Parameter{{Name: "text", Type: "string"}},
				Run:        func(context.Context, *gostep.StepInput) (any, error) { return nil, nil }}.Definition()
		}
		return []*tool.Definition{
			words("say", func(p map[string]any) string { return fmt.Sprintf("Says %v\nto all", p["text"]) }),
			words("mute", nil),
			words("shy", func(map[string]any) string { panic("no words") }),
		}
	})
	file := filepath.Join(t.TempDir(), "x.yaml")
	text := `name: x
environment: {secrets: [KEY]}
parameters: {KEY: {required: true}}
steps:
  - {name: first, bash: echo hello}
  - {name: known, use-tool: say, with: {text: "a {KEY}"}}
  - {name: later, use-tool: say, with: {text: "{first.output}"}}
  - {name: quiet, use-tool: mute, with: {text: b}}
  - {name: timid, use-tool: shy, with: {text: b}}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(lib, file)
	if err != nil {
		t.Fatal(err)
	}
	v, err := plan.Preview(engine.RunEnv{}, map[string]any{"KEY": "opensesame"})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"known/say": "Says a *** to all", "later/say": "Says it", "quiet/mute": "Says it", "timid/shy": "Says it"}
	got := map[string]string{}
	for _, s := range v.Steps {
		if _, ok := want[s.ID]; ok {
			got[s.ID] = s.Command
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
