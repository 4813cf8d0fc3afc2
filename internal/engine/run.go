package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/keptstate"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/permtrace"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/sharedfiles"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/label"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/supervisor"
)

// job is one run that an Engine executes: a new one, or one that continues.
type job struct {
	runOptions
	plan         *plan.Plan
	args         *call.Frame
	created      time.Time       // of a new run; zero means the time of its RunEnv
	continuation *Continuation   // nil for a run from the start
	ledger       history.Ledger  // nil if nothing is recorded
	place        place           // where the run and its steps wait for what they demand
	kept         *history.Record // what is recorded of the run when it starts; nil if nothing is
	broker       *waiting.Broker
	retryAt      time.Time            // when the run is retried automatically; zero means never
	lockDemands  []history.LockDemand // what the run takes at its start
	enforced     bool                 // the record of the run says that permissions are enforced
	unheld       []string             // permissions that are not enforced, although they should be
	logs         string               // the run's log folder, "" for none
	session      *steps.Session
	account      account
	epoch        int                // of the processes, if nothing is recorded
	permissions  permtrace.Recorder // if they are traced
	queuedMu     sync.Mutex         // held while WithQueue is called about steps
}

// place is the place of a run in a queue: its ledger, or if nothing is recorded, one in the queue of the engine.
type place interface {
	Admit(context.Context, history.Admission) error
	Leave(step string) error
}

func (j *job) resumes() bool { return j.continuation != nil && !j.continuation.Retry }

// run carries out a job: it becomes the owner of the run, prepares its steps, walks its graph, and ends what is left
// of it.
func (e *Engine) run(ctx context.Context, j *job) (res *runresult.Result, err error) {
	j.lockDemands = lockDemandsOf(j.plan)
	if err := e.check(j); err != nil {
		return nil, err
	}
	defer e.sweepOnce(ctx)()
	if j.resumes() {
		if err := e.claim(ctx, j); err != nil {
			return nil, err
		}
	}
	tee := newOutputTee(j.plan, j.runOptions)
	j.account.noticed = j.noticed
	tee.short = j.shortOutput && e.config.StateDir != ""
	e.noteLimits(j)
	if err := e.prepare(ctx, j, tee); err != nil {
		return nil, errors.Join(err, j.closeLedger())
	}
	j.broker = waiting.NewBroker(ctx, j.id, j.plan.Name(), j.approval, e.config.Store, j.ledger, j.session, j.account.note)
	j.args.Answerable = j.broker.CanAnswer()
	if j.resumes() && j.onRecorded != nil {
		j.onRecorded()
	}
	clock := newClock()
	if j.resumes() {
		clock = clockOf(j.continuation.recorded.Events)
	}
	j.sinks = append(j.sinks, clock)
	defer j.observe(e.config.Observers)()
	caller := ctx
	ctx, release := j.watchLedger(ctx)
	defer release()
	state, err := e.execute(ctx, j)
	e.endTemps(j, state, err)
	j.broker.Stop()
	waits := err == nil && state.Result() == nil
	if res = j.result(state, waits); caller.Err() != nil {
		runresult.SetCause(res, errors.Join(caller.Err(), context.Cause(caller)))
	}
	clock.set(res, j.startedAt(), time.Now())
	if err == nil {
		res.RetryAt = j.retryAt
	}
	if outErr := tee.finish(res); err == nil {
		err = outErr
	}
	closeErr := j.session.Close(context.WithoutCancel(ctx))
	err = cmp.Or(err, j.reportPermissions(res))
	res.Notices = append(slices.Clip(state.Notices()), j.account.rest()...)
	if waits && closeErr == nil && j.ledger != nil {
		closeErr = j.ledger.Suspend(res.Message, waiting.Holds(state))
	}
	return res, cmp.Or(err, closeErr, j.closeLedger())
}

// noteLimits reports what this machine cannot do for the run.
func (e *Engine) noteLimits(j *job) {
	if most := proc.MaxParallel(); e.config.Parallel > most {
		j.account.note(notice.Notice{Code: notice.Shortage, Message: fmt.Sprintf("max-parallel is reduced from %d to %d: this process may have only %d open files; raise the limit (ulimit -n)",
			e.config.Parallel, most, proc.MaxFiles())})
	}
	for _, what := range j.unheld {
		j.account.note(notice.Notice{Code: notice.Unenforced, Message: what})
	}
	if e.config.Store != nil && e.config.StateDir == "" && j.plan.KeepsArtifacts() {
		j.account.note(notice.Notice{Code: notice.NotResumable, Message: "the run cannot be resumed behind steps that have artifacts, because these are removed with it: the engine has no StateDir"})
	}
}

