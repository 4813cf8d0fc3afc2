// Package activity does the work of a worker: it carries out the orders of the workflow, each in
// the environment of this process and with its secrets.
//
// A worker has one flowrun.Share in each run of which it does a part. It holds the processes,
// the secrets and the bound parameters, and is closed when the worker has had nothing to do for
// the run for a while.
package activity

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
	"github.com/flowrun/flowrun/temporal/internal/queue"
	"github.com/flowrun/flowrun/temporal/internal/values"
)

// Host carries out orders of any number of runs. It is safe for concurrent use.
type Host struct {
	Engine    *engine.Engine
	Library   func() *library.Library // provides loaders, and tools written in Go
	Texts     engine.Texts
	Client    client.Client
	Observers []engine.Observer // of runs whose workflow this worker executes
	// Report is called, if it is not nil, with what people should know about the share of this worker in a run:
	// processes that were ended, or an error when the share was closed.
	Report func(run string, notices []notice.Notice, err error)
	// ContinueAfter is that of the workflows; 0 is their default.
	ContinueAfter int

	queue   string // that Start was called for
	begin   sync.Once
	closing context.Context // ends when the worker does not wait for steps any more
	stop    context.CancelFunc
	running sync.WaitGroup // orders

	mu     sync.Mutex
	shares map[string]*share // by the id of the run
	inputs map[string]*interpreter.Input
	plans  map[[sha256.Size]byte]*engine.Plan
}

// share is the share of this worker in one run.
type share struct {
	opening sync.Mutex // held while Share is opened
	*engine.Share
	users int
	idle  *time.Timer // closes it
}

// idleTime is how long a share stays open after its last order.
const idleTime = 30 * time.Second

// Do is the activity: it carries out one order.
func (h *Host) Do(ctx context.Context, args converter.EncodedValues) (out dag.Outcome, err error) {
	var o dag.Order
	if err := args.Get(&o); err != nil {
		return out, err
	}
	h.open()
	h.running.Add(1)
	defer h.running.Done()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(h.closing, func() { cancel(nil) })()
	defer beat(ctx, h.Client, cancel)()
	if ctx.Err() != nil {
		return out, interrupted(ctx)
	}
	s, done, err := h.share(ctx, activity.GetInfo(ctx).WorkflowExecution.ID, func() (*interpreter.Input, error) { return h.input(ctx) })
	if err != nil {
		return notJoined(err)
	}
	defer done()
	out, err = s.Perform(ctx, &o)
	if err == nil && out.Result.Status == dag.Cancelled && (context.Cause(ctx) == errLost || h.isStopping(ctx)) {
		return out, interrupted(ctx)
	}
	return out, err
}

// interrupted is the error with which this worker gives up an attempt.
func interrupted(ctx context.Context) error {
	why := "the worker is being stopped"
	if context.Cause(ctx) == errLost {
		why = "the worker could not reach the Temporal service"
	}
	return temporal.NewNonRetryableApplicationError(why, interpreter.InterruptedType, nil)
}

func (h *Host) open() {
	h.begin.Do(func() { h.closing, h.stop = context.WithCancel(context.Background()) })
}

// isStopping reports whether the worker is being stopped.
func (h *Host) isStopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return h.closing.Err() != nil
	}
}

// notJoined returns what an order comes to if this worker cannot have a share in the run.
func notJoined(err error) (out dag.Outcome, _ error) {
	return out, temporal.NewNonRetryableApplicationError(err.Error(), "join", err)
}

// Judge evaluates a condition, as a local activity.
func (h *Host) Judge(ctx context.Context, in *interpreter.Input, o *dag.Order) (out dag.Outcome, err error) {
	s, done, err := h.share(ctx, in.Record.ID, func() (*interpreter.Input, error) { return in, nil })
	if err != nil {
		return notJoined(err)
	}
	defer done()
	own, err := copyOf(o) // the workflow keeps its results
	if err != nil {
		return out, err
	}
	return s.Perform(ctx, own)
}

// Queue sends a request of a run to the queue of its task queue, as a local activity.
func (h *Host) Queue(ctx context.Context, r queue.Request) error {
	return queue.Send(ctx, h.Client, interpreter.QueueName(h.queue), h.queue, r)
}

// ReadState reads the state of the tool of a run when the run starts, as a local activity: its share does so.
func (h *Host) ReadState(ctx context.Context, in *interpreter.Input) error {
	_, done, err := h.share(ctx, in.Record.ID, func() (*interpreter.Input, error) { return in, nil })
	if err != nil {
		_, err = notJoined(err)
		return err
	}
	done()
	return nil
}

// State sends a request of a run to the values of its task queue, as a local activity.
func (h *Host) State(ctx context.Context, q values.Request) (values.Reply, error) {
	return values.Send(ctx, h.Client, interpreter.QueueName(h.queue), h.queue, q)
}

// ForgetState says that a run has ended which has read values, as a local activity.
func (h *Host) ForgetState(ctx context.Context, run string) error {
	return values.End(ctx, h.Client, interpreter.QueueName(h.queue), h.queue, run)
}

// Ended says which runs have ended, and when, as a local activity.
func (h *Host) Ended(ctx context.Context, runs []string) (map[string]time.Time, error) {
	return queue.Ended(ctx, h.Client, runs)
}

