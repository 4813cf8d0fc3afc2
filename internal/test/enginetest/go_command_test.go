package enginetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TestGoCommand: a step that leaves its work to a command is that command: what it prints,
// how it fails and how it is stopped, with its secrets masked.
func TestGoCommand(t *testing.T) {
	t.Parallel()
	const secret = "hunter2 hunter2"
	dir := t.TempDir()
	commands := map[string]*gostep.Command{
		"words":   {Args: []string{"printf", "%s|", "{KEY}", "$HOME", "a b", "", "-x"}},
		"script":  {Script: "echo out; echo err >&2; cat; pwd -P", Input: "in {KEY}\n", Dir: dir},
		"fails":   {Script: "echo out; exit 7"},
		"slow":    {Script: "echo out; sleep 300", Timeout: 3 * time.Second},
		"missing": {Args: []string{"no-such-program-here"}},
		"nowhere": {Script: "true", Dir: dir + "/none"},
		"nothing": {},
	}
	for _, c := range []struct {
		how, output, told string
		status            dag.Status
		exit              int
		reason            string
	}{
		{"words", "{KEY}|$HOME|a b||-x|", "", dag.Succeeded, 0, ""},
		{"script", "out\nin {KEY}\n" + dir + "\n", "out\nin {KEY}\n" + dir + "\n+err\n", dag.Succeeded, 0, ""},
		{"fails", "out\n", "", dag.Failed, 7, dag.ReasonExit},
		{"slow", "out\n", "", dag.TimedOut, 124, dag.ReasonTimeout},
		{"missing", "", "", dag.Failed, 127, "start-failed"},
		{"nowhere", "", "", dag.Failed, 127, "start-failed"},
		{"nothing", "", "", dag.Succeeded, 0, ""},
	} {
		t.Run(c.how, func(t *testing.T) {
			b := newBed(t)
			m := *commands[c.how]
			if c.told != "" {
				m.Answer = func(stdout, stderr string) *gostep.Content { return gostep.TextContent(stdout+"+"+stderr, "") }
			}
			b.define(gostep.GoTool{Name: "go", Description: "Runs a command", Parameters: []*tool.Parameter{{Name: "KEY", Type: "string", Description: "it"}},
				Run: func(context.Context, *gostep.StepInput) (any, error) { return &m, nil }}.Definition())
			res := b.run(context.Background(), "parameters: {KEY: {description: a key}}\nenvironment: {secrets: [KEY]}\nsteps:\n  - name: s\n    use-tool: go\n    with: {KEY: '{KEY}'}\n", map[string]any{"KEY": secret})
			s := res.Step("s/go")
			if s == nil || s.Status != c.status || s.ExitCode != c.exit || s.Reason != c.reason {
				t.Fatalf("%+v", s)
			}
			if s.Output != c.output {
				t.Errorf("it printed %q, want %q", s.Output, c.output)
			}
			if text := res.Content().Text(); c.told != "" && text != c.told {
				t.Errorf("a model reads %q, want %q", text, c.told)
			}
			if strings.Contains(s.Output+s.Error+s.Message+res.Content().Text(), secret) {
				t.Error("the secret is shown")
			}
		})
	}
}

// TestGoCommandMasked: what a model reads about a command holds no secret either.
func TestGoCommandMasked(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.define(gostep.GoTool{Name: "go", Description: "Runs a command", Parameters: []*tool.Parameter{{Name: "KEY", Type: "string", Description: "it"}},
		Run: func(_ context.Context, in *gostep.StepInput) (any, error) {
			return &gostep.Command{Args: []string{"echo", in.Params["KEY"].(string)},
				Answer: func(stdout, _ string) *gostep.Content { return gostep.TextContent("told "+stdout, "shown "+stdout) }}, nil
		}}.Definition())
	res := b.run(context.Background(), "parameters: {KEY: {description: a key}}\nenvironment: {secrets: [KEY]}\nsteps:\n  - name: s\n    use-tool: go\n    with: {KEY: '{KEY}'}\n", map[string]any{"KEY": "hunter2 hunter2"})
	if c := res.Content(); c.Text() != "told ***\n" || c.Display != "shown ***\n" || res.Output != "***\n" {
		t.Errorf("%q %q %q", c.Text(), c.Display, res.Output)
	}
}

// TestGoCommandLive: what the last step prints is passed on while it is printed, and once.
func TestGoCommandLive(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]any{"command": &gostep.Command{Script: "echo a; echo b >&2; echo c"}, "text": "a\nc\n", "content": gostep.TextContent("a\nc\n", "d")} {
		b := newBed(t)
		def := gostep.GoTool{Name: "go", Description: "Prints", Run: func(context.Context, *gostep.StepInput) (any, error) { return v, nil }}.Definition()
		p, err := engine.CompileDefinition(b.lib, def)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if _, err := engine.New(b.config).Run(t.Context(), p, nil, engine.WithStdout(&out)); err != nil || out.String() != "a\nc\n" {
			t.Errorf("%s: %q, %v", name, out.String(), err)
		}
	}
}