// noteMasked reports a definition that the history has without a secret and that no file has with it.
func (j *job) noteMasked() {
	for i := range j.kept.Sources {
		s := &j.kept.Sources[i]
		if s.Original == "" || s.Scope == tool.ScopeDiscovered {
			continue
		}
		if _, err := os.Stat(s.File); err != nil {
			j.account.note(notice.Notice{Code: notice.NotResumable, Message: fmt.Sprintf(
				"only a program that has the definition can resume the run: %s contains a secret and is stored masked, and no file has it", cmp.Or(s.File, s.Name))})
		}
	}
}

// result returns the result of a run whose walk has ended in a state, or waits for an answer.
func (j *job) result(state *dag.State, waits bool) *runresult.Result {
	res := runresult.New(j.id, j.plan, j.args.Shown(), state)
	res.LockDemands, res.Enforced, res.Unenforced = j.lockDemands, j.args.Confine.Enforced, j.unheld
	if waits {
		runresult.SetWaiting(res, waiting.Questions(j.id, j.plan.Name(), state))
	}
	if j.kept != nil {
		res.Labels, res.Definitions, res.Attempt = j.kept.Labels, runresult.DefinitionsOf(j.kept.Sources), j.kept.Attempt
	}
	if j.continuation != nil {
		res.RetryOf = j.retryOf()
	}
	return res
}

// check rejects a run that this program cannot execute as its plan says, or for whose slots and state it has no pool and no
// store.
func (e *Engine) check(j *job) error {
	if err := e.checkSupport(j); err != nil {
		return err
	}
	if err := e.checkTrace(j); err != nil {
		return err
	}
	if j.plan.KeepsState && e.config.Store == nil {
		return &outcome.NoStateError{Tool: j.plan.Name()}
	}
	if err := poolError(j.plan, e.config.Pools); err != nil {
		return err
	}
	return nil
}

// checkSupport rejects a run that needs what this program, or its caller, does not have.
func (e *Engine) checkSupport(j *job) error {
	if err := j.plan.Supported(); err != nil {
		return err
	}
	if err := j.checkStreamReceiver(); err != nil {
		return err
	}
	if err := label.CheckAll(j.labels); err != nil {
		return err
	}
	return e.checkConfinement(j)
}

// observe adds the sinks of the observers to the run. The caller calls done when the engine has finished with the run.
func (j *job) observe(observers []Observer) (done func()) {
	var ends []func()
	run := j.observed()
	for _, o := range observers {
		sink, end := o(run)
		if sink != nil {
			j.sinks = append(j.sinks, sink)
		}
		if end != nil {
			ends = append(ends, end)
		}
	}
	return func() {
		for _, end := range ends {
			end()
		}
	}
}

// observed describes the run to observers.
func (j *job) observed() history.ObservedRun {
	o := history.ObservedRun{ID: j.id, Tool: j.plan.Name(), Trace: j.trace, Caller: j.trace}
	if j.continuation == nil {
		return o
	}
	recorded := j.continuation.recorded
	if j.resumes() {
		o.Trace, o.Recorded = recorded.Record.Trace, recorded.Events
	} else {
		o.RetryOf, o.RetryTrace = recorded.Record.ID, recorded.Record.Trace
	}
	return o
}

// startedAt returns when the run first started, here or in an earlier process.
func (j *job) startedAt() time.Time {
	if j.resumes() {
		return j.continuation.recorded.Record.Created
	}
	return j.createdAt()
}

// lastSign returns when the run was created, or of a resumed run, when its last owner was last known to live.
func (j *job) lastSign() time.Time {
	if j.resumes() {
		return j.continuation.recorded.lastSign()
	}
	return j.createdAt()
}

// createdAt returns when a new run starts.
func (j *job) createdAt() time.Time {
	if j.created.IsZero() {
		return j.args.RunEnv.Time
	}
	return j.created
}

