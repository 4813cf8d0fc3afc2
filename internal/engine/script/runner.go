package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Runner runs the script of a step of kind js.
type Runner struct{ *plan.Script }

// Run implements dag.Runner.
func (r *Runner) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	a := call.FrameOf(c.Args())
	if why := a.Plan.Unconfined(a.Confine, plan.WorkInScript); why != "" {
		return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: why, Permanent: true}, nil
	}
	res, err := r.Base.Do(ctx, c, func(w *steps.Work) (dag.Result, error) {
		call := &jsCall{Runner: r, args: a, call: c, work: w}
		return call.run(ctx)
	})
	if res.Stdout != nil && res.Stdout.Truncated {
		res.Value = nil // references use the stored part of the text
	}
	return res, err
}

// jsCall is one attempt of a script.
type jsCall struct {
	*Runner
	args *call.Frame
	call *dag.Call
	work *steps.Work
}

func (c *jsCall) run(ctx context.Context) (dag.Result, error) {
	host := &hostCalls{args: c.args, call: c.call, work: c.work}
	r, err := c.runWith(ctx, host)
	return host.mark(r), err
}

func (c *jsCall) runWith(ctx context.Context, host *hostCalls) (dag.Result, error) {
	vars, err := c.scope()
	if err != nil {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: err.Error(), Permanent: true}, nil
	}
	answer := host.answer
	if m := c.Def.Module; m != nil {
		api, err := newToolAPI(host, m)
		if err != nil {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: err.Error(), Permanent: true}, nil
		}
		if bad := c.environmentProblem(api.env); bad != nil {
			return *bad, nil
		}
		answer = api.answer
	}
	call := jsrun.Call{Script: c.Compiled, Entry: c.entry(), Vars: vars, Ask: answer}
	if c.Def.Module != nil && c.Def.Module.Node {
		return c.runNode(ctx, call)
	}
	out, err := c.args.RunEnv.JavaScript.Call(ctx, call)
	if err != nil {
		return c.failed(ctx, err)
	}
	return c.succeeded(out)
}

// entry returns the name of the function of a module to call.
func (c *jsCall) entry() string {
	if c.Def.Module != nil {
		return "execute"
	}
	return ""
}

// succeeded returns the result of a script that returned a value.
func (c *jsCall) succeeded(out json.RawMessage) (dag.Result, error) {
	v, err := decodeReturned(out)
	if err != nil {
		return dag.Result{}, err
	}
	if bad := c.rejected(v, out); bad != nil {
		return *bad, nil
	}
	res := dag.Result{Status: dag.Succeeded}
	if err := c.args.Session().ReturnedOutputs(&res, v, c.Base.Outputs); err != nil {
		return dag.Result{}, err
	}
	return c.print(res, v, out)
}

// decodeReturned decodes what a script returned; nil stands for undefined.
func decodeReturned(out json.RawMessage) (v any, err error) {
	if out == nil {
		return nil, nil
	}
	if err := value.DecodeJSON(string(out), &v); err != nil {
		return nil, fmt.Errorf("cannot read the result of the script: %w", err)
	}
	return v, nil
}

// print makes what the script returned the output of the step: text as it is, any other value as one line of JSON, and
// nothing for undefined.
func (c *jsCall) print(res dag.Result, v any, out json.RawMessage) (dag.Result, error) {
	text, isText := v.(string)
	if !isText && out != nil {
		text = string(out)
		res.Value, res.Structured = v, true
	}
	return res, c.work.Print(steps.Stdout, text)
}

// failed returns the result of a script that failed or did not finish.
func (c *jsCall) failed(ctx context.Context, err error) (dag.Result, error) {
	var bad *jsrun.Error
	switch {
	case errors.As(err, &bad):
		return c.failedWithValue(bad)
	case ctx.Err() != nil: // the engine turns this into a timeout or a cancel
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	}
	return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: err.Error(), Permanent: true}, nil
}

// failedWithValue returns the result of a script that threw, or that returned a value which reports a failure. The
// value is the output of the step, so that nothing in it is lost.
func (c *jsCall) failedWithValue(bad *jsrun.Error) (dag.Result, error) {
	res := c.scriptFailure(bad)
	if bad.Value == nil {
		return res, nil
	}
	v, err := decodeReturned(bad.Value)
	if err != nil {
		return res, err
	}
	return c.print(res, v, bad.Value)
}
