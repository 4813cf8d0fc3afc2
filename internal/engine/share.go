package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

// Share is the share that one program has in a run whose graph another program walks, with a dag.Machine. It carries out
// single steps, in the environment of this process and with its secrets. It is safe for concurrent use.
type Share struct {
	job       *job
	texts     Texts
	performer dag.Performer
	done      func()
	files     sharedArtifacts
}

// Texts keeps what steps print, and the files that are kept of them, where all shares in a run can read it.
type Texts interface {
	artifact.Depot
	// Keep stores the file of a stream and sets its File to the name of what was stored.
	Keep(ctx context.Context, o *dag.Output) error
	// Fetch sets File to a file that has what Keep stored.
	Fetch(ctx context.Context, o *dag.Output) error
	// KeepSecret stores the Raw of a stream that was masked, and sets its Digest to the name of what was stored. It
	// does nothing if it cannot encrypt.
	KeepSecret(ctx context.Context, o *dag.Output) error
	// FetchSecret sets Raw to what KeepSecret stored.
	FetchSecret(ctx context.Context, o *dag.Output) error
}

// Record returns what a Store would keep of a run with these parameters, for a program that runs it with a dag.Machine
// and Shares. Secret parameters are withheld, and secrets in the definitions are masked. If an Engine with that
// Config.Enforce would enforce the permissions of the run, all Shares in it do.
func (a *Args) Record(id, origin string, e Enforcement) (*history.Record, error) {
	f := a.bound.Preview()
	defer f.Session().Discard()
	f.Enforce(e.of(a.bound.Plan, origin))
	if err := f.OpenEnvironment(a.ctx); err != nil {
		return nil, err
	}
	j := &job{plan: a.bound.Plan, args: f}
	j.id, j.origin = id, origin
	return j.record(), nil
}

// Pool returns the pool of which an attempt of a step of the plan holds a slot, "" for none. The caller has steps wait
// for slots if programs share the run.
func (p *Plan) Pool(step string) string {
	if _, s := p.compiled.Find(dag.ID(step)); s != nil && s.Claim != nil {
		return s.Claim.Pool
	}
	return ""
}

// Join prepares a Share in a run. params are the parameters that the record withholds. states reads what tools have kept, for
// this run: the same in all Shares. The caller closes the Share.
func (e *Engine) Join(ctx context.Context, p *RecordedRun, lib *library.Library, params map[string]any, texts Texts, states call.StateReader) (*Share, error) {
	compiled, err := p.plan(lib)
	if err != nil {
		return nil, err
	}
	j := &job{plan: compiled, enforced: p.Record.Enforced}
	j.id, j.origin = p.Record.ID, p.Record.Origin
	share := &Share{job: j, texts: texts}
	w := runEnvOf(p.Record)
	env, done := e.scripts(w.filled(), &j.runOptions)
	share.done = done
	if err := share.open(ctx, e, p.Record, env, params, states); err != nil {
		done()
		return nil, err
	}
	return share, nil
}

func (p *Share) open(ctx context.Context, e *Engine, r *history.Record, env *call.RunEnv, params map[string]any, states call.StateReader) error {
	given, err := givenOf(r, p.job.plan, params)
	if err != nil {
		return err
	}
	bound, err := call.Bind(ctx, p.job.plan, env, given)
	if err != nil {
		return err
	}
	p.job.args = bound.Frame()
	if err := e.checkSupport(p.job); err != nil { // the service has the locks and slots of the run
		return err
	}
	e.sweepOnce(ctx)()
	p.job.epoch = os.Getpid() // several programs may have a share in the run, on one machine
	if err := e.prepare(ctx, p.job, newOutputTee(p.job.plan, p.job.runOptions)); err != nil {
		return err
	}
	if p.job.logs != "" { // what is needed of them is kept elsewhere
		p.job.session.RemoveAtClose(filepath.Dir(p.job.logs))
	}
	p.job.args.States = states
	if err := p.job.args.ReadState(ctx); err != nil {
		_, closeErr := p.end(ctx)
		return errors.Join(err, closeErr)
	}
	p.job.args.Answerable = true
	p.performer = dag.Performer{Run: p.job.id, Graph: p.job.plan.Graph, Args: p.job.args}
	return nil
}