// claim makes the engine the owner of a resumed run, and ends what an earlier owner left.
func (e *Engine) claim(ctx context.Context, j *job) (err error) {
	recorded := j.continuation.recorded
	j.kept = recorded.Record
	if j.ledger, err = e.config.Store.Claim(ctx, j.id, recorded.seq()); err != nil {
		return fmt.Errorf("cannot continue run %s: %w", j.id, err)
	}
	_, err = proc.Recover(j.id, e.domain, j.continuation.detached()).Close(ctx, e.grace())
	if err = errors.Join(err, rundir.SweepPrivate(j.id)); err != nil {
		return errors.Join(fmt.Errorf("cannot clean up after run %s: %w", j.id, err), j.closeLedger())
	}
	return nil
}

// endLeftoversOf ends what a killed engine has left of a run with nothing left to do: its end was already recorded, but
// its background processes were not ended. The run gets no event. A run that is live, or has continued meanwhile, is
// left alone: its own engine does this.
func (e *Engine) endLeftoversOf(ctx context.Context, g *Continuation) (*runresult.Result, error) {
	j := &job{continuation: g}
	j.id = g.recorded.Record.ID
	err := e.claim(ctx, j)
	if errors.Is(err, history.ErrLive) || errors.Is(err, history.ErrChanged) {
		err = nil
	}
	return g.recorded.Result(), cmp.Or(err, j.closeLedger())
}

// grace returns how long processes of an earlier owner may take to end.
func (e *Engine) grace() time.Duration { return cmp.Or(max(e.config.Grace, 0), steps.DefaultGrace) }

// prepare opens the session, collects the secrets, and records a new run.
func (e *Engine) prepare(ctx context.Context, j *job, tee *outputTee) (err error) {
	epoch := max(j.epoch, 1)
	if j.ledger != nil {
		epoch = j.ledger.Epoch()
	}
	o := steps.Options{Run: j.id, Epoch: epoch, Env: j.args.RunEnv.Env, Grace: e.config.Grace, Force: j.force,
		Host: e.host(procid.Mark(j.id, epoch)), Unenforced: len(j.unheld) > 0, Parallel: e.slots.Size(), Helper: e.config.Helper, Egress: e.config.Egress, Follow: tee.follow, Notify: j.account.note, Function: j.stream, Progress: j.progress, Prompt: j.prompt, HTTP: e.config.HTTP}
	if trace := e.config.Trace; trace != nil {
		o.Trace = func(path dag.ID, attempt int) (string, string) { return trace(j.id, path, attempt) }
	}
	if j.tracePermissions {
		o.Observe = j.permissions.Observe
	}
	tee.configure(&o)
	if e.config.StateDir != "" {
		j.logs = rundir.LogFolder(e.config.StateDir, j.id)
		o.LogDir, o.Recorded = j.logs, e.config.Store != nil
	}
	if j.session, err = steps.Open(o); err != nil {
		return err
	}
	j.args.Artifacts = artifact.NewRun(e.artifactState(j), j.id, artifact.Limits(e.config.Artifacts))
	j.args.Files = new(sharedfiles.Run)
	j.args.Cache, j.args.State, j.args.Tools = e.caching(j.withoutCache), e.config.StateDir, e.toolDir()
	err = j.args.WithoutSecrets(j.args.Begin(ctx, j.session, j.id, ""))
	if err == nil && j.tracePermissions {
		j.permissions.Start(j.traceOptions(e.config.StateDir))
	}
	if err == nil && j.resumes() {
		err = checkUnchanged(j.continuation.recorded.Record, j.args)
	}
	if err == nil && j.ledger == nil && e.config.Store != nil {
		err = j.begin(ctx, e.config.Store)
	}
	if err != nil {
		if j.ledger == nil {
			j.session.EndTemps(false)
		}
		j.session.Close(ctx)
	}
	return err
}

// endTemps ends the temporary directories of a run that has ended. One that is recorded can be resumed until it has
// succeeded; its directories are removed together with its record. Without a state directory nobody would find them then.
func (e *Engine) endTemps(j *job, state *dag.State, err error) {
	switch ended := state.Result(); {
	case e.config.Store == nil:
		j.session.EndTemps(false)
	case err == nil && ended != nil:
		j.session.EndTemps(ended.Status != dag.Succeeded && e.config.StateDir != "")
	}
}

// begin records a new run.
func (j *job) begin(ctx context.Context, s history.Store) (err error) {
	j.kept = j.record()
	if j.ledger, err = s.Begin(ctx, j.kept); err != nil {
		return fmt.Errorf("cannot record the run: %w", err)
	}
	j.noteMasked()
	if j.onRecorded == nil {
		return nil
	}
	if err := j.ledger.Sync(ctx); err != nil {
		return errors.Join(err, j.closeLedger())
	}
	j.onRecorded()
	return nil
}

