package flowruntest

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// Answer is what one attempt of a step does. The zero Answer ends at once, prints nothing and succeeds.
type Answer struct {
	Takes  time.Duration // on the run's clock
	Stdout string
	Stderr string
	Exit   int  // exit code; any other than 0 fails the attempt
	Hangs  bool // it ends only when it is stopped, by a timeout or a cancel
	// Do, if set, is called when the attempt begins, before Takes: to inspect the Call, or to cancel the run at that
	// point.
	Do func(Call)
}

// Call is one attempt of a step, as the engine requested it.
type Call struct {
	Step    string        // path, such as setup/clone or test[3]
	Attempt int           // counts from 1
	At      time.Duration // since the run began, on its clock
	Command string        // the command as it would have run, secrets masked; the text of a script; "" for a step written in Go
}

// Script defines the answers of a tool's steps. Create one with New; do not change it after calling Run.
type Script struct {
	rules []rule
}

type rule struct {
	pattern string
	answers []Answer
}

// New returns a Script without answers.
func New() *Script { return &Script{} }

// On sets the answers of a step: the first one for its first attempt, the second for its second, the last one for all
// further attempts; without answers it is one zero Answer. Name the step by its path without attempt numbers. *
// matches any text without a slash (path.Match), so test[*] matches all items of a loop. If several rules match, the
// last one applies.
func (s *Script) On(step string, answers ...Answer) *Script {
	if len(answers) == 0 {
		answers = []Answer{{}}
	}
	// In path.Match, brackets would be a character class.
	pattern := strings.NewReplacer("[", `\[`, "]", `\]`).Replace(step)
	s.rules = append(s.rules, rule{pattern, answers})
	return s
}

// Run is the result of a run, with what it requested.
type Run struct {
	*flowrun.Result
	Calls  []Call        // in the order in which the attempts began
	Took   time.Duration // on the run's clock
	Events []dag.Event
}

// Of returns the calls of one step, by its path without attempt numbers.
func (r *Run) Of(step string) []Call {
	var list []Call
	for _, c := range r.Calls {
		if string(dag.ID(c.Step).WithoutAttempts()) == step {
			list = append(list, c)
		}
	}
	return list
}

// Order returns the paths of the steps that began, each once, in that order.
func (r *Run) Order() []string {
	var list []string
	seen := map[string]bool{}
	for _, c := range r.Calls {
		if !seen[c.Step] {
			seen[c.Step] = true
			list = append(list, c.Step)
		}
	}
	return list
}

// Option changes how Script.Run runs a plan.
type Option func(*options)

type options struct {
	parallel int
	cancel   time.Duration
	engine   func(*flowrun.Config)
}

// Parallel limits how many steps run at once. The default is 8, on every machine.
func Parallel(n int) Option { return func(o *options) { o.parallel = n } }

// CancelAfter cancels the run at that time on its clock, as Ctrl-C does.
func CancelAfter(d time.Duration) Option { return func(o *options) { o.cancel = d } }

// Config calls f to change the engine's configuration, for example to add a store or a sink.
func Config(f func(*flowrun.Config)) Option { return func(o *options) { o.engine = f } }

// Run runs the plan with the script's answers. It ends the test if the engine cannot do its work or the parameters
// are invalid, and marks it as failed if a step is not in the script; whether a failed run is an error is for the
// test to decide. Do not call it in a bubble of testing/synctest: it creates its own.
func (s *Script) Run(t *testing.T, p *flowrun.Plan, params map[string]any, opts ...Option) *Run {
	t.Helper()
	o := options{parallel: 8}
	for _, opt := range opts {
		opt(&o)
	}
	r := &Run{}
	var err error
	synctest.Test(t, func(t *testing.T) { err = s.run(t, p, params, o, r) })
	if err != nil {
		t.Fatalf("cannot run %s: %v", p.Name(), err)
	}
	return r
}

