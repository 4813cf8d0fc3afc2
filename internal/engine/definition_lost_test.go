package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// A run is shown, resumed and retried with what is left of its definitions: those that the history has, those that a program
// made in Go, or none.
func TestDefinitionLost(t *testing.T) {
	t.Parallel()
	const inGo = "was made in a Go program"
	all, known := []string{"nothing", "library", "plan"}, []string{"library", "plan"}
	for name, c := range map[string]struct {
		define  func(w *orders) *tool.Definition
		cut     string   // the step to which the run is limited, "" for none
		missing string   // what is said if it cannot be resumed
		resumes []string // with what it can be resumed
	}{
		"made in Go": {func(w *orders) *tool.Definition {
			return &tool.Definition{Name: "order", Steps: []*tool.Step{gostep.GoStep("a", w.work), gostep.GoStep("b", w.work)}}
		}, "", inGo, known},
		"part of one made in Go": {func(w *orders) *tool.Definition {
			return &tool.Definition{Name: "order", Steps: []*tool.Step{gostep.GoStep("a", w.work), gostep.GoStep("b", w.work), gostep.GoStep("c", w.work)}}
		}, "b", inGo, known},
		"made in Go, uses a file": {func(w *orders) *tool.Definition {
			w.file("used.yaml", "description: Used\nsteps: [{name: x, bash: echo}, {name: y, bash: echo}]\n")
			use := &tool.Step{Name: "a", Body: &tool.ToolUse{Tool: tool.Text{S: filepath.Join(w.dir, "used.yaml")}}}
			return &tool.Definition{Name: "order", Steps: []*tool.Step{use, gostep.GoStep("b", w.work)}}
		}, "", inGo, known},
		"uses one made in Go": {func(w *orders) *tool.Definition {
			price := gostep.GoTool{Name: "price", Description: "Price", Run: w.work}.Definition()
			w.define(price)
			w.tools = append(w.tools, price)
			return w.decoded("steps: [{name: a, bash: echo}, {name: b, use-tool: price}]\n")
		}, "", `cannot find the tool "price"`, known},
		"a text, and a step in Go": {func(w *orders) *tool.Definition {
			def := w.decoded("steps: [{name: a, bash: echo}]\n")
			def.Steps = append(def.Steps, gostep.GoStep("b", w.work))
			return def
		}, "", inGo, known},
		"a text": {func(w *orders) *tool.Definition {
			return w.decoded("steps: [{name: a, bash: echo}, {name: b, bash: work}]\n")
		}, "", "", all},
		"a text with a secret, in no file": {func(w *orders) *tool.Definition {
			return w.decoded("parameters: {P: {type: string, description: P, default: hunter2hunter2}}\nenvironment: {secrets: [P]}\nsteps: [{name: a, bash: echo}, {name: b, bash: work}]\n")
		}, "", "contains a secret and was stored masked, and the original is not available", known[1:]},
	} {
		t.Run(name, func(t *testing.T) {
			w := &orders{bed: newBed(t), broken: true}
			w.config.Store, w.config.StateDir = history.NewMemory(), w.dir
			def := c.define(w)
			plan, err := engine.CompileDefinition(w.lib, def)
			if err != nil {
				t.Fatal(err)
			}
			ran := plan
			if c.cut != "" {
				if ran, err = plan.Until(c.cut); err != nil {
					t.Fatal(err)
				}
			}
			e := engine.New(w.config)
			first, err := e.Run(t.Context(), ran, nil, w.commands())
			if err != nil || first.Status != dag.Failed {
				t.Fatal(err, first)
			}
			w.broken = false
			for _, with := range all {
				lib := library.New(library.Config{WorkingDirectory: w.dir, Home: w.dir})
				var plans []*engine.Plan
				switch with {
				case "library":
					for _, d := range append(w.tools, def) {
						if err := lib.Add(d); err != nil {
							t.Fatal(err)
						}
					}
				case "plan":
					plans = []*engine.Plan{plan}
				}
				run, err := engine.LoadRun(t.Context(), w.config.Store, lib, first.ID, plans...)
				if err != nil {
					t.Fatal(with, err)
				}
				if res := run.Result(); res.Step("a") == nil || res.Step("b") == nil || res.Step("c") != nil {
					t.Errorf("with %s: the steps are %+v", with, res.Steps)
				}
				_, resumed := run.Resume(lib, engine.ResumeOptions{})
				g, err := run.Retry(lib, engine.RetryOptions{})
				if !slices.Contains(c.resumes, with) {
					if err == nil || resumed == nil || !strings.Contains(err.Error(), c.missing) || !strings.Contains(resumed.Error(), c.missing) {
						t.Errorf("with %s: %v, %v; want %q", with, err, resumed, c.missing)
					}
					continue
				}
				if err != nil || resumed != nil {
					t.Errorf("with %s: %v, %v", with, err, resumed)
					continue
				}
				if again, err := e.Continue(t.Context(), g, w.commands()); err != nil || again.Status != dag.Succeeded || again.Step("c") != nil {
					t.Errorf("with %s: %v, %+v", with, err, again)
				}
			}
		})
	}
}