// Perform carries out an order. An error means that the engine could not do its job.
func (p *Share) Perform(ctx context.Context, o *dag.Order) (out dag.Outcome, err error) {
	if err := p.restore(ctx, o); err != nil {
		out.Result = dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: p.job.session.Mask().String(err.Error()), Started: time.Now(), Ended: time.Now()}
		out.Permanent = true
		return out, nil
	}
	if out, err = p.performer.Perform(ctx, o); err != nil {
		return out, p.job.args.WithoutSecrets(err)
	}
	kept := []*dag.Output{out.Result.Stdout, out.Result.Stderr}
	if w := out.Result.Wait; w != nil && w.Then != nil {
		kept = append(kept, w.Then.Stdout, w.Then.Stderr)
	}
	ctx = context.WithoutCancel(ctx) // a stopped step has output, too
	if err := p.keepOutputs(ctx, out.Result.Outputs); err != nil {
		return out, err
	}
	for _, s := range kept {
		if err := p.keep(ctx, s); err != nil {
			return out, err
		}
	}
	return out, p.depositArtifacts(ctx, &out.Result)
}

// Answer returns the result of the step that asked a question and got this answer.
func (p *Share) Answer(ctx context.Context, q history.Question, a history.Answer) (dag.Result, error) {
	r := waiting.AnswerResult(p.job.session, q, a)
	return *r, p.keep(ctx, r.Stdout)
}

// keep stores what a result does not hold of a stream.
func (p *Share) keep(ctx context.Context, o *dag.Output) error {
	if o == nil {
		return nil
	}
	if o.Masked && o.Raw != "" {
		if err := p.texts.KeepSecret(ctx, o); err != nil {
			return err
		}
	}
	switch {
	case o.Whole():
		o.File = ""
	case o.File != "":
		return p.texts.Keep(ctx, o)
	}
	return nil
}

// keepOutputs stores declared outputs that were masked; others are in the result as they are.
func (p *Share) keepOutputs(ctx context.Context, o *dag.Outputs) error {
	if o == nil || !o.Masked || o.Raw == nil {
		return nil
	}
	text, err := json.Marshal(o.Raw)
	if err != nil {
		return err
	}
	secret := &dag.Output{Raw: string(text)}
	err = p.texts.KeepSecret(ctx, secret)
	o.Digest = secret.Digest
	return err
}

// restoreOutputs restores to memory declared outputs that were masked.
func (p *Share) restoreOutputs(ctx context.Context, o *dag.Outputs) error {
	if o == nil || !o.Masked || o.Raw != nil {
		return nil
	}
	secret := &dag.Output{Digest: o.Digest}
	if err := p.texts.FetchSecret(ctx, secret); err != nil {
		return err
	}
	return value.DecodeJSON(secret.Raw, &o.Raw)
}

// restore restores to memory the streams that the order reads.
func (p *Share) restore(ctx context.Context, o *dag.Order) error {
	path := o.Path
	readers := append(path.Ancestors(), path)
	if o.Given != nil {
		_, s := p.job.plan.Find(path)
		if err := p.restoreStreams(ctx, o.Given, readOfGiven(o.Kind, s)); err != nil {
			return err
		}
	}
	for level := range o.Walks {
		if o.Kind == dag.OrderComplete && level == len(o.Walks)-1 {
			return p.restoreWalk(ctx, o, path)
		}
		_, s := p.job.plan.Find(readers[level])
		if s == nil {
			continue
		}
		for name, streams := range s.Mentioned {
			if err := p.restoreNamed(ctx, o.Walks[:level+1], dag.ID(name), streams); err != nil {
				return err
			}
		}
	}
	return nil
}

// readOfGiven returns the streams of an attempt that the condition after it reads.
func readOfGiven(kind dag.OrderKind, s *plan.Step) (streams steps.Streams) {
	var condition *expr.Condition
	switch {
	case s == nil:
	case kind == dag.OrderRetry:
		condition = s.RetryWhen
	case kind == dag.OrderRepeat:
		condition = s.RepeatUntil
	}
	if condition == nil {
		return 0
	}
	for _, r := range condition.Refs() {
		if r.Class == expr.Last || r.Class == expr.Step && r.Root == s.Def.Name {
			streams |= plan.Read(r)
		}
	}
	return streams
}

