package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestTriggerExamples runs the examples with on, and checks what an event gives them.
func TestTriggerExamples(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a $(touch bad).csv"), []byte("id\n1\n2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	data := map[string]string{"path": filepath.Join(dir, "a $(touch bad).csv"), "run": "r1", "status": "failed", "tool": "import-orders"}
	for name, want := range map[string]string{
		"import-orders": "2 orders in " + data["path"],
		"import-report": "import r1: failed",
	} {
		file, err := filepath.Abs("examples/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir, Home: dir}), file)
		if err != nil {
			t.Fatal(err)
		}
		params := map[string]any{}
		for key, v := range p.Given(p.Definition.Triggers[0].Params) {
			params[key] = tool.FillTrigger(v, data)
		}
		res, err := engine.New(engine.Config{Store: history.NewMemory()}).Run(t.Context(), p, params, engine.WithRunEnv(engine.RunEnv{Workspace: dir, Home: dir, Temp: dir}))
		if err != nil || len(res.Steps) == 0 || strings.TrimSpace(res.Steps[0].Output) != want {
			t.Errorf("%s: %v, %+v", name, err, res)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "done", "a $(touch bad).csv")); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "bad")); err == nil {
		t.Error("the name of the file was run")
	}
}