// retryOf returns the id of the run that this one retries, "" for none.
func (j *job) retryOf() string {
	switch {
	case j.continuation == nil:
		return ""
	case j.continuation.Retry:
		return j.continuation.recorded.Record.ID
	}
	return j.continuation.recorded.Record.RetryOf
}

// execute waits in the queue, and then runs the graph.
func (e *Engine) execute(ctx context.Context, j *job) (*dag.State, error) {
	if j.place = j.ledger; j.ledger == nil {
		j.place = e.local.Run(j.id)
	}
	o, err := e.walkOptions(j)
	if err != nil {
		return dag.NewState(j.id, j.plan.Graph, j.args), err
	}
	if err := e.queue(ctx, j); err != nil {
		return j.withdraw(ctx, o, err)
	}
	if err := e.readState(ctx, j); err != nil {
		return j.refuse(ctx, o, err)
	}
	j.broker.Start()
	o.Answers, o.Attended = j.broker.Answers, j.approval != nil
	return dag.Run(ctx, j.plan.Graph, j.args, o)
}

// readState reads the state of the run's tool. Nested tools read theirs when they start. A retry with results of
// another run reads what that run has read, so that it cannot overwrite what others have kept since then.
func (e *Engine) readState(ctx context.Context, j *job) error {
	if !j.plan.KeepsState {
		return nil
	}
	from := ""
	if j.continuation != nil && j.continuation.Retry && len(j.continuation.Kept) > 0 {
		from = j.retryOf()
	}
	j.args.States = func(ctx context.Context, id history.StateID) ([]history.StateValue, error) {
		values, err := j.ledger.ReadState(ctx, id, from)
		if err == nil && len(values) == 0 {
			j.noteLostState(ctx, e.config.Store, id)
		}
		return values, err
	}
	return j.args.ReadState(ctx)
}

// noteLostState makes a notice if a tool without values had some in another file.
func (j *job) noteLostState(ctx context.Context, s history.StateStore, id history.StateID) {
	all, err := s.State(ctx, history.StateID{})
	if err != nil {
		return // ReadState reports what is wrong with the Store
	}
	if lost := keptstate.Lost(all, id); len(lost) > 0 {
		j.account.note(notice.OfLostState(id, lost))
	}
}

// walkOptions returns the options for running the graph.
func (e *Engine) walkOptions(j *job) (o dag.Options, err error) {
	o = dag.Options{ID: j.id, Since: j.lastSign(), Slots: e.slots, Sinks: slices.Concat(e.config.Sinks, j.sinks), Cleanup: e.config.Cleanup, Force: j.force,
		Release: j.release.gently, Abandon: j.release.now, Around: j.around, Acquire: e.acquirer(j)}
	o.Journal = e.journal(j)
	o.Sinks = append(o.Sinks, j.broker)
	switch {
	case j.resumes():
		o.Carry, o.Opening = j.continuation.recorded.fold(j.plan, j.args), j.continuation.resumeEvents()
		j.account.resume(o.Carry.Notices())
		j.broker.AlreadyOpen = j.continuation.questions(o.Opening[0])
		restoreWaits(o.Carry)
	case j.continuation != nil:
		o.Opening, err = j.continuation.retryEvents(j.logs)
	}
	return o, err
}

// journal returns what the events of the run go to.
func (e *Engine) journal(j *job) dag.Journal {
	all := accountJournal{account: &j.account, end: func(e *dag.Event) {
		j.session.End(context.Background())
		j.planAttempt(e)
	}}
	if j.ledger == nil {
		return all
	}
	all.inner = runresult.WholeStreams{Journal: j.ledger, Logs: j.logs}
	if e.config.Journal != nil {
		all.inner = e.config.Journal(all.inner)
	}
	if j.plan.KeepsState {
		all.inner = keptstate.Journal{Journal: all.inner, Failed: j.planAttempt}
	}
	return all
}

