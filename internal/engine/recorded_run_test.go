package engine_test

import (
	"context"
	"errors"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

// TestKnownPlan checks that a recorded run uses a plan that is known already if and only if it is
// the one that would be compiled.
func TestKnownPlan(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	store := history.NewMemory()
	b.config.Store = store
	compile := func(text string) *engine.Plan {
		t.Helper()
		plan, err := engine.Compile(b.lib, b.file("tool.yaml", text))
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	const text = "steps:\n  - {name: a, bash: echo a}\n  - {name: b, bash: echo b}\n"
	plan := compile(text)
	record := func(plan *engine.Plan, id string) {
		t.Helper()
		if _, err := engine.New(b.config).Run(t.Context(), plan, nil, engine.WithID(id), withCommands(shell)); err != nil {
			t.Fatal(err)
		}
	}
	record(plan, "whole")
	part, err := plan.Until("a")
	if err != nil {
		t.Fatal(err)
	}
	record(part, "part")
	b.lib = library.New(library.Config{WorkingDirectory: b.dir, Home: b.dir})
	same := compile(text)
	b.lib = library.New(library.Config{WorkingDirectory: b.dir, Home: b.dir})
	changed := compile(text + "  - {name: c, bash: echo c}\n")
	for _, c := range []struct {
		run   string
		known *engine.Plan
		used  bool
		steps int
	}{{"whole", same, true, 2}, {"whole", changed, false, 2}, {"part", same, false, 1}} {
		past, err := engine.LoadRun(context.Background(), store, b.lib, c.run, c.known)
		if err != nil {
			t.Fatal(err)
		}
		if used, steps := past.Plan == c.known, len(past.Result().Steps); used != c.used || steps != c.steps {
			t.Errorf("%s: used %v with %d steps, want %v with %d", c.run, used, steps, c.used, c.steps)
		}
	}
}

// TestPreviewOfAgain: looking at what a run continues with leaves it as it is.
func TestPreviewOfAgain(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	dir := b.dir
	p := b.compile("bash: test -e ok\nparameters: {P: {type: string, description: p}}\nenvironment: {variables: {V: '{P}'}}\n")
	store := history.NewMemory()
	e := engine.New(engine.Config{Store: store})
	fixed := false
	commands := withCommands(func(context.Context, dag.ID, string) printed {
		if fixed {
			return printed{}
		}
		return printed{exit: 1}
	})
	res, err := e.Run(context.Background(), p, map[string]any{"P": "x"}, engine.WithRunEnv(engine.RunEnv{Workspace: dir}), commands)
	if err != nil {
		t.Fatal(err)
	}
	past, err := engine.LoadRun(context.Background(), store, library.New(library.Config{WorkingDirectory: dir}), res.ID)
	if err != nil {
		t.Fatal(err)
	}
	g, err := past.Resume(library.New(library.Config{WorkingDirectory: dir}), engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		v, err := g.Preview()
		if err != nil || len(v.Steps) != 1 || v.Steps[0].Command != "test -e ok" || len(g.Tools()) != 1 {
			t.Errorf("%v %+v", err, v)
		}
	}
	fixed = true
	again, err := e.Continue(context.Background(), g, commands)
	if err != nil || again.ExitCode != 0 {
		t.Errorf("%v %+v", err, again)
	}
	var none *value.ParamsError
	if _, err := p.Preview(engine.RunEnv{}, map[string]any{"Q": 1}); !errors.As(err, &none) {
		t.Error(err)
	}
}
