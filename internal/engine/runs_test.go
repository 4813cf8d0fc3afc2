package engine_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// Runs of one engine share its slots; a plan is used by many at once; engines do
// not know each other.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	const parallel, runs = 3, 16
	b := newBed(t)
	var running, most [2]atomic.Int32
	b.define(gostep.GoTool{Name: "count", Description: "Count who runs", Parameters: []*tool.Parameter{
		{Name: "N", Type: "number", Description: "of the run"}, {Name: "ENGINE", Type: "number", Description: "which"}},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			e := in.Params["ENGINE"].(int64)
			now := running[e].Add(1)
			defer running[e].Add(-1)
			for old := most[e].Load(); now > old && !most[e].CompareAndSwap(old, now); old = most[e].Load() {
			}
			waittest.Holds(waittest.Limit, func() bool { return most[e].Load() > 1 }) // until two have met
			return in.Params["N"], nil
		}}.Definition())
	p := b.compile(`
parameters:
  N: {type: number, description: of the run}
  ENGINE: {type: number, description: which}
output: "{a.output} {b.output} {c.output}"
steps:
  - name: a
    use-tool: count
    with: {N: "{N}", ENGINE: "{ENGINE}"}
  - name: b
    use-tool: count
    with: {N: "{N}", ENGINE: "{ENGINE}"}
    parallel: true
  - name: c
    bash: echo {N}
    parallel: true
`)
	var all sync.WaitGroup
	for e := range 2 {
		engine := engine.New(engine.Config{Parallel: parallel})
		for n := range runs {
			all.Go(func() {
				res, err := engine.Run(context.Background(), p, map[string]any{"N": n, "ENGINE": e}, withCommands(shell))
				if want := fmt.Sprintf("%d %d %d", n, n, n); err != nil || res.Output != want {
					t.Errorf("run %d: %v %+v, want the output %q", n, err, res, want)
				}
			})
		}
	}
	all.Wait()
	for e := range most {
		if n := most[e].Load(); n > parallel || n < 2 {
			t.Errorf("engine %d: %d steps at once, want at most %d and more than one", e, n, parallel)
		}
	}
}

// A cancelled run is a Result: what ran is stopped, what asks for it still runs.
func TestCancel(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	res := b.run(ctx, `
steps:
  - name: done
    bash: echo done
  - name: slow
    bash: sleep 300
  - name: never
    bash: echo never
  - name: tidy
    bash: echo "tidy after {slow.status}"
    run-condition: always()
  - name: told
    bash: echo told
    run-condition: cancelled()
`, nil, cancelAt("slow", cancel), withCommands(shell))
	b.want(res, dag.Cancelled, map[string]string{"done": "succeeded", "slow": "cancelled", "never": "cancelled", "tidy": "succeeded", "told": "succeeded"})
	if res.Step("tidy").Output != "tidy after cancelled\n" || res.ExitCode != dag.ExitCancelled || res.Output != "told\n" {
		t.Errorf("%+v", res)
	}
	res = b.run(ctx, "bash: echo x\n", nil, withCommands(shell)) // cancelled before it begins
	b.want(res, dag.Cancelled, map[string]string{"under-test": "cancelled"})
}

// journal fails from the call that many calls come before. It is a Store with one
// Ledger, itself.
type journal struct {
	history.Store
	calls, good int
	events      int
}

var errFull = errors.New("the disk is full")

func (j *journal) Begin(context.Context, *history.Record) (history.Ledger, error) { return j, nil }
func (j *journal) Sync(context.Context) error                                     { return nil }
func (j *journal) Epoch() int                                                     { return 1 }
func (j *journal) Lost() <-chan struct{}                                          { return nil }
func (j *journal) CancelRequests() <-chan string                                  { return nil }
func (j *journal) Answers() <-chan history.Answer                                 { return nil }
func (j *journal) Suspend(string, bool) error                                     { return nil }
func (j *journal) Close() error                                                   { return nil }
func (j *journal) ReadState(context.Context, history.StateID, string) ([]history.StateValue, error) {
	return nil, nil
}
func (j *journal) Admit(context.Context, history.Admission) error { return nil }
func (j *journal) Leave(string) error                             { return nil }

func (j *journal) Append(_ context.Context, events []dag.Event) error {
	if j.calls++; j.calls > j.good {
		return errFull
	}
	j.events += len(events)
	return nil
}

