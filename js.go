package flowrun

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// jsRunner runs the script of a step of kind js, in whatever role.
type jsRunner struct {
	def    *tool.JSCode
	script *hooks.Script
	hands  *steps.Command // without a command: environment and output of the step
	vars   []withValue    // of the roles preprocess and postprocess

	// Of the role step: what is in the script's scope.
	locals []string
	steps  map[string][]string // fields by step; "" is all of them
	env    bool                // it looks at env
}

// names are the variables in the script's scope.
func (r *jsRunner) names() []string {
	var list []string
	switch r.def.Role {
	case tool.RoleStep:
		list = append([]string{"params", "steps", "env"}, r.locals...)
	case tool.RolePost:
		list = []string{"outputText"}
	}
	for _, v := range r.vars {
		if !slices.Contains(list, v.param) {
			list = append(list, v.param)
		}
	}
	return list
}

// form is what the script is in terms of the language.
func (r *jsRunner) form() hooks.Form {
	if r.def.Role == tool.RoleStep {
		return hooks.Step
	}
	return hooks.Body
}

func (r *jsRunner) mention(step, field string) {
	if r.steps == nil {
		r.steps = map[string][]string{}
	}
	if !slices.Contains(r.steps[step], field) {
		r.steps[step] = append(r.steps[step], field)
	}
}

// Run implements dag.Runner.
func (r *jsRunner) Run(ctx context.Context, c *dag.Call) (dag.Result, error) {
	a := c.Args().(*Args)
	if why := unconfined(a.confine, workInScript); why != "" {
		return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: why, Permanent: true}, nil
	}
	res, err := r.hands.Do(ctx, c, func(w *steps.Work) (dag.Result, error) {
		call := &jsCall{jsRunner: r, args: a, call: c, work: w}
		return call.run(ctx)
	})
	if res.Stdout != nil && res.Stdout.Truncated {
		res.Value = nil // references see what was kept of the text
	}
	return res, err
}

// jsCall is one try of a script.
type jsCall struct {
	*jsRunner
	args *Args
	call *dag.Call
	work *steps.Work
}

func (c *jsCall) run(ctx context.Context) (dag.Result, error) {
	vars, err := c.scope()
	if err != nil {
		return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: err.Error(), Permanent: true}, nil
	}
	asks := &asker{args: c.args, call: c.call, work: c.work}
	answer := asks.answer
	if m := c.def.Module; m != nil {
		api, err := newToolAPI(asks, m)
		if err != nil {
			return dag.Result{Status: dag.Failed, ExitCode: 1, Reason: dag.ReasonInput, Message: err.Error(), Permanent: true}, nil
		}
		if bad := c.unready(api.env); bad != nil {
			return *bad, nil
		}
		answer = api.answer
	}
	call := hooks.Call{Script: c.script, Entry: c.entry(), Vars: vars, Ask: answer}
	if c.def.Module != nil && c.def.Module.Node {
		return c.runNode(ctx, call)
	}
	out, err := c.args.world.JavaScript.Call(ctx, call)
	if err != nil {
		return c.failed(ctx, err)
	}
	return c.succeeded(out)
}

// entry is what of a module is called.
func (c *jsCall) entry() string {
	if c.def.Module != nil {
		return "execute"
	}
	return ""
}

// succeeded makes the step's result of what the script returned: a text as it is, any
// other value as JSON, and nothing of undefined.
func (c *jsCall) succeeded(out json.RawMessage) (dag.Result, error) {
	res := dag.Result{Status: dag.Succeeded}
	var v any
	if out != nil {
		if err := decodeJSON(string(out), &v); err != nil {
			return res, fmt.Errorf("cannot read what the script returned: %w", err)
		}
	}
	if bad := c.refused(v, out); bad != nil {
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

// failed is the result of a script that did not come to its end.
func (c *jsCall) failed(ctx context.Context, err error) (dag.Result, error) {
	var bad *hooks.Error
	switch {
	case errors.As(err, &bad):
		return c.broken(bad), nil
	case ctx.Err() != nil: // the caller makes a timeout or a cancel of it
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	}
	return dag.Result{Status: dag.Failed, ExitCode: 126, Reason: steps.ReasonStartFailed, Message: err.Error(), Permanent: true}, nil
}

// told is the script's text, for those who ask what the step would do.
func (r *jsRunner) told() string {
	if r.def.Module != nil {
		return "execute of " + r.def.Module.File
	}
	return r.def.Code.S
}
