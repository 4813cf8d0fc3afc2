package engine_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// What keeps runs and steps of one Engine apart needs no Store: of six that want the same, the most that may run at once do,
// and never more; also if one of them fails or is cancelled.
func TestLimitsWithoutStore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		most int
	}{
		"lock of the tool":          {"locks: [db]\nbash: work\n", 1},
		"lock with slots":           {"locks: [{name: db, slots: 3}]\nbash: work\n", 3},
		"max-active-runs":           {"max-active-runs: 2\nbash: work\n", 2},
		"lock of a step":            {"steps: [{name: a, bash: work, locks: [db]}]\n", 1},
		"lock of a step, two slots": {"steps: [{name: a, bash: work, locks: [{name: db, slots: 2}]}]\n", 2},
		"pool":                      {"steps: [{name: a, bash: work, pool: small}]\n", 2},
		"pool, all slots":           {"steps: [{name: a, bash: work, pool: {name: small, slots: 2}}]\n", 1},
		"pool and lock":             {"steps: [{name: a, bash: work, pool: small, locks: [db]}]\n", 1},
		"priority":                  {"steps: [{name: a, bash: work, pool: small, priority: 3}]\n", 2},
		"loop":                      {"steps: [{name: a, bash: 'work {item}', for-each: {items: [1, 2, 3], max-parallel: 3}, pool: small}]\n", 2},
		"nested tool":               {"steps: [{name: a, use-tool: inner}]\n", 1},
		"nothing":                   {"bash: work\n", 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBed(t)
				b.file("inner.yaml", "description: Inner\nlocks: [db]\nbash: work\n")
				b.config.Parallel, b.config.Pools = 20, map[string]history.Pool{"small": {Slots: 2}}
				text := strings.ReplaceAll(c.text, "use-tool: inner", "use-tool: ./inner.yaml")
				p, e := b.compile(text), engine.New(b.config)
				var now, most atomic.Int32
				commands := withCommands(func(ctx context.Context, _ dag.ID, command string) printed {
					if !strings.HasPrefix(command, "work") {
						return printed{}
					}
					n := now.Add(1)
					defer now.Add(-1)
					for seen := most.Load(); n > seen && !most.CompareAndSwap(seen, n); seen = most.Load() {
					}
					select {
					case <-time.After(time.Second):
					case <-ctx.Done():
					}
					return printed{exit: int(n) % 2}
				})
				var runs sync.WaitGroup
				for i := range 6 {
					ctx, cancel := context.WithCancel(context.Background())
					if i == 3 {
						time.AfterFunc(1500*time.Millisecond, cancel)
					}
					runs.Go(func() {
						defer cancel()
						if res, err := e.Run(ctx, p, nil, engine.WithRunEnv(b.world), commands); err != nil || !res.Status.Settled() {
							t.Error(err, res)
						}
					})
				}
				runs.Wait()
				if int(most.Load()) != c.most {
					t.Errorf("%d at once, want %d", most.Load(), c.most)
				}
			})
		})
	}
}

// A pool with a rate starts so many steps in a time, without a Store too.
func TestRateWithoutStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newBed(t)
		b.config.Pools = map[string]history.Pool{"api": {Slots: 10, Rate: history.Rate{N: 1, Per: time.Minute}}}
		begin := time.Now()
		var at []time.Duration
		res := b.run(t.Context(), "steps: [{name: a, bash: work, for-each: {items: [1, 2, 3]}, pool: api}]\n", nil, withCommands(func(context.Context, dag.ID, string) printed {
			at = append(at, time.Since(begin))
			return printed{}
		}))
		if want := []time.Duration{0, time.Minute, 2 * time.Minute}; res.Status != dag.Succeeded || !slices.Equal(at, want) {
			t.Errorf("%s, at %v", res.Status, at)
		}
	})
}

// What a run wants of a pool that is too small, or that there is not, is refused without a Store as with one.
func TestPoolWithoutStore(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.config.Pools = map[string]history.Pool{"small": {Slots: 2}}
	for _, text := range []string{"steps: [{name: a, bash: work, pool: {name: small, slots: 3}}]\n", "steps: [{name: a, bash: work, pool: other}]\n"} {
		_, err := engine.New(b.config).Run(t.Context(), b.compile(text), nil, engine.WithRunEnv(b.world))
		var refused *outcome.PoolError
		if !errors.As(err, &refused) {
			t.Error(err)
		}
	}
}
