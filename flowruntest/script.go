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
	"github.com/flowrun/flowrun/steps"
)

// Answer is what one try of a step does. The zero Answer ends at once, prints
// nothing and succeeds.
type Answer struct {
	Takes  time.Duration // on the run's clock
	Stdout string
	Stderr string
	Exit   int  // exit code; other than 0 the try fails
	Hangs  bool // it ends only when it is stopped, by a timeout or a cancel
	// Do, where set, is called when the try begins, before Takes: to look at what was
	// asked, or to cancel the run in the middle of it.
	Do func(Call)
}

// Call is one try of a step, as it was asked for.
type Call struct {
	Step    string        // path, such as setup/clone or test[3]
	Attempt int           // counts from 1
	At      time.Duration // since the run began, on its clock
	Command string        // the command as it would have run, secrets masked; the text of a script; "" for a step written in Go
}

// Script is what the steps of a tool answer. Make one with New; it is not to be
// changed once Run has been called.
type Script struct {
	rules []rule
}

type rule struct {
	pattern string
	answers []Answer
}

// New makes a Script that knows no step.
func New() *Script { return &Script{} }

// On says what a step answers: the first answer on its first try, the second on its
// second, the last one from then on; no answers are one zero Answer. A step is named
// by its path without the numbers of tries; * stands for any text without a slash
// (path.Match), so test[*] are all items of a loop. The rule that was given last
// counts.
func (s *Script) On(step string, answers ...Answer) *Script {
	if len(answers) == 0 {
		answers = []Answer{{}}
	}
	// In a path's brackets a pattern of path.Match would see a class of characters.
	pattern := strings.NewReplacer("[", `\[`, "]", `\]`).Replace(step)
	s.rules = append(s.rules, rule{pattern, answers})
	return s
}

// Run is what came of a run, and what it asked for.
type Run struct {
	*flowrun.Result
	Calls  []Call        // in the order in which the tries began
	Took   time.Duration // on the run's clock
	Events []dag.Event
}

// Of are the calls of one step, by its path without the numbers of tries.
func (r *Run) Of(step string) []Call {
	var list []Call
	for _, c := range r.Calls {
		if string(dag.ID(c.Step).WithoutAttempts()) == step {
			list = append(list, c)
		}
	}
	return list
}

// Order are the paths of the steps that began, each once, in that order.
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

// Option changes how Run runs a plan.
type Option func(*options)

type options struct {
	parallel int
	cancel   time.Duration
	engine   func(*flowrun.Config)
}

// Parallel bounds how many steps run at once; 8 otherwise, whatever the machine.
func Parallel(n int) Option { return func(o *options) { o.parallel = n } }

// CancelAfter cancels the run at that moment of its clock, as Ctrl-C does.
func CancelAfter(d time.Duration) Option { return func(o *options) { o.cancel = d } }

// Config lets f change the engine's configuration, to add a store or a sink.
func Config(f func(*flowrun.Config)) Option { return func(o *options) { o.engine = f } }

// Run runs the plan with the script's answers. It fails the test at once when the
// engine cannot do its job or the parameters are refused, and marks it as failed when
// a step is not in the script; a run that failed is for the test to judge. It must
// not be called in a bubble of testing/synctest: it makes its own.
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
	config := flowrun.Config{Parallel: o.parallel}
	if len(p.LockDemands()) > 0 { // nobody else is in its line
		config.Store = flowrun.NewMemory()
	}
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

// actor plays the steps of one run.
type actor struct {
	script *Script
	t      *testing.T
	began  time.Time

	mu  sync.Mutex
	run *Run
}

func (a *actor) act(ctx context.Context, c *dag.Call, hands dag.Runner) (dag.Result, error) {
	f, ok := c.Args().(steps.Frame)
	if !ok {
		return dag.Result{}, fmt.Errorf("unexpected arguments of type %T", c.Args())
	}
	call := Call{Step: string(c.Path), Attempt: c.Attempt, At: time.Since(a.began)}
	if cmd := flowrun.CommandOf(hands); cmd != nil {
		call.Command = cmd.Template.Display(f.Scope(c.View), f.Session().Mask().String)
	} else {
		call.Command = f.Session().Mask().String(flowrun.ScriptOf(hands))
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
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil // the kernel says why
	}
	return result(f.Session(), c, answer)
}

// answer is what the script says about a try.
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

// wait lets the try take its time; false when it was stopped.
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

// Report writes what a run asked for, a line each, for a golden or a failing test.
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
