package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// bed is where a test runs its tools: a folder, the library that finds tools in it, and the Config of the Engine.
type bed struct {
	*testing.T
	dir    string
	lib    *library.Library
	config engine.Config
	world  engine.RunEnv
}

func newBed(t *testing.T) *bed {
	dir := t.TempDir()
	return &bed{T: t, dir: dir, lib: library.New(library.Config{WorkingDirectory: dir, Home: dir}),
		world: engine.RunEnv{Workspace: dir, Home: dir, Temp: dir}}
}

// define adds a tool that others can use by its name.
func (b *bed) define(def *tool.Definition) {
	b.Helper()
	if err := b.lib.Add(def); err != nil {
		b.Fatal(err)
	}
}

// file writes a file beside the tool under test, where use-tool finds tools, and returns its path.
func (b *bed) file(name, text string) string {
	b.Helper()
	path := filepath.Join(b.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

func (b *bed) compile(text string) *engine.Plan {
	b.Helper()
	p, err := engine.Compile(b.lib, b.file("under-test.yaml", "name: under-test\ndescription: Under test\n"+text))
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func (b *bed) run(ctx context.Context, text string, params map[string]any, options ...engine.RunOption) *runresult.Result {
	b.Helper()
	res, err := engine.New(b.config).Run(ctx, b.compile(text), params, append(options, engine.WithRunEnv(b.world))...)
	if err != nil {
		b.Fatal(err)
	}
	return res
}

// want checks the status of a run and those of its steps.
func (b *bed) want(res *runresult.Result, status dag.Status, want map[string]string) {
	b.Helper()
	if res.Status != status {
		b.Errorf("the run %s, want %s: %s", res.Status, status, res.Message)
	}
	got := map[string]string{}
	for _, s := range res.Steps {
		got[s.ID] = s.Status.String()
	}
	if diff := cmp.Diff(want, got); diff != "" {
		b.Errorf("states (-want +got):\n%s", diff)
	}
}

// cancelAt calls cancel when a step starts.
func cancelAt(step dag.ID, cancel func()) engine.RunOption {
	return engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if e.Kind == dag.StepStarted && e.Node == step {
			cancel()
		}
	}))
}

// printed is what a command does in a test.
type printed struct {
	stdout, stderr string
	exit           int
	cut            bool // stdout was longer than its buffer
}

// withCommands calls do in place of every process. do gets the path of the step and its command with all values in it,
// "" for the whole cleanup.
func withCommands(do func(ctx context.Context, step dag.ID, command string) printed) engine.RunOption {
	return engine.WithAround(func(ctx context.Context, c *dag.Call, r dag.Runner) (res dag.Result, err error) {
		command := engine.CommandOf(r)
		f := c.Args().(steps.Frame)
		shown := ""
		switch {
		case command != nil:
			shown = command.Template.Display(f.Scope(c.View), func(value string) string { return value })
		case c.Path != "@cleanup":
			return r.Run(ctx, c)
		}
		did := do(ctx, c.Path, shown)
		if did.exit != 0 {
			res = dag.Result{Status: dag.Failed, Reason: dag.ReasonExit, ExitCode: did.exit}
		}
		if res.Stdout, err = f.Session().Stream(c.Path, c.Attempt, steps.Stdout, did.stdout); err == nil {
			res.Stderr, err = f.Session().Stream(c.Path, c.Attempt, steps.Stderr, did.stderr)
		}
		if res.Stdout != nil {
			res.Stdout.Truncated = did.cut
		}
		return res, err
	})
}

// shell runs echo, exit, and a sleep that ends only when its step is stopped. All other commands succeed.
func shell(ctx context.Context, step dag.ID, command string) printed {
	word, rest, _ := strings.Cut(command, " ")
	switch word {
	case "echo":
		return printed{stdout: strings.Trim(rest, `"`) + "\n"}
	case "exit":
		code, _ := strconv.Atoi(rest)
		return printed{exit: code}
	case "sleep":
		return untilStopped(ctx, step, command)
	}
	return printed{}
}

// untilStopped is a command that runs until its step is cancelled or takes too long.
func untilStopped(ctx context.Context, _ dag.ID, _ string) printed {
	<-ctx.Done()
	return printed{exit: dag.ExitCancelled}
}