// A journal that fails ends the run with an error, and a Result of how far it came.
func TestJournalError(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := b.compile("steps:\n  - name: a\n    bash: echo a\n  - name: b\n    bash: sleep 300\n    parallel: true\n  - name: c\n    bash: echo c\n")
	for good := range 2 { // the start of a and b, the end of a
		b.config.Store = &journal{good: good}
		res, err := engine.New(b.config).Run(context.Background(), p, nil, withCommands(shell))
		if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "cannot record the run's events: ") {
			t.Errorf("after %d calls: %v", good, err)
		}
		if res == nil || len(res.Steps) != 3 || res.Step("c").Status != dag.Pending || res.Status != dag.Interrupted {
			t.Fatalf("after %d calls: %+v", good, res)
		}
	}
	whole := &journal{good: 100}
	b.config.Store = whole
	if b.run(context.Background(), "bash: echo\n", nil, withCommands(shell)); whole.events != 4 {
		t.Errorf("%d events, want those of one run and one step", whole.events)
	}
}

// Time limits: of a step, of a step that uses a tool, of that tool, of the run.
func TestTimeouts(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.file("sleeps.yaml", "name: sleeps\ndescription: Sleeps\nsteps:\n  - name: in\n    bash: sleep 300\n")
	b.file("limited.yaml", "name: limited\ndescription: Sleeps a little\ntimeout: 100ms\nsteps:\n  - name: in\n    bash: sleep 300\n")
	b.define(gostep.GoTool{Name: "go", Description: "Waits", Timeout: 100 * time.Millisecond,
		Run: func(ctx context.Context, _ *gostep.StepInput) (any, error) { <-ctx.Done(); return nil, ctx.Err() }}.Definition())
	const after = "  - name: after\n    bash: echo {s.status} {s.exit-code}\n    run-condition: failure()\n"
	for name, c := range map[string]struct {
		text   string
		status dag.Status
		states map[string]string
		after  string
	}{
		"step": {"steps:\n  - name: s\n    bash: sleep 300\n    timeout: 100ms\n" + after,
			dag.Failed, map[string]string{"s": "timed-out", "after": "succeeded"}, "timed-out 124\n"},
		"nested step": {"steps:\n  - name: s\n    use-tool: sleeps\n    timeout: 100ms\n" + after,
			dag.Failed, map[string]string{"s": "timed-out", "s/in": "cancelled", "after": "succeeded"}, "timed-out 124\n"},
		"nested tool": {"steps:\n  - name: s\n    use-tool: limited\n" + after,
			dag.Failed, map[string]string{"s": "timed-out", "s/in": "cancelled", "after": "succeeded"}, "timed-out 124\n"},
		"nested Go tool": {"steps:\n  - name: s\n    use-tool: go\n" + after,
			dag.Failed, map[string]string{"s": "timed-out", "s/go": "cancelled", "after": "succeeded"}, "timed-out 124\n"},
		"run": {"timeout: 100ms\nsteps:\n  - name: s\n    use-tool: sleeps\n" + after + "  - name: tidy\n    bash: echo tidy\n    run-condition: always()\n",
			dag.TimedOut, map[string]string{"s": "cancelled", "s/in": "cancelled", "after": "cancelled", "tidy": "succeeded"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b := *b
			b.T = t
			res := b.run(context.Background(), c.text, nil, withCommands(shell))
			b.want(res, c.status, c.states)
			if res.ExitCode != dag.ExitTimeout || res.Step("after").Output != c.after {
				t.Errorf("exit code %d, after: %q", res.ExitCode, res.Step("after").Output)
			}
		})
	}
}

// Until runs a step and what it waits for, conditions, nested tools and cleanup
// included.
func TestUntil(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	p := b.compile(`
output: "{d.output}"
resources: {cleanup: [{final-command: touch cleaned}]}
steps:
  - name: a
    bash: echo a
  - name: b
    bash: echo b
    wait-for: []
  - name: c
    bash: echo {a.output}c
    wait-for: a
  - name: d
    bash: touch d
`)
	cut, err := p.Until("c")
	if err != nil {
		t.Fatal(err)
	}
	cleaned := false
	res, err := engine.New(b.config).Run(context.Background(), cut, nil, engine.WithRunEnv(b.world), withCommands(func(ctx context.Context, step dag.ID, command string) printed {
		cleaned = cleaned || step == "@cleanup"
		return shell(ctx, step, command)
	}))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := cut.Preview(b.world, nil); err != nil || len(v.Steps) != 2 || v.Steps[0].ID != "a" || v.Steps[1].ID != "c" {
		t.Errorf("the preview shows %+v, %v", v, err)
	}
	b.want(res, dag.Succeeded, map[string]string{"a": "succeeded", "c": "succeeded"})
	if res.Output != "ac\n" {
		t.Errorf("output %q", res.Output)
	}
	if !cleaned {
		t.Error("the cleanup did not run")
	}
	var unknown *plan.StepError
	if _, err := p.Until("e"); !errors.As(err, &unknown) || unknown.Step != "e" {
		t.Error(err)
	}
	if _, err := p.Until("@cleanup"); !errors.As(err, &unknown) {
		t.Errorf("a node that is not a step: %v", err)
	}
}
