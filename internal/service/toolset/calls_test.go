package toolset_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/toolset"
	"github.com/flowrun/flowrun/library"
)

// client is a model that calls the tools in a project, with what it may see and do.
type client struct {
	*testing.T
	project string
	config  toolset.Config
	lib     *library.Library
	home    string
	saved   int
	calls   int
}

// nextCall returns the id of the run of the next call.
func (c *client) nextCall() string { return fmt.Sprint("call-", c.calls+1) }

// newClient returns a client that sees the tool offered and all runs, and may run everything.
func newClient(t *testing.T) *client {
	t.Helper()
	c := &client{T: t, project: t.TempDir(), home: t.TempDir()}
	for _, name := range []string{"offered", "hidden"} {
		c.write(".flowrun/tools/"+name+".yaml", "name: "+name+"\ndescription: d\nsteps: [{name: ask, approve: Go on}]\n")
	}
	c.lib = library.New(library.Config{WorkingDirectory: c.project, Home: c.home, Getenv: func(string) string { return "" }})
	store := history.NewMemory()
	c.config = toolset.Config{Library: func() *library.Library { return c.lib }, Store: store, Engine: engine.New(engine.Config{Store: store}),
		Offers: func(name string) bool { return name == "offered" }, Shows: func(context.Context, history.RunInfo) bool { return true },
		Saved: func() { c.saved++ }, MayRun: func([]plan.UsedTool) error { return nil }, Options: func() []engine.RunOption { return nil }}
	return c
}

func (c *client) write(name, text string) {
	c.Helper()
	path := filepath.Join(c.project, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

// call calls a tool and returns its output, or why it failed.
func (c *client) call(name string, params map[string]any) string {
	c.Helper()
	for _, set := range toolset.Names() {
		for _, def := range toolset.Tools(set, c.config) {
			if def.Name == name {
				return c.result(def, params)
			}
		}
	}
	c.Fatalf("there is no tool %s", name)
	return ""
}

func (c *client) result(def *tool.Definition, params map[string]any) string {
	c.Helper()
	p, err := engine.CompileDefinition(c.lib, def)
	if err != nil {
		c.Fatal(err)
	}
	res, err := c.config.Engine.Run(c.Context(), p, params, engine.WithID(c.nextCall()), engine.WithRunEnv(engine.RunEnv{Workspace: c.project}))
	if c.calls++; err != nil {
		c.Fatal(err)
	}
	if res.Status != dag.Succeeded {
		return res.Steps[0].Message
	}
	return res.Output
}

// record records a run of a tool that was cancelled when it began.
func (c *client) record(tool, id string) {
	c.Helper()
	p, err := engine.Compile(c.lib, tool)
	if err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(c.Context())
	defer cancel()
	begun := dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.RunStarted {
			cancel()
		}
	})
	if _, err := c.config.Engine.Run(ctx, p, nil, engine.WithID(id), engine.WithSink(begun)); err != nil {
		c.Fatal(err)
	}
}

const good = "name: new\ndescription: d\nrun: echo\n"

// What a model may save, and under which name.
func TestSave(t *testing.T) {
	for _, c := range []struct {
		title  string
		params map[string]any
		want   string // the file in the project, or why it is refused
	}{
		{"new", map[string]any{"name": "new", "definition": good}, "new.yaml"},
		{"replaced", map[string]any{"name": "offered", "definition": "name: offered\ndescription: other\nrun: echo\n"}, "offered.yaml"},
		{"another name", map[string]any{"name": "old", "definition": good}, `the definition names the tool "new", not "old"`},
		{"invalid", map[string]any{"name": "new", "definition": "name: new\nrunn: echo\n"}, "the definition is not valid"},
		{"a name with a dot", map[string]any{"name": "new.tool", "definition": "description: d\nrun: echo\n"}, "cannot be the name of a new tool"},
		{"for the user", map[string]any{"name": "new", "definition": good, "scope": "user"}, "HOME/new.yaml"},
		{"a page", map[string]any{"name": "new", "definition": "---\nname: new\ndescription: d\ntool: true\n---\n```bash\necho\n```\n", "format": "markdown"}, "new.md"},
	} {
		t.Run(c.title, func(t *testing.T) {
			client := newClient(t)
			got := client.call("flowrun_save", c.params)
			path := filepath.Join(client.project, ".flowrun", "tools", c.want)
			if name, ok := strings.CutPrefix(c.want, "HOME/"); ok {
				path = filepath.Join(client.home, ".config", "flowrun", "tools", name)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				if !strings.Contains(got, c.want) || client.saved > 0 {
					t.Errorf("%s; want %s", got, c.want)
				}
				return
			}
			if got != "saved "+path || string(text) != c.params["definition"] || client.saved != 1 {
				t.Errorf("%s; the file has %q", got, text)
			}
		})
	}
}