func copyOf(o *dag.Order) (*dag.Order, error) {
	b, err := json.Marshal(o)
	if err != nil {
		return nil, err
	}
	own := new(dag.Order)
	return own, json.Unmarshal(b, own)
}

// Answer returns the result of a step that got an answer, as a local activity.
func (h *Host) Answer(ctx context.Context, in *interpreter.Input, q history.Question, a history.Answer) (r dag.Result, err error) {
	s, done, err := h.share(ctx, in.Record.ID, func() (*interpreter.Input, error) { return in, nil })
	if err != nil {
		_, err = notJoined(err)
		return r, err
	}
	defer done()
	return s.Answer(ctx, q, a)
}

// Compile returns the plan of a run when its workflow starts here. Plans are kept: many runs
// have the same definitions.
func (h *Host) Compile(in *interpreter.Input) (*engine.Plan, error) {
	key := digest(in)
	h.mu.Lock()
	p := h.plans[key]
	h.inputs = with(h.inputs, in.Record.ID, in)
	h.mu.Unlock()
	if p != nil {
		return p, nil
	}
	run, err := in.Load(context.Background(), h.Library(), nil)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.plans = with(h.plans, key, run.Plan)
	return run.Plan, nil
}

// maxKept is how many plans, and inputs of runs, a worker keeps.
const maxKept = 500

// with adds a value to a map that starts again when it is full.
func with[K comparable, V any](m map[K]V, key K, v V) map[K]V {
	if len(m) >= maxKept || m == nil {
		m = map[K]V{}
	}
	m[key] = v
	return m
}

// digest identifies the plan of a run.
func digest(in *interpreter.Input) [sha256.Size]byte {
	var b bytes.Buffer
	r := in.Record
	fmt.Fprintf(&b, "%s %s %t %d\n", r.Tool, r.Only, r.WithoutUpstream, r.Timeout)
	for i, s := range r.Sources {
		fmt.Fprintf(&b, "%q %q %q %q %s\n%s\n", s.Name, s.From, s.File, s.Scope, s.Digest, in.Sources[i])
	}
	return sha256.Sum256(b.Bytes())
}

// share returns the share of this worker in a run, and opens it if need be. The caller calls
// done.
func (h *Host) share(ctx context.Context, run string, input func() (*interpreter.Input, error)) (s *share, done func(), err error) {
	h.mu.Lock()
	if h.shares == nil {
		h.shares = map[string]*share{}
	}
	if s = h.shares[run]; s == nil {
		s = &share{}
		h.shares[run] = s
	}
	s.users++
	if s.idle != nil {
		s.idle.Stop()
	}
	h.mu.Unlock()
	done = func() { h.leave(run, s) }
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.Share != nil {
		return s, done, nil
	}
	if err := h.join(ctx, s, input); err != nil {
		done()
		return nil, nil, err
	}
	return s, done, nil
}

// join opens the share of this worker in a run.
func (h *Host) join(ctx context.Context, s *share, input func() (*interpreter.Input, error)) error {
	in, err := input()
	if err != nil {
		return err
	}
	plan, err := h.Compile(in)
	if err != nil {
		return err
	}
	run := &engine.RecordedRun{Record: in.Record, Plan: plan}
	states := func(ctx context.Context, id history.StateID) ([]history.StateValue, error) {
		reply, err := h.State(ctx, values.Request{Run: in.Record.ID, Read: id})
		return reply.Values, err
	}
	s.Share, err = h.Engine.Join(context.WithoutCancel(ctx), run, h.Library(), in.Params, h.Texts, states)
	return err
}

// leave closes a share some time after its last use.
func (h *Host) leave(run string, s *share) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.users--; s.users > 0 {
		return
	}
	s.idle = time.AfterFunc(idleTime, func() {
		h.mu.Lock()
		unused := s.users == 0 && h.shares[run] == s
		if unused {
			delete(h.shares, run)
		}
		h.mu.Unlock()
		if unused {
			h.close(run, s)
		}
	})
}

// close closes a share, and reports what people should know.
func (h *Host) close(run string, s *share) {
	if s.Share == nil {
		return
	}
	notices, err := s.Close(context.Background())
	if h.Report != nil && (len(notices) > 0 || err != nil) {
		h.Report(run, notices, err)
	}
}

// Close stops what is running, and ends what the steps of all runs have left running here.
func (h *Host) Close() {
	h.open()
	h.stop()
	h.running.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	var closing sync.WaitGroup
	for run, s := range h.shares {
		delete(h.shares, run)
		if s.idle != nil {
			s.idle.Stop()
		}
		closing.Go(func() { h.close(run, s) })
	}
	closing.Wait()
}

// input returns the input of the run: this worker knows it if it executes the workflow, too.
func (h *Host) input(ctx context.Context) (*interpreter.Input, error) {
	w := activity.GetInfo(ctx).WorkflowExecution
	h.mu.Lock()
	in := h.inputs[w.ID]
	h.mu.Unlock()
	if in != nil {
		return in, nil
	}
	answer, err := h.Client.QueryWorkflow(ctx, w.ID, w.RunID, interpreter.InputQuery)
	if err != nil {
		return nil, err
	}
	in = new(interpreter.Input)
	return in, answer.Get(in)
}