// orders are runs of a tool whose step b fails while it is broken.
type orders struct {
	*bed
	broken bool
	tools  []*tool.Definition // made in Go, that the tool uses
}

func (w *orders) decoded(text string) *tool.Definition {
	w.Helper()
	def, problems := decode.File("order.yaml", []byte("name: order\ndescription: Order\n"+text))
	if err := problems.Err(); err != nil {
		w.Fatal(err)
	}
	return def
}

// work is a step in Go.
func (w *orders) work(_ context.Context, in *gostep.StepInput) (any, error) {
	if w.broken && strings.HasPrefix(in.Path, "b") {
		return nil, errors.New("broken")
	}
	return "", nil
}

// commands stand for all commands.
func (w *orders) commands() engine.RunOption {
	return withCommands(func(_ context.Context, step dag.ID, _ string) printed {
		if w.broken && step == "b" {
			return printed{exit: 1}
		}
		return printed{}
	})
}

// A run that only its program can resume, or that cannot be resumed behind a step, says so when it begins.
func TestNotResumable(t *testing.T) {
	t.Parallel()
	const masked = "parameters: {P: {type: string, description: P, default: hunter2hunter2}}\nenvironment: {secrets: [P]}\nbash: echo\n"
	const artifacts = "steps: [{name: a, bash: echo, artifacts: [out]}]\n"
	for name, c := range map[string]struct {
		text          string
		file          bool // the definition is in a file
		stored, state bool // the engine has a Store, a StateDir
		want          string
	}{
		"nothing special":                {"bash: echo\n", false, true, false, ""},
		"secret, in a file":              {masked, true, true, true, ""},
		"secret, in no file":             {masked, false, true, true, "order.yaml contains a secret and is stored masked"},
		"secret, nothing is recorded":    {masked, false, false, true, ""},
		"artifacts":                      {artifacts, false, true, true, ""},
		"artifacts, not kept":            {artifacts, false, true, false, "no StateDir"},
		"artifacts, nothing is recorded": {artifacts, false, false, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &orders{bed: newBed(t)}
			if c.stored {
				w.config.Store = history.NewMemory()
			}
			if c.state {
				w.config.StateDir = w.dir
			}
			var plan *engine.Plan
			if c.file {
				plan = w.compile(c.text)
			} else {
				var err error
				if plan, err = engine.CompileDefinition(w.lib, w.decoded(c.text)); err != nil {
					t.Fatal(err)
				}
			}
			var begun []dag.Event
			res, err := engine.New(w.config).Run(t.Context(), plan, nil, w.commands(), engine.WithSink(dag.SinkFunc(func(e dag.Event) {
				if e.Kind == dag.RunStarted {
					begun = append(begun, e)
				}
			})))
			if err != nil || len(begun) != 1 {
				t.Fatal(err, begun)
			}
			list := slices.DeleteFunc(begun[0].Notices, func(n dag.Notice) bool { return n.Code != notice.NotResumable })
			if c.want == "" && len(list) > 0 || c.want != "" && (len(list) != 1 || !strings.Contains(list[0].Message, c.want) || len(res.Notices) != 1) {
				t.Errorf("%+v", list)
			}
		})
	}
}

// Runs of a definition that this version of flowrun does not accept can be shown, and continued with the current one.
func TestDefinitionOfAnotherVersion(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	store := history.NewMemory()
	b.config.Store = store
	file := b.file("old.yaml", "name: old\ndescription: Old\nsteps: [{name: a, bash: echo}]\n")
	text := []byte("name: old\ndescription: Old\nsteps: [{name: a, key-of-before: echo}]\n")
	ledger, err := store.Begin(t.Context(), &history.Record{ID: "old", Tool: "old", Created: time.Now(),
		Sources: []tool.Source{{Name: file, File: file, Scope: tool.ScopeFile, Text: text, Digest: tool.DigestOf(text)}}})
	if err == nil {
		err = ledger.Append(t.Context(), []dag.Event{{V: dag.EventVersion, Run: "old", Seq: 1, Kind: dag.RunStarted}, {V: dag.EventVersion, Run: "old", Seq: 2, Kind: dag.StepStarted, Node: "a", Attempt: 1}})
	}
	if err := errors.Join(err, ledger.Close()); err != nil {
		t.Fatal(err)
	}
	run, err := engine.LoadRun(t.Context(), store, b.lib, "old")
	if err != nil || run.Result().Step("a").Status != dag.Interrupted {
		t.Fatal(err, run)
	}
	if _, err := run.Resume(b.lib, engine.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "key-of-before") {
		t.Error(err)
	}
	g, err := run.Resume(b.lib, engine.ResumeOptions{Latest: true, RerunInterrupted: true})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := engine.New(b.config).Continue(t.Context(), g, withCommands(shell)); err != nil || res.Status != dag.Succeeded {
		t.Error(err, res)
	}
}