// watchLedger cancels the run when its ledger says so: on a request to stop it, or because another owner has it now.
func (j *job) watchLedger(ctx context.Context) (context.Context, func()) {
	if j.ledger == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case reason := <-j.ledger.CancelRequests():
				cancel(errors.New(reason))
			case <-j.ledger.Lost():
				cancel(history.ErrFenced)
				return
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// closeLedger closes the ledger: the run has ended, or another owner may resume it. A run without one leaves the queue.
func (j *job) closeLedger() error {
	if own, local := j.place.(*history.LocalRun); local {
		own.Close()
	}
	if j.ledger == nil {
		return nil
	}
	if err := j.ledger.Close(); err != nil {
		return fmt.Errorf("cannot close the run's record: %w", err)
	}
	return nil
}

// host returns what starts the run's processes: this process if it is the reaper of orphans itself (the flowrun
// command) or if there is no supervisor process.
func (e *Engine) host(mark string) proc.Host {
	if proc.IsReaper() || e.config.Helper == "" && !supervisor.Enabled() {
		return proc.Open(mark, e.domain)
	}
	return supervisor.New(mark, e.config.Helper, e.domain)
}

// checkStreamReceiver rejects a run whose steps stream to a function, if the caller has not given one.
func (j *job) checkStreamReceiver() error {
	if j.stream != nil {
		return nil
	}
	var ds tool.Diagnostics
	for _, s := range j.plan.Streams(steps.StreamToFunction) {
		ds = append(ds, tool.Diagnostic{Code: "no-function", Severity: tool.Error, Pos: s.Output.StreamPos, Path: "output.stream-callback",
			Message: "step " + s.Name + " streams its output to a function, but only a Go program can provide one",
			Hint:    "use stream-callback: console or file, or run the tool with flowrun.WithStream"})
	}
	return ds.Err()
}

// checkConfinement decides whether the permissions of the run's tools are enforced, and rejects a run whose confinement
// cannot be enforced. If WithAround replaces the steps' work, each step checks that for itself.
func (e *Engine) checkConfinement(j *job) error {
	enforcement := e.enforcement(j)
	j.args.Enforce(enforcement)
	outer := confinement.Confinement{Enforced: enforcement != call.EnforceDemanded}
	if f := e.config.Foreign; f != nil {
		if err := f.check(j.plan); err != nil {
			return err
		}
		outer = f.confinement()
		j.args.Limit(outer)
	}
	if j.around != nil {
		return nil
	}
	var problems []string
	add := func(list *[]string, errs []error) {
		for _, err := range errs {
			if !slices.Contains(*list, err.Error()) {
				*list = append(*list, err.Error())
			}
		}
	}
	j.plan.Demands(outer, func(c confinement.Confinement, step, problem string) {
		if step != "" {
			if problem != "" {
				problems = append(problems, "step "+step+": "+problem)
			}
			return
		}
		add(&problems, c.Check(j.args.RunEnv.Env))
		if !j.tracePermissions {
			add(&j.unheld, c.CheckGrants(confinement.Means{Proxy: e.config.Egress != nil, Helper: e.config.Helper}))
		}
		add(&j.unheld, c.CheckLimits())
	})
	if !e.allowsUnenforced(j) {
		problems = append(problems, j.unheld...)
	}
	if len(problems) == 0 {
		return nil
	}
	return &outcome.ConfinementError{Tool: j.plan.Name(), Problems: problems}
}

// enforcement returns for which tools of the run the engine enforces permissions. What was enforced when the run
// started is enforced in all its parts.
func (e *Engine) enforcement(j *job) call.Enforcement {
	wanted := e.config.Enforce.of(j.plan, j.startedBy())
	if recorded := j.enforced || j.resumes() && j.continuation.recorded.Record.Enforced; recorded && wanted == call.EnforceDemanded {
		return call.EnforceAll
	}
	return wanted
}

// of returns for which tools of a run permissions are enforced, if this is the setting.
func (e Enforcement) of(p *plan.Plan, origin string) call.Enforcement {
	switch {
	case !p.HasPermissions():
	case e == EnforceAlways:
		return call.EnforceAll
	case e == EnforceModels && CalledByModel(origin):
		return call.EnforceModels
	}
	return call.EnforceDemanded
}

// startedBy returns the origin of the run. A resumed run keeps its own.
func (j *job) startedBy() string {
	if j.resumes() {
		return j.continuation.recorded.Record.Origin
	}
	return j.origin
}

// allowsUnenforced reports whether the run may start although permissions cannot be enforced. What was allowed when it
// started is allowed when it is resumed.
func (e *Engine) allowsUnenforced(j *job) bool {
	return e.config.Foreign == nil && (e.config.AllowUnenforced || j.resumes() && len(j.continuation.recorded.Record.Unenforced) > 0)
}
