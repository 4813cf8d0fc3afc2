package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

const lockedTool = "locks: [db]\nsteps:\n  - name: work\n    bash: make all\n  - name: tidy\n    bash: touch tidy\n    run-condition: always()\n"

// queuedRun starts a run that keeps others of its plan waiting until finish is called.
func queuedRun(t *testing.T) (b *bed, e *engine.Engine, p *engine.Plan, finish func()) {
	b = newBed(t)
	b.config.Store = history.NewMemory()
	p, e = b.compile(lockedTool), engine.New(b.config)
	begun, work, over := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		_, err := e.Run(context.Background(), p, nil, engine.WithRunEnv(b.world), engine.WithID("first"), withCommands(func(_ context.Context, step dag.ID, _ string) printed {
			if step == "work" {
				close(begun)
				<-work
			}
			return printed{}
		}))
		over <- err
	}()
	<-begun
	return b, e, p, func() {
		close(work)
		if err := <-over; err != nil {
			t.Error(err)
		}
	}
}

// secondRun is the ID of a run that continues later: it then removes what others of its ID have left in the temporary folder,
// so no other test may use it.
func secondRun(b *bed) string { return "second-" + filepath.Base(filepath.Dir(b.dir)) }

// A run learns what it waits for, and that its turn has come.
func TestQueue(t *testing.T) {
	t.Parallel()
	b, e, p, finish := queuedRun(t)
	second := secondRun(b)
	var told []string
	res, err := e.Run(context.Background(), p, nil, engine.WithRunEnv(b.world), engine.WithID(second), withCommands(shell), engine.WithQueue(func(q history.QueuePosition) {
		told = append(told, q.Reason())
		if len(told) == 1 {
			if info, err := b.config.Store.Info(t.Context(), second); err != nil || info.Status != dag.Pending || q.Obstacles[0].Holders[0].Run != "first" {
				t.Error(q, info, err)
			}
			finish()
		}
	}))
	if err != nil || res.Status != dag.Succeeded || len(res.LockDemands) != 1 || len(told) != 2 || told[0] != "lock" || told[1] != "" {
		t.Errorf("%+v, %v, told %q", res, err, told)
	}
}

// Cancelled in line, a run ends as that and nothing of it runs; let go there, it stays
// for another owner. Both can be gone on with, and wait once more.
func TestQueueLeft(t *testing.T) {
	t.Parallel()
	for name, release := range map[string]bool{"cancelled": false, "released": true} {
		t.Run(name, func(t *testing.T) {
			b, e, p, finish := queuedRun(t)
			second := secondRun(b)
			ctx, cancel := context.WithCancel(context.Background())
			let := make(chan struct{})
			leave := func(history.QueuePosition) {
				if release {
					close(let)
				} else {
					cancel()
				}
			}
			res, err := e.Run(ctx, p, nil, engine.WithRunEnv(b.world), engine.WithID(second), withCommands(shell), engine.WithRelease(let, nil), engine.WithQueue(leave))
			want := dag.Cancelled
			if release {
				want = dag.Interrupted
			}
			if errors.Is(err, dag.ErrReleased) != release || !release && err != nil || res.Status != want || res.Step("tidy").Status != dag.Pending {
				t.Fatalf("%+v, %v", res, err)
			}
			again := func(o ...engine.RunOption) (*runresult.Result, error) {
				past, err := engine.LoadRun(t.Context(), b.config.Store, b.lib, second)
				if err != nil || past.Info.Status != want {
					t.Fatalf("%+v, %v", past, err)
				}
				g, err := past.Resume(b.lib, engine.ResumeOptions{})
				if err != nil {
					t.Fatal(err)
				}
				return e.Continue(context.Background(), g, o...)
			}
			res, err = again(engine.WithQueue(func(q history.QueuePosition) {
				if len(q.Obstacles) > 0 {
					finish()
				}
			}), withCommands(shell))
			if err != nil || res.Status != dag.Succeeded || res.Step("tidy").Status != dag.Succeeded {
				t.Errorf("%+v, %v", res, err)
			}
		})
	}
}

// Without a Store nobody could know of the others.
func TestQueueWithoutStore(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	_, err := engine.New(b.config).Run(t.Context(), b.compile(lockedTool), nil, engine.WithRunEnv(b.world))
	var refused *outcome.NoQueueError
	if !errors.As(err, &refused) || len(refused.Needs) != 1 {
		t.Error(err)
	}
}
