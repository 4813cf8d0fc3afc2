package servertest

import (
	"context"
	"testing"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/netclient"
	"github.com/flowrun/flowrun/library"
	work "github.com/flowrun/flowrun/temporal/internal/activity"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// remote runs cases on a Temporal server, on the workers of a task queue.
type remote struct {
	client client.Client
	texts  *work.Texts
	queue  string
	pools  map[string]history.Pool // of the settings
}

func newLibrary() *library.Library { return library.New(library.Config{}) }

// newRemote is for workers that the caller starts.
func newRemote(t testing.TB, s *server, queue string) *remote {
	return &remote{client: s.client, queue: interpreter.TaskQueue(queue), texts: &work.Texts{Store: s.store, Dir: t.TempDir(), Secrets: s.secrets}}
}

// startRemote starts a worker in this process. Its workflows are continued as new after so many events, 0 is the
// default.
func startRemote(t testing.TB, s *server, continueAfter int) *remote {
	t.Helper()
	r := newRemote(t, s, "in-process")
	r.pools = countedPools
	h := &work.Host{Engine: engine.New(engine.Config{StateDir: t.TempDir(), Grace: time.Second, Fetch: netclient.Fetch}), Library: newLibrary, Texts: r.texts,
		Client: s.client, ContinueAfter: continueAfter}
	stop, err := h.Start(r.queue, worker.Options{}, pools)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return r
}

func (r *remote) run(ctx context.Context, c *testCase, dir string) (document, error) {
	p, err := r.start(ctx, c, dir)
	if err != nil {
		return nil, err
	}
	done := make(chan struct{})
	defer close(done)
	go c.outside(dir, done, func() { r.client.CancelWorkflow(ctx, p.id(), "") })
	go r.answer(ctx, c, p, done)
	return r.wait(ctx, p)
}

// progress is a run that has been started.
type progress struct {
	client.WorkflowRun
	in  *interpreter.Input
	lib *library.Library
}

func (p *progress) id() string { return p.in.Record.ID }

// start starts the run of a case.
func (r *remote) start(ctx context.Context, c *testCase, dir string) (*progress, error) {
	lib, plan, err := c.compile(dir)
	if err != nil {
		return nil, err
	}
	args, err := plan.Bind(runEnv(dir), c.Params)
	if err != nil {
		return nil, err
	}
	record, err := args.Record(history.NewID(time.Now()), "", "")
	if err != nil {
		return nil, err
	}
	in := interpreter.NewInput(record, interpreter.Options{Parallel: 4, Cleanup: time.Minute, Pools: r.pools})
	run, err := r.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{ID: record.ID, TaskQueue: r.queue,
		Memo: map[string]any{interpreter.CreatedMemo: record.Created}}, interpreter.WorkflowType, in)
	return &progress{run, in, lib}, err
}

// wait waits for the end of a run.
func (r *remote) wait(ctx context.Context, p *progress) (document, error) {
	out := new(interpreter.Output)
	out, err := interpreter.OutputOf(out, p.Get(ctx, out))
	if err != nil {
		return nil, err
	}
	return r.document(ctx, p, out.Events)
}

// document returns the run document that these events make.
func (r *remote) document(ctx context.Context, p *progress, text []byte) (document, error) {
	events, err := interpreter.DecodeEvents(p.id(), text)
	if err != nil {
		return nil, err
	}
	for i := range events {
		if err := r.fetch(ctx, events[i].Result); err != nil {
			return nil, err
		}
	}
	recorded, err := p.in.Load(ctx, p.lib, events)
	if err != nil {
		return nil, err
	}
	return documentOf(recorded.Result())
}

func (r *remote) fetch(ctx context.Context, res *dag.Result) error {
	if res == nil {
		return nil
	}
	for _, o := range []*dag.Output{res.Stdout, res.Stderr} {
		if o != nil && o.File != "" {
			if err := r.texts.Fetch(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

// answer answers the questions of a run as the script of its case says.
func (r *remote) answer(ctx context.Context, c *testCase, p *progress, done <-chan struct{}) {
	given := map[string]bool{}
	for len(given) < len(c.Answers) {
		select {
		case <-done:
			return
		case <-time.After(50 * time.Millisecond):
		}
		open, _ := r.questions(ctx, p)
		for _, q := range open {
			a, ok := c.Answers[q.Step]
			if !ok || given[q.Step] {
				continue
			}
			given[q.Step] = true
			r.client.SignalWorkflow(ctx, p.id(), "", interpreter.AnswerSignal,
				history.Answer{Step: q.Step, Wait: q.Wait, Approve: a.Approve, By: a.By, Comment: a.Comment, Values: a.Values})
		}
	}
}

func (r *remote) questions(ctx context.Context, p *progress) ([]history.Question, error) {
	v, err := r.client.QueryWorkflow(ctx, p.id(), "", interpreter.EventsQuery, uint64(0))
	if err != nil {
		return nil, err
	}
	var text []byte
	if err := v.Get(&text); err != nil {
		return nil, err
	}
	events, err := interpreter.DecodeEvents(p.id(), text)
	if err != nil {
		return nil, err
	}
	recorded, err := p.in.Load(ctx, p.lib, events)
	if err != nil {
		return nil, err
	}
	return recorded.Questions(), nil
}
