package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestBoundOnce: what was bound is what a preview shows and what runs; a transform that
// answers something else each time is not called again.
func TestBoundOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(t.TempDir(), "once.yaml")
	text := `
name: once
description: Prints a parameter
parameters:
  X: {type: string, description: what, transform: "value + ':' + Math.random()", allow-dash: true}
  Y: {type: string, description: made of it, default: "{X}!"}
steps:
  - name: print
    run: echo {X} {Y}
`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), file)
	if err != nil {
		t.Fatal(err)
	}
	rt := hooks.New(hooks.Config{InProcess: true})
	t.Cleanup(func() { rt.Close() })
	args, err := p.Bind(engine.RunEnv{Workspace: dir, JavaScript: rt}, map[string]any{"X": "x"})
	if err != nil {
		t.Fatal(err)
	}
	x := fmt.Sprint(args.Value("X"))
	for range 2 {
		v, err := args.Preview()
		if err != nil || v.Params["X"] != x || !strings.Contains(v.Steps[0].Command, x) || !strings.Contains(args.Describe(), x) {
			t.Fatalf("bound %q, the preview shows %v (%v), the description %q", x, v, err, args.Describe())
		}
	}
	for range 2 { // the same parameters may run more than once
		res, err := engine.New(engine.Config{}).RunBound(t.Context(), args, withCommands(func(_ context.Context, _ dag.ID, command string) printed {
			return printed{stdout: command}
		}))
		if err != nil || res.Err() != nil {
			t.Fatal(err, res.Err())
		}
		if res.Params["X"] != x || res.Output != "echo "+x+" '"+x+"!'" {
			t.Errorf("bound %q, the run has %v and printed %q", x, res.Params, res.Output)
		}
	}
	if args.Value("X") != x || len(args.All()) != 2 {
		t.Errorf("the parameters changed: %v", args.All())
	}
}
