package service_test

import (
	"errors"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// TestPeople checks that a run which waits for people has no owner, and that it continues
// when it is answered, here or by another process, when its deadline passes, and when it is
// cancelled.
func TestPeople(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{
		"ask":  "name: ask\nsteps:\n  - {name: gate, approve: {prompt: go on}}\n  - {name: after, bash: echo done}\n",
		"soon": "name: soon\nsteps:\n  - {name: gate, approve: {prompt: go on, timeout: 1s, on-timeout: approve}}\n  - {name: after, bash: echo done}\n",
	})
	state := b.onDisk()
	store := b.store.(*sqlite.Store)
	s := b.serve(another(store))
	ask := func() string {
		id := b.start(s, service.Request{Tool: "ask", Origin: "api"})
		b.becomes(id, dag.Waiting)
		return id
	}
	t.Run("answered here", func(t *testing.T) {
		id := ask()
		if err := s.Control.Answer(t.Context(), id, "after", service.Answer{Approve: true}); !errors.Is(err, outcome.ErrNoQuestion) {
			t.Error(err)
		}
		var awaits *outcome.AwaitsAnswerError
		if err := s.Control.Resume(t.Context(), id); !errors.As(err, &awaits) || len(awaits.Steps) != 1 {
			t.Errorf("a run that waits for an answer is resumed: %v", err)
		}
		if err := s.Control.Answer(t.Context(), id, "", service.Answer{Approve: true}); err != nil {
			t.Fatal(err)
		}
		b.becomes(id, dag.Succeeded)
	})
	t.Run("rejected by another process", func(t *testing.T) {
		id := ask()
		past, err := s.Runs.RecordedRun(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		q := past.Questions()[0]
		if err := b.open(state).Answer(t.Context(), id, history.Answer{Step: q.Step, Wait: q.Wait, At: time.Now()}); err != nil {
			t.Fatal(err)
		}
		b.becomes(id, dag.Failed)
	})
	t.Run("too late", func(t *testing.T) {
		b.becomes(b.start(s, service.Request{Tool: "soon", Origin: "api"}), dag.Succeeded)
	})
	t.Run("cancelled", func(t *testing.T) {
		id := ask()
		if err := s.Control.Cancel(t.Context(), id, "enough"); err != nil {
			t.Fatal(err)
		}
		b.becomes(id, dag.Cancelled)
	})
}
