// Package recordedtest makes recorded runs without processes, for tests of what commands say about runs: the steps of
// their definitions only wait for answers.
package recordedtest

import (
	"context"
	"testing"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// Plan compiles a definition as if it were the file /x/tool.yaml.
func Plan(t *testing.T, text string) *engine.Plan {
	t.Helper()
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
	def, found := lib.Read("/x/tool.yaml", tool.ScopeFile, []byte(text))
	if err := tool.Diagnostics(found).Err(); err != nil {
		t.Fatal(err)
	}
	p, err := engine.CompileDefinition(lib, def)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Answered runs a definition whose steps are all approvals, and records it in a store. answers says which steps are approved
// (true) or rejected, by their paths. The others keep waiting. A form gets REGION=eu.
func Answered(t *testing.T, s history.Store, text string, answers map[string]bool) *engine.RecordedRun {
	t.Helper()
	answer := func(_ context.Context, q history.Question) (history.Answer, error) {
		yes, given := answers[q.Step]
		if !given {
			return history.Answer{}, waiting.ErrNoApprover
		}
		a := history.Answer{Approve: yes}
		if yes && q.Form != nil {
			a.Values = map[string]any{"REGION": "eu"}
		}
		return a, nil
	}
	res, err := engine.New(engine.Config{Store: s, StateDir: t.TempDir()}).Run(t.Context(), Plan(t, text), nil, engine.WithApproval(answer))
	if err != nil {
		t.Fatal(err)
	}
	run, err := engine.LoadRun(t.Context(), s, library.New(library.Config{}), res.ID)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
