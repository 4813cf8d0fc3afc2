package engine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/library"
)

// TestPreviewEnforced: a preview says that permissions are enforced for exactly the runs that enforce them.
func TestPreviewEnforced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	text := "description: d\nsecurity: {required-permissions: ['filesystem:read:/etc/hosts']}\nsteps: [{name: g, steps: [{name: a, run: 'true'}]}]\n"
	if err := os.WriteFile(filepath.Join(dir, "it.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: dir}), "./it.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		enforce  engine.Enforcement
		origin   string
		enforced bool
	}{
		{"", engine.OriginCall, false}, {engine.EnforceModels, "", false}, {engine.EnforceModels, engine.OriginCall, true},
		{engine.EnforceModels, engine.OriginMCP, true}, {engine.EnforceAlways, "", true},
	} {
		e := engine.New(engine.Config{StateDir: t.TempDir(), Enforce: c.enforce, AllowUnenforced: true})
		args, err := p.Bind(engine.RunEnv{Workspace: dir}, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.Preview(args, c.origin)
		if err != nil {
			t.Fatal(err)
		}
		res, err := e.RunBound(t.Context(), args, engine.WithOrigin(c.origin), withCommands(shell))
		if err != nil || res.Enforced != c.enforced {
			t.Fatalf("%+v: %v, %+v", c, err, res)
		}
		shown := v.Tools[0]
		held := c.enforced && len(res.Unenforced) == 0
		if held != (len(shown.Enforced) > 0) || held == (len(shown.Unenforced) > 0) {
			t.Errorf("%+v: enforced %q, not %q; the run lacks %q", c, shown.Enforced, shown.Unenforced, res.Unenforced)
		}
	}
	args, err := p.Bind(engine.RunEnv{Workspace: dir}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := args.Preview(); err != nil || v.Tools[0].Enforced != nil || v.Tools[0].Unenforced != nil {
		t.Errorf("a preview of no engine knows what is enforced: %v, %+v", err, v)
	}
}