// What is saved stays in the project, whatever a link says.
func TestSaveThroughLinks(t *testing.T) {
	for _, link := range []string{"new.yaml", ""} {
		c := newClient(t)
		outside := t.TempDir()
		target := filepath.Join(c.project, ".flowrun", "tools", link)
		if link == "" {
			if err := os.RemoveAll(target); err != nil {
				t.Fatal(err)
			}
		} else if err := os.WriteFile(filepath.Join(outside, "theirs"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := outside
		if link != "" {
			at = filepath.Join(outside, "theirs")
		}
		if err := os.Symlink(at, target); err != nil {
			t.Skip(err)
		}
		got := c.call("flowrun_save", map[string]any{"name": "new", "definition": good})
		if strings.HasPrefix(got, "saved") || c.saved > 0 {
			t.Errorf("through the link %s: %s", target, got)
		}
		if text, err := os.ReadFile(filepath.Join(outside, "new.yaml")); err == nil {
			t.Errorf("outside is %q", text)
		}
	}
}

// A tool that is not offered is as one that does not exist.
func TestHiddenTools(t *testing.T) {
	c := newClient(t)
	for _, name := range []string{"flowrun_preview", "flowrun_graph"} {
		for of, want := range map[string]bool{"offered": true, "hidden": false, "absent": false, "./.flowrun/tools/offered.yaml": false} {
			got := c.call(name, map[string]any{"tool": of})
			if shown := !strings.HasPrefix(got, "there is no tool "); shown != want {
				t.Errorf("%s of %s: %s", name, of, got)
			}
		}
	}
}

// Which runs a client sees and what it may do with them.
func TestRuns(t *testing.T) {
	c := newClient(t)
	c.record("offered", "mine")
	c.record("hidden", "theirs")
	c.config.Shows = func(_ context.Context, r history.RunInfo) bool { return r.Tool != "hidden" }
	c.config.MayRun = func(used []plan.UsedTool) error {
		if len(used) != 1 {
			t.Errorf("it asks for %v", used)
		}
		return errors.New("a person must allow it")
	}
	if got := c.call("flowrun_runs", nil); !strings.Contains(got, `"mine"`) || strings.Contains(got, "theirs") || strings.Contains(got, "flowrun_runs") {
		t.Errorf("listed are %s", got)
	}
	for _, call := range []struct {
		tool, run, want string
	}{
		{"flowrun_run", "mine", `"cancelled"`},
		{"flowrun_run", "latest", `"mine"`},
		{"flowrun_run", "theirs", history.ErrNoRun.Error()},
		{"flowrun_log", "theirs", history.ErrNoRun.Error()},
		{"flowrun_cancel", "theirs", history.ErrNoRun.Error()},
		{"flowrun_resume", "theirs", history.ErrNoRun.Error()},
		{"flowrun_retry", "theirs", history.ErrNoRun.Error()},
		{"flowrun_cancel", "mine", "no process executes run mine: it is cancelled"},
		{"flowrun_cancel", "", "this is the run of the call itself"},
		{"flowrun_resume", "mine", "the run cannot be continued: a person must allow it"},
		{"flowrun_retry", "mine", "the run cannot be continued: a person must allow it"},
	} {
		if call.run == "" {
			call.run = c.nextCall()
		}
		if got := c.call(call.tool, map[string]any{"run": call.run}); !strings.Contains(got, call.want) {
			t.Errorf("%s of %s: %s; want %s", call.tool, call.run, got, call.want)
		}
	}
	if list, err := c.config.Store.Runs(t.Context(), history.Query{Tool: "offered"}); len(list) != 1 || err != nil {
		t.Errorf("a run began without permission: %v, %v", list, err)
	}
}
