package enginetest

import (
	"context"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
)

// TestEnforcedArtifacts: an enforced step reads the artifacts of its run, writes to none of them, and keeps no file that
// it could not read itself.
func TestEnforcedArtifacts(t *testing.T) {
	t.Parallel()
	dir, w := enforcedFolder(t)
	p := compile(t, dir, `
description: Keeps files
security:
  enforce: true
  required-permissions: ["filesystem:read:in", "filesystem:write:out", "filesystem:read:out"]
steps:
  - {name: make, sh: 'echo made > out/made', artifacts: [out/made]}
  - {name: reads, sh: 'cat {make.artifacts.made}'}
  - {name: writes, sh: 'echo x > {make.artifacts.made}', continue-on-error: true}
  - {name: moves, sh: 'rm {make.artifacts.made}', continue-on-error: true}
  - {name: steals, sh: 'ln -s ../secret out/stolen || true', artifacts: [out/stolen], continue-on-error: true}
  - {name: names, sh: 'true', artifacts: [secret], continue-on-error: true}
`)
	for _, state := range []string{t.TempDir(), ""} {
		res, err := engine.New(engine.Config{StateDir: state}).Run(context.Background(), p, nil, engine.WithRunEnv(w))
		if err != nil {
			t.Fatal(err)
		}
		if s := res.Step("reads"); s.Output != "made\n" {
			t.Errorf("reads: %s %s %s", s.Status, s.Message, s.Error)
		}
		for _, step := range []string{"writes", "moves"} {
			if s := res.Step(step); s.Status != dag.Failed || !strings.Contains(s.Error, "denied") {
				t.Errorf("%s: %s %s", step, s.Status, s.Error)
			}
		}
		for _, step := range []string{"steals", "names"} {
			if s := res.Step(step); s.Reason != "artifacts" || len(s.Artifacts) > 0 || !strings.Contains(s.Message, "denied") {
				t.Errorf("%s: %s %s %v", step, s.Status, s.Message, s.Artifacts)
			}
		}
	}
}
