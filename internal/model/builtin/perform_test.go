package builtin

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	goleak.VerifyTestMain(m)
}

// perform runs a tool as a run does, in a folder.
func perform(t testing.TB, ctx context.Context, c Config, workspace, name string, params map[string]any) *runresult.Result {
	t.Helper()
	lib := library.New(library.Config{WorkingDirectory: workspace, Home: workspace})
	lib.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return Tools(c) })
	plan, err := engine.Compile(lib, name)
	if err != nil {
		t.Fatal(err)
	}
	e := engine.New(engine.Config{Grace: 200 * time.Millisecond})
	res, err := e.Run(ctx, plan, params, engine.WithRunEnv(engine.RunEnv{Workspace: workspace}))
	var failed *runresult.RunError
	var invalid *value.ParamsError
	switch {
	case errors.As(err, &invalid):
		return &runresult.Result{Status: dag.Failed, Message: invalid.Error()}
	case err != nil && !errors.As(err, &failed):
		t.Fatal(err)
	}
	return res
}

// why is all that is said of a failure.
func why(r *runresult.Result) string {
	said := r.Message
	for _, s := range r.Steps {
		said += "\n" + s.Message + "\n" + s.Error
	}
	return said
}

// want holds what a run came to: the text of its content, or, where that is to fail, why.
func want(t testing.TB, r *runresult.Result, fails bool, part string) {
	t.Helper()
	said := r.Content().Text()
	if fails {
		said = why(r)
	}
	if (r.Status != dag.Succeeded) != fails || !strings.Contains(said, part) {
		t.Errorf("it is %v and says %q; want %q in it (fails: %v)", r.Status, said, part, fails)
	}
}

// confirm is what a person is shown who is asked.
func confirm(t testing.TB, c Config, workspace, name string, params map[string]any) (*gostep.Confirmation, error) {
	t.Helper()
	lib := library.New(library.Config{WorkingDirectory: workspace, Home: workspace})
	lib.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return Tools(c) })
	plan, err := engine.Compile(lib, name)
	if err != nil {
		t.Fatal(err)
	}
	return plan.Confirmation(t.Context(), engine.RunEnv{Workspace: workspace}, params)
}

// TestDescribed: what a model reads about each is whole, and takes nothing that is not declared.
func TestDescribed(t *testing.T) {
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
	lib.Provide(tool.ScopeBuiltin, func() []*tool.Definition { return Tools(Config{}) })
	for _, d := range lib.Provided() {
		if d.DisplayName == "" || len(d.Description) < 40 || len(d.Tags) == 0 || d.Schema == nil {
			t.Errorf("%s is not described: %q %q %v", d.Name, d.DisplayName, d.Description, d.Tags)
			continue
		}
		for _, p := range d.Parameters {
			if p.Description == "" {
				t.Errorf("%s.%s has no description", d.Name, p.Name)
			}
		}
		if bad := d.Schema.Check(map[string]any{"nobody_declared_this": "x"}); len(bad) == 0 {
			t.Errorf("%s takes any parameter", d.Name)
		}
		plan, err := engine.CompileDefinition(lib, d)
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
		} else if w := plan.Warnings; len(w) > 0 {
			t.Errorf("%s: %v", d.Name, w)
		}
	}
}
