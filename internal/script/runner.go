package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/steps"
)

// Runner runs the script of a step of kind js.
type Runner struct{ *plan.Script }

// Run implements dag.Runner.
func (r *Runner) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	a := c.Args().(*call.Frame)
	if why := plan.Unconfined(a.Confine, plan.WorkInScript); why != "" {
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
	vars, err := c.scope()
	if err != nil {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: err.Error(), Permanent: true}, nil
	}
	host := &hostCalls{args: c.args, call: c.call, work: c.work}
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
	call := hooks.Call{Script: c.Compiled, Entry: c.entry(), Vars: vars, Ask: answer}
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

// succeeded builds the step's result from what the script returned: text as it is, any other value as JSON, and no
// output for undefined.
func (c *jsCall) succeeded(out json.RawMessage) (dag.Result, error) {
	res := dag.Result{Status: dag.Succeeded}
	var v any
	if out != nil {
		if err := value.DecodeJSON(string(out), &v); err != nil {
			return res, fmt.Errorf("cannot read the result of the script: %w", err)
		}
	}
	if bad := c.rejected(v, out); bad != nil {
		return *bad, nil
	}
	text, isText := v.(string)
	if !isText {
		text = string(out)
		res.Value, res.Structured = v, out != nil
	}
	if err := c.work.Print(steps.Stdout, text); err != nil {
		return res, err
	}
	return res, nil
}

// failed returns the result of a script that did not finish.
func (c *jsCall) failed(ctx context.Context, err error) (dag.Result, error) {
	var bad *hooks.Error
	switch {
	case errors.As(err, &bad):
		return c.scriptFailure(bad), nil
	case ctx.Err() != nil: // the engine turns this into a timeout or a cancel
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	}
	return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: err.Error(), Permanent: true}, nil
}
