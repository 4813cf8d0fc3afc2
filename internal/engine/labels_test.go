package engine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
)

// TestLabels holds which labels a run has: those of the tool and of its caller, also after a resume and of a retry,
// without secrets.
func TestLabels(t *testing.T) {
	b := newBed(t)
	b.config.Store = history.NewMemory()
	b.world.Env = []string{"TOKEN=hunter2hunter2"}
	const text = "labels: {team: ops, stage: prod}\nenvironment: {secrets: [TOKEN]}\nsteps:\n  - {name: a, approve: 'Go on?'}\n"
	added := engine.WithLabels(map[string]string{"stage": "test", "key": "of hunter2hunter2"})
	res := b.run(t.Context(), text, nil, engine.WithRunEnv(b.world), added)
	want := map[string]string{"team": "ops", "stage": "test", "key": "of ***"}
	labels := func(id string) map[string]string {
		t.Helper()
		r, err := b.config.Store.Record(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		info, err := b.config.Store.Info(t.Context(), id)
		if err != nil || !cmp.Equal(info.Labels, r.Labels) {
			t.Error(err, info.Labels, r.Labels)
		}
		return r.Labels
	}
	if diff := cmp.Diff(want, labels(res.ID)); diff != "" || !cmp.Equal(want, res.Labels) {
		t.Error(res.Labels, diff)
	}

	run, err := engine.LoadRun(t.Context(), b.config.Store, b.lib, res.ID)
	if err != nil || !cmp.Equal(want, run.Result().Labels) {
		t.Fatal(err, run)
	}
	for _, plan := range []func() (*engine.Continuation, error){
		func() (*engine.Continuation, error) { return run.Continue(b.lib, engine.ResumeOptions{}) },
		func() (*engine.Continuation, error) { return run.Retry(b.lib, engine.RetryOptions{}) },
	} {
		g, err := plan()
		if err != nil {
			t.Fatal(err)
		}
		res, err := engine.New(b.config).Continue(t.Context(), g)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, labels(res.ID)); diff != "" || !cmp.Equal(want, res.Labels) {
			t.Error(res.Labels, diff)
		}
	}

	if res := b.run(t.Context(), "steps:\n  - {name: a, approve: 'Go on?'}\n", nil); labels(res.ID) != nil {
		t.Error("labels from nowhere:", labels(res.ID))
	}
	_, err = engine.New(b.config).Run(t.Context(), b.compile(text), nil, engine.WithRunEnv(b.world), engine.WithLabels(map[string]string{"Team": "ops"}))
	if err == nil || !strings.Contains(err.Error(), `"Team" cannot be the name of a label`) {
		t.Error(err)
	}
}
