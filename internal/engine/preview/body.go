package preview

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// body resolves what the step runs. It returns what is known of the tool or the group in the step.
func (v *previewer) body(s *plan.Step, k known, step *PreviewStep) known {
	switch {
	case s.Command != nil:
		step.Command, step.Interpreter = k.show(s.Command.Template), k.mask(strings.Join(s.Command.Interpreter(), " "))
		step.Machine = s.Command.Remote.Describe(k.show)
	case s.Script != nil:
		step.Command = k.mask(s.Script.Text())
	case s.Nested == nil:
		step.Command = k.mask(describeRunner(s, k))
	case s.Nested.Group:
		if step.Command = fmt.Sprintf("(%d steps)", len(s.Nested.Steps)); len(s.Nested.Steps) == 1 {
			step.Command = "(1 step)"
		}
		return k
	default:
		return v.nested(s, k, step)
	}
	if k.opened {
		step.Problem = problem(s, k.frame)
	}
	return known{}
}

// problem returns why a step would fail before it starts.
func problem(s *plan.Step, a *call.Frame) string {
	switch {
	case s.Command == nil && s.OwnWork != "":
		return a.Plan.Unconfined(a.Confine, s.OwnWork)
	case s.Command == nil:
		return ""
	case plan.ShellOf(s.Command.Shell) == expr.Cmd && plan.Platform() != "windows":
		return "cmd steps run on Windows only"
	}
	return confinementProblem(a, s.Command.Container)
}

// describeRunner describes in words what a step without a command does. The description of a step in Go is not masked.
func describeRunner(s *plan.Step, k known) string {
	switch r := s.Runner.(type) {
	case interface {
		Describe(show func(*expr.Template) string) string
	}:
		return r.Describe(k.show)
	case interface{ DescribeRequest(expr.Scope) string }:
		return r.DescribeRequest(k.scope)
	case gostep.Runner:
		return gostep.DescribeCall(r.Tool, k.frame)
	}
	return "(Go function)"
}

// nested resolves the call of the tool that a step uses.
func (v *previewer) nested(s *plan.Step, k known, step *PreviewStep) known {
	raw, unknown := knownWith(s, k.scope)
	words := []string{s.Nested.Name()}
	for _, w := range s.With {
		if g, ok := raw[w.Param]; ok {
			words = append(words, fmt.Sprintf("%s=%s", w.Param, k.mask(value.Plain(g.V))))
		}
	}
	step.Command = strings.Join(words, " ")
	bound, err := call.BindGiven(v.ctx, s.Nested, k.frame.RunEnv, raw)
	if err != nil {
		step.Problem = k.mask(certainProblem(s, err, unknown))
		return k.inside(s.Nested)
	}
	inner := bound.PreviewInside(k.frame, unknown)
	if err := errors.Join(inner.OpenEnvironment(v.ctx), inner.ReadState(v.ctx)); err != nil {
		step.Problem = k.mask(err.Error())
		return k.inside(s.Nested)
	}
	return knownOf(inner)
}

// certainProblem returns the problems with the parameters of the nested tool that do not depend on unknown values.
func certainProblem(s *plan.Step, err error, unknown []string) string {
	var bad *value.ParamsError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	sure := &value.ParamsError{Tool: bad.Tool}
	for _, p := range bad.Problems {
		open := p.Name == "" && len(unknown) > 0 || p.Code == "missing" && s.WithAll != nil
		if !open && !slices.Contains(unknown, p.Parameter()) {
			sure.Problems = append(sure.Problems, p)
		}
	}
	return strings.ReplaceAll(sure.Error(), "\n", "; ")
}

// knownWith returns the values that with passes to the nested tool, as far as they are known before the run. An
// unknown value is replaced by the text of its reference.
func knownWith(s *plan.Step, sc expr.Scope) (raw map[string]call.Given, unknown []string) {
	raw = map[string]call.Given{}
	for _, w := range s.With {
		watch := &expr.Watch{Scope: sc}
		val, err := w.For(s.Nested, watch)
		switch {
		case err != nil:
			val = writtenWith(s, w.Param)
			unknown = append(unknown, w.Param)
		case val == nil:
			continue
		}
		raw[w.Param] = call.Given{V: val, Author: !watch.Caller}
	}
	return raw, unknown
}

// writtenWith returns a with value as the author wrote it.
func writtenWith(s *plan.Step, param string) string {
	for _, e := range s.Def.Body.(*tool.ToolUse).With {
		if e.Key == param {
			return e.Value.Spelling()
		}
	}
	return ""
}

// confinementProblem returns which security settings of a command cannot be enforced on this machine, "" if all can.
func confinementProblem(a *call.Frame, k *container.Definition) string {
	var why []string
	c := a.Confine
	c.Grants = call.Grants(a)
	if k != nil {
		for _, err := range k.Refused(c) {
			why = append(why, err.Error())
		}
	}
	_, missing := k.Within(c).Held(means(), a.RunEnv.Env)
	for _, err := range missing {
		why = append(why, err.Error())
	}
	return strings.Join(why, "; ")
}
