package service_test

import (
	"context"
	"errors"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// remote is a Store with runs of another engine.
type remote struct {
	history.Store
	cancelled chan string // gets the runs that are cancelled
}

func (r remote) Info(ctx context.Context, id string) (history.RunInfo, error) {
	info, err := r.Store.Info(ctx, id)
	info.Engine = "temporal"
	return info, err
}

func (r remote) Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error) {
	list, err := r.Store.Runs(ctx, q)
	for i := range list {
		list[i].Engine = "temporal"
	}
	return list, err
}

func (r remote) Cancel(_ context.Context, id, _ string) error {
	r.cancelled <- id
	return nil
}

// TestRemoteRuns: runs of another engine are in the list, and their answers and cancels reach that. The service does not
// continue them. Another service stands for the workers of that engine.
func TestRemoteRuns(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"gates": twoGates})
	there := remote{history.NewMemory(), make(chan string, 1)}
	workers := b.serve(func(c *service.Config) {
		c.Store, c.Engine = there.Store, engine.New(engine.Config{Store: there.Store})
	})
	s := b.serve(func(c *service.Config) { c.Remote = there })
	here, id := b.start(s, service.Request{Tool: "gates", Origin: "api"}), b.start(workers, service.Request{Tool: "gates", Origin: "api"})
	b.becomes(here, dag.Waiting)
	asks := func(step string) {
		t.Helper()
		waittest.Until(t, "the question of "+step, func() bool {
			run, err := s.Runs.Load(context.Background(), id)
			return err == nil && run.Info.Status == dag.Waiting && len(engine.Named(run.Questions(), step)) == 1
		})
	}
	asks("one")
	list, err := s.History.Runs(t.Context(), history.Query{})
	if err != nil || len(list) != 2 || list[0].ID != id || list[0].Engine != "temporal" || list[1].Engine != "" {
		t.Errorf("%+v, %v", list, err)
	}
	if err := s.Control.Answer(t.Context(), id, "one", service.Answer{Approve: true}); err != nil {
		t.Error(err)
	}
	asks("two")
	if _, err := s.Control.Retry(t.Context(), id, nil); !errors.Is(err, outcome.ErrOtherEngine) {
		t.Errorf("retry: %v", err)
	}
	if err := s.Control.Resume(t.Context(), id); !errors.As(err, new(*outcome.AwaitsAnswerError)) {
		t.Errorf("resume: %v", err)
	}
	if err := s.Control.Cancel(t.Context(), id, "enough"); err != nil {
		t.Error(err)
	}
	if got := <-there.cancelled; got != id {
		t.Errorf("cancelled %s, want %s", got, id)
	}
}
