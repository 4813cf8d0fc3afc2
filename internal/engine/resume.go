package engine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/library"
)

// ResumeOptions set how a run is resumed.
type ResumeOptions struct {
	// RerunInterrupted reruns every interrupted step, whatever its definition says.
	RerunInterrupted bool
	// RerunAsked reruns the steps that a person must decide about: the answer to Continuation.Asks.
	RerunAsked bool
	// Latest continues with the current definitions. Kept steps are matched by name.
	Latest bool
	// Params are the parameters that the record does not hold: the secret ones.
	Params map[string]any
}

// Resume works out what a person's order to resume the run does. In a run that has ended, steps that failed without
// being tolerated, were cancelled or interrupted, and everything downstream of them, run again; all other results are
// kept. A run that was interrupted is carried on, as Continue does. A run that only an answer carries on is not
// resumed, except with the current definitions (Latest): an *AwaitsAnswerError. Nothing on the result reports that
// there is nothing to do. Other errors: ErrLive; ErrNotStarted; a *ParamsError when a secret is missing; a
// *WithheldError; the errors of Compile.
func (p *RecordedRun) Resume(lib *library.Library, o ResumeOptions) (*Continuation, error) {
	if p.Info.Status != dag.Waiting || o.Latest {
		return p.proceed(lib, o)
	}
	open := p.unanswered()
	if len(open) == 0 || len(open) < len(p.Questions()) {
		return p.proceed(lib, o)
	}
	return nil, &outcome.AwaitsAnswerError{Run: p.Record.ID, Steps: open}
}

// Continue works out how a run that has not ended is carried on: after an answer, the end of a question's time, a
// restart, a crash. No step that has ended in it begins again, however it ended; a step that was interrupted follows
// its rule, and the options. Errors: ErrChanged if the run has ended, and those of Resume except *AwaitsAnswerError.
func (p *RecordedRun) Continue(lib *library.Library, o ResumeOptions) (*Continuation, error) {
	if p.finished() {
		return nil, fmt.Errorf("cannot continue run %s, which has ended: %w", p.Record.ID, history.ErrChanged)
	}
	return p.proceed(lib, o)
}

// unanswered returns the steps whose question is open: nobody has answered it, and its time is not over.
func (p *RecordedRun) unanswered() (steps []dag.ID) {
	for _, q := range p.Questions() {
		if !q.Over(time.Now()) && !slices.Contains(p.Info.Answered, q.Wait) {
			steps = append(steps, dag.ID(q.Step))
		}
	}
	return steps
}

// proceed works out what is left of the run. Whether failed steps are part of it depends on whether the run has ended.
func (p *RecordedRun) proceed(lib *library.Library, o ResumeOptions) (*Continuation, error) {
	if p.Info.Live() {
		return nil, fmt.Errorf("cannot resume run %s: %w", p.Record.ID, history.ErrLive)
	}
	if p.Info.Engine != "" {
		return nil, fmt.Errorf("cannot resume run %s: %w", p.Record.ID, outcome.ErrOtherEngine)
	}
	if err := p.checkStarted("resume"); err != nil && (p.absent == nil || !o.Latest) {
		return nil, err
	}
	if p.Record.RetryOf != "" && len(p.Events) == 0 { // the results to take over are not recorded
		return nil, fmt.Errorf("cannot resume run %s: flowrun was killed before the run began; retry run %s again", p.Record.ID, p.Record.RetryOf)
	}
	g := &Continuation{recorded: p}
	var err error
	if o.Latest {
		g.plan, err = compileRecord(p.Record, lib, fileOf(p.Record))
	} else {
		g.plan, err = p.plan(lib)
	}
	if err != nil {
		return nil, err
	}
	if err := checkWithheld(p.Record, o.Params); err != nil {
		return nil, err
	}
	if g.args, err = bindRecord(p.Record, g.plan, runEnvOf(p.Record), o.Params); err != nil {
		return nil, err
	}
	rules := dag.Rules{Open: p.unanswered(), Rerun: func(path dag.ID, n *dag.Node) bool {
		rule := g.rule(path)
		return o.RerunInterrupted || n.Cleanup || rule == plan.RetryWhenInterrupted || o.RerunAsked && rule == plan.AskWhenInterrupted
	}}
	if err := g.computeRemainder(rules); err != nil {
		return nil, err
	}
	if !o.RerunInterrupted && !o.RerunAsked {
		g.collectAsks()
	}
	return g, nil
}

// questions returns the questions that are open once the run continues with that event.
func (g *Continuation) questions(resumed dag.Event) []history.Question {
	s := g.recorded.fold(g.plan, g.args.Frame())
	s.Apply(resumed)
	return waiting.Questions(g.recorded.Record.ID, g.recorded.Record.Tool, s)
}

// restoreWaits restores to memory the output of steps whose waiting time is over.
func restoreWaits(s *dag.State) {
	s.Waits(func(_ dag.ID, _ uint64, r *dag.Result) {
		if then := r.Wait.Then; then != nil && then.Stdout != nil {
			if output.Restore(then.Stdout, math.MaxInt64) != nil { // lost or secret: the step then has no output
				then.Stdout = nil
			}
		}
	})
}

// resumeEvents returns the events with which the run continues.
func (g *Continuation) resumeEvents() []dag.Event {
	list := []dag.Event{{Kind: dag.RunResumed, Reset: g.Reset}}
	started := map[dag.ID]dag.Event{}
	for _, e := range g.recorded.Events {
		if e.Kind == dag.StepStarted {
			started[e.Node] = e
		}
	}
	ended := g.recorded.lastSign()
	for _, path := range g.Lost() {
		e := started[path]
		list = append(list, dag.Event{Kind: dag.StepFinished, Node: path, Attempt: e.Attempt, Reason: dag.ReasonInterrupted,
			Result: &dag.Result{Status: dag.Interrupted, ExitCode: 1, Reason: dag.ReasonInterrupted, Attempts: e.Attempt,
				Started: e.Time, Ended: ended, Message: "was running when flowrun was killed, and must not run twice (on-interrupt: fail)"}})
	}
	return list
}