func (s *Script) run(t *testing.T, p *flowrun.Plan, params map[string]any, o options, r *Run) (err error) {
	config := flowrun.Config{Parallel: o.parallel, Pools: p.PoolsForTests()}
	if o.engine != nil {
		o.engine(&config)
	}
	if config.JavaScript == nil { // for transforms; a test has no HelperMain
		config.JavaScript = hooks.New(hooks.Config{InProcess: true})
		defer config.JavaScript.Close()
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if o.cancel > 0 {
		defer time.AfterFunc(o.cancel, cancel).Stop()
	}
	began := time.Now()
	a := &actor{script: s, t: t, began: began, run: r}
	r.Result, err = flowrun.New(config).Run(ctx, p, params, flowrun.WithAround(a.act),
		flowrun.WithSink(dag.SinkFunc(func(e dag.Event) { r.Events = append(r.Events, e) })))
	r.Took = time.Since(began)
	return err
}

// actor answers for the steps of one run.
type actor struct {
	script *Script
	t      *testing.T
	began  time.Time

	mu  sync.Mutex
	run *Run
}

func (a *actor) act(ctx context.Context, c *dag.Call, runner dag.Runner) (dag.Result, error) {
	f, ok := c.Args().(steps.Frame)
	if !ok {
		return dag.Result{}, fmt.Errorf("unexpected arguments of type %T", c.Args())
	}
	call := Call{Step: string(c.Path), Attempt: c.Attempt, At: time.Since(a.began)}
	if cmd := engine.CommandOf(runner); cmd != nil {
		call.Command = cmd.Template.Display(f.Scope(c.View), f.Session().Mask().String)
	} else {
		call.Command = f.Session().Mask().String(engine.ScriptOf(runner))
	}
	a.mu.Lock()
	a.run.Calls = append(a.run.Calls, call)
	a.mu.Unlock()
	answer, ok := a.script.answer(c)
	if !ok {
		a.t.Errorf("the script has no answer for step %s: add On(%q)", c.Path, string(c.Path.WithoutAttempts()))
		return dag.Result{Status: dag.Failed, ExitCode: 1, Permanent: true, Message: "not in the script"}, nil
	}
	if answer.Do != nil {
		answer.Do(call)
	}
	if !wait(ctx, answer) {
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil // the engine reports the reason
	}
	return result(f.Session(), c, answer)
}

// answer returns the script's answer for an attempt.
func (s *Script) answer(c *dag.Call) (Answer, bool) {
	step := string(c.Path.WithoutAttempts())
	for i := len(s.rules) - 1; i >= 0; i-- {
		r := s.rules[i]
		if match, _ := path.Match(r.pattern, step); match {
			return r.answers[min(c.Attempt, len(r.answers))-1], true
		}
	}
	return Answer{}, false
}

// wait lets the attempt take its time; it returns false if the attempt was stopped.
func wait(ctx context.Context, a Answer) bool {
	if a.Hangs {
		<-ctx.Done()
		return false
	}
	if a.Takes <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(a.Takes)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func result(s *steps.Session, c *dag.Call, a Answer) (dag.Result, error) {
	r := dag.Result{ExitCode: a.Exit}
	if a.Exit != 0 {
		r.Status, r.Reason = dag.Failed, dag.ReasonExit
	}
	var err error
	if r.Stdout, err = s.Text(c.Path, c.Attempt, a.Stdout); err != nil {
		return r, err
	}
	if a.Stderr != "" {
		shown := s.Mask().String(a.Stderr)
		r.Stderr = &dag.Output{Raw: a.Stderr, Inline: shown[:min(len(shown), dag.InlineLimit)], Size: int64(len(shown)), Masked: shown != a.Stderr}
	}
	return r, nil
}

// Report writes the calls of a run, one per line, for a golden file or a failing test.
func (r *Run) Report(w io.Writer) {
	for _, c := range r.Calls {
		fmt.Fprintf(w, "%8s  %s", c.At, c.Step)
		if c.Attempt > 1 {
			fmt.Fprintf(w, " attempt %d", c.Attempt)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%8s  %s %s\n", r.Took, r.Tool, r.Status)
}
