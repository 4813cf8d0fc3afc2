package engine_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/library"
)

// TestWithMayCall checks that the rules of a run replace those of the Engine, for new and for
// repeated runs.
func TestWithMayCall(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"inner.yaml": "name: inner\ndescription: Inner\nbash: echo called\n",
		"outer.tool.js": `module.exports = {
  getMetadata: () => ({ id: 'outer', description: 'Calls', permissions: ['tool:inner'] }),
  async execute() { return await this.api.callTool('inner', {}) },
}`,
	} {
		folder := filepath.Join(dir, ".flowrun", "tools")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	lib := library.New(library.Config{WorkingDirectory: dir, Home: t.TempDir()})
	for _, extension := range hooks.Extensions() {
		lib.Handle(extension, hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	}
	outer, err := engine.Compile(lib, "outer")
	if err != nil {
		t.Fatal(err)
	}
	store := history.NewMemory()
	eng := engine.New(engine.Config{JavaScript: scripts, Store: store, StateDir: filepath.Join(dir, "state"), MayCall: func([]plan.UsedTool) error { return nil }})
	refuse := engine.WithMayCall(func([]plan.UsedTool) error { return errors.New("not for this caller") })
	check := func(what string, want bool, res *runresult.Result, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(res)
		if err != nil {
			t.Fatal(err)
		}
		if ok := res.Err() == nil; ok != want || strings.Contains(string(text), "not for this caller") == want {
			t.Errorf("%s: succeeded %v, want %v: %s", what, ok, want, text)
		}
	}
	res, err := eng.Run(t.Context(), outer, nil)
	check("the rules of the engine", true, res, err)
	res, err = eng.Run(t.Context(), outer, nil, refuse)
	check("the rules of the run", false, res, err)
	recorded, err := engine.LoadRun(t.Context(), store, lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, may := range []bool{false, true} {
		g, err := recorded.Retry(lib, engine.RetryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		options := []engine.RunOption{refuse}
		if may {
			options = nil
		}
		res, err = eng.Continue(t.Context(), g, options...)
		check("a retry", may, res, err)
	}
}