// restoreWalk restores what the completion of a graph or loop reads: what the output template of the tool mentions, or
// what the items of the loop have printed.
func (p *Share) restoreWalk(ctx context.Context, o *dag.Order, holder dag.ID) error {
	in, s := p.job.plan, (*plan.Step)(nil)
	if holder != "" {
		if _, s = p.job.plan.Find(holder); s == nil {
			return nil
		}
		in = s.Nested
	}
	w := &o.Walks[len(o.Walks)-1]
	switch {
	case s != nil && s.Loop != nil && (w.Items > 0 || len(w.Results) == 0):
		return p.restoreItems(ctx, w, s.Loop.Keep)
	case in == nil:
		return nil
	}
	for name, streams := range in.ReadAtEnd() {
		if err := p.restoreNamed(ctx, o.Walks, dag.ID(name), streams); err != nil {
			return err
		}
	}
	return nil
}

// restoreItems restores what the items of a loop printed, up to the limit that the loop keeps of all of them.
func (p *Share) restoreItems(ctx context.Context, w *dag.Walk, keep int64) error {
	restored := int64(0)
	for _, r := range w.Results {
		if err := p.restoreStreams(ctx, r.Result, steps.Outputs); err != nil {
			return fmt.Errorf("the outputs of item %s: %w", r.Node, err)
		}
		out := r.Result.Stdout
		if out == nil {
			continue
		}
		if restored += out.Size; restored > keep {
			out.Truncated = true
			continue
		}
		if err := p.restoreStreams(ctx, r.Result, steps.Stdout); err != nil {
			return fmt.Errorf("the output of item %s: %w", r.Node, err)
		}
	}
	return nil
}

// restoreNamed restores streams of the step that a name means in the innermost of the walks: a step there, or in a
// group or loop around it.
func (p *Share) restoreNamed(ctx context.Context, walks []dag.Walk, name dag.ID, streams steps.Streams) error {
	for level := len(walks) - 1; level >= 0; level-- {
		for _, r := range walks[level].Results {
			if r.Node != name {
				continue
			}
			if err := p.restoreStreams(ctx, r.Result, streams); err != nil {
				return fmt.Errorf("the output of step %s: %w", name, err)
			}
			return nil
		}
	}
	return nil
}

func (p *Share) restoreStreams(ctx context.Context, r *dag.Result, streams steps.Streams) error {
	if streams&steps.Outputs != 0 {
		if err := p.restoreOutputs(ctx, r.Outputs); err != nil {
			return err
		}
	}
	if streams&steps.Artifacts != 0 {
		if err := p.withdrawArtifacts(ctx, r); err != nil {
			return err
		}
	}
	for which, o := range map[steps.Streams]*dag.Output{steps.Stdout: r.Stdout, steps.Stderr: r.Stderr} {
		if o == nil || streams&which == 0 || o.Raw != "" {
			continue
		}
		if err := p.restoreStream(ctx, o); err != nil {
			return err
		}
	}
	return nil
}

func (p *Share) restoreStream(ctx context.Context, o *dag.Output) error {
	if o.Masked {
		if err := p.texts.FetchSecret(ctx, o); err != nil || o.Raw != "" {
			return err
		}
	} else if o.File != "" {
		if err := p.texts.Fetch(ctx, o); err != nil {
			return err
		}
	}
	return output.Restore(o, p.limit(o))
}

// limit returns how much of a stream references can read.
func (p *Share) limit(o *dag.Output) int64 {
	if !o.Truncated {
		return math.MaxInt64
	}
	limit := int64(0)
	p.job.plan.Each(func(s *plan.Step) {
		if c := s.BaseCommand(); c != nil {
			limit = max(limit, c.Limit)
		}
	})
	return cmp.Or(limit, steps.DefaultLimit)
}

// Close ends the processes that steps have left, and returns what people should know.
func (p *Share) Close(ctx context.Context) ([]notice.Notice, error) {
	defer p.done()
	return p.end(ctx)
}

// end ends the session of a Share.
func (p *Share) end(ctx context.Context) ([]notice.Notice, error) {
	p.job.session.EndTemps(false) // whoever resumes the run may do so on another machine
	err := p.job.session.Close(ctx)
	return p.job.account.rest(), err
}
