package launch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// AskMissingParams asks a person for the required parameters that are missing, one by one, adds
// them to params, and validates each with bind, which binds params and returns the error. bindErr is
// the error for params as they are. AskMissingParams asks nothing if any other problem exists, or if
// no person can be asked.
func AskMissingParams(env *ui.Env, p *engine.Plan, params map[string]any, bindErr error, bind func() error, f ui.InteractionFlags) error {
	missing := problemsOf(bindErr)
	if len(missing.Problems) == 0 || !env.CanAsk(f) ||
		slices.ContainsFunc(missing.Problems, func(m value.ParamProblem) bool { return m.Code != "missing" }) {
		return nil
	}
	q := env.Prompter()
	defer q.Close()
	index := func(m value.ParamProblem) int {
		return slices.IndexFunc(p.Definition.Parameters, func(d *tool.Parameter) bool { return d.Name == m.Name })
	}
	slices.SortFunc(missing.Problems, func(m, n value.ParamProblem) int { return cmp.Compare(index(m), index(n)) })
	for i, m := range missing.Problems {
		d := p.Definition.Parameters[index(m)]
		if err := askUntilValid(q, p, params, d, bind); err != nil {
			fmt.Fprintln(env.Stderr)
			missing.Problems = missing.Problems[i:]
			code := ui.CodeError(env.ReportError(missing))
			if sig, ok := errors.AsType[ui.SignalError](err); ok {
				code = sig.Code()
			}
			return code
		}
	}
	return nil
}

// BindProblems returns the problems that Bind finds with parameters. It returns none if Bind fails
// for another reason; that error is reported when the plan runs.
func BindProblems(p *engine.Plan, w engine.RunEnv, params map[string]any) *value.ParamsError {
	_, err := p.Bind(w, params)
	return problemsOf(err)
}

// problemsOf returns the parameter problems in an error of Bind, or none for another error.
func problemsOf(err error) *value.ParamsError {
	if bad, ok := errors.AsType[*value.ParamsError](err); ok {
		return bad
	}
	return &value.ParamsError{}
}

// askUntilValid asks for one parameter until the answer is valid, and stores it in params.
func askUntilValid(q *ui.Prompter, p *engine.Plan, params map[string]any, d *tool.Parameter, bind func() error) error {
	describeParam(q, d)
	for {
		text, err := q.Ask(d.Name+": ", p.Secret(d.Name))
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		params[d.Name] = answerValue(d, text)
		bad := problemsOf(bind())
		i := slices.IndexFunc(bad.Problems, func(m value.ParamProblem) bool { return m.Parameter() == d.Name })
		if i < 0 {
			return nil
		}
		delete(params, d.Name)
		fmt.Fprintf(q.Terminal.Stderr, "  %s\n", console.Clean(bad.Problems[i].Message))
	}
}

// describeParam prints what is asked for: type, description, choices, an example.
func describeParam(q *ui.Prompter, d *tool.Parameter) {
	kind := d.Type
	if kind == "" {
		kind = "string"
	}
	switch kind {
	case "boolean":
		kind = "yes or no"
	case "array":
		kind = "a list: one value, or JSON"
	case "object":
		kind = "JSON"
	}
	fmt.Fprintf(q.Terminal.Stderr, "%s (%s)%s\n", d.Name, kind, ui.AfterColon(console.Sanitize(d.Description)))
	for i, v := range d.Validation.Enum {
		fmt.Fprintf(q.Terminal.Stderr, "  %d) %s\n", i+1, console.Clean(v.Spelling()))
	}
	if len(d.Examples) > 0 && len(d.Validation.Enum) == 0 {
		fmt.Fprintf(q.Terminal.Stderr, "  for example %s\n", console.Clean(d.Examples[0].Spelling()))
	}
}

// answerValue converts an answer to the value of the parameter. One of several choices may be given
// by its number, unless that number is a choice itself. Yes and no are booleans.
func answerValue(d *tool.Parameter, text string) any {
	enum := d.Validation.Enum
	if slices.ContainsFunc(enum, func(v tool.Value) bool { return v.Spelling() == text }) {
		return text
	}
	if n, err := strconv.Atoi(text); err == nil && 1 <= n && n <= len(enum) {
		return enum[n-1].Spelling()
	}
	if d.Type == "boolean" {
		switch strings.ToLower(text) {
		case "y", "yes":
			return "true"
		case "n", "no":
			return "false"
		}
	}
	return text
}
