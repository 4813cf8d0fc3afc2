package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/tool"
)

// askMissing has a person give the required parameters that are missing, one by one, each held
// against the parameter's own rules. Where something else is wrong, or nobody can be
// asked, it asks nothing: running the plan says what is wrong.
func (env *Env) askMissing(p *flowrun.Plan, w flowrun.World, params map[string]any, f asking) error {
	missing := problems(p, w, params)
	if len(missing.Problems) == 0 || !env.canAsk(f) ||
		slices.ContainsFunc(missing.Problems, func(m flowrun.ParamProblem) bool { return m.Code != "missing" }) {
		return nil
	}
	q := env.questions()
	defer q.over()
	place := func(m flowrun.ParamProblem) int {
		return slices.IndexFunc(p.Definition.Parameters, func(d *tool.Parameter) bool { return d.Name == m.Name })
	}
	slices.SortFunc(missing.Problems, func(m, n flowrun.ParamProblem) int { return cmp.Compare(place(m), place(n)) })
	for i, m := range missing.Problems {
		d := p.Definition.Parameters[place(m)]
		if err := q.until(p, w, params, d); err != nil {
			fmt.Fprintln(env.Stderr)
			missing.Problems = missing.Problems[i:]
			code := codeError(env.fail(missing))
			if sig, ok := errors.AsType[interrupted](err); ok {
				code = sig.code()
			}
			return code
		}
	}
	return nil
}

// problems are what is wrong with parameters; none where Bind has something else to
// say, which it says again when the plan runs.
func problems(p *flowrun.Plan, w flowrun.World, params map[string]any) *flowrun.ParamsError {
	var bad *flowrun.ParamsError
	if _, err := p.Bind(w, params); !errors.As(err, &bad) {
		return &flowrun.ParamsError{}
	}
	return bad
}

// until asks for one parameter until the answer will do, and puts it into params.
func (q *questions) until(p *flowrun.Plan, w flowrun.World, params map[string]any, d *tool.Parameter) error {
	q.introduce(d)
	for {
		fmt.Fprintf(q.env.Stderr, "%s: ", d.Name)
		text, err := q.answer(p.Secret(d.Name))
		if err != nil {
			return err
		}
		if text == "" {
			continue
		}
		params[d.Name] = meant(d, text)
		bad := problems(p, w, params)
		i := slices.IndexFunc(bad.Problems, func(m flowrun.ParamProblem) bool { return m.Parameter() == d.Name })
		if i < 0 {
			return nil
		}
		delete(params, d.Name)
		fmt.Fprintf(q.env.Stderr, "  %s\n", console.Clean(bad.Problems[i].Message))
	}
}

// introduce says what is asked for: type, meaning, choices, an example.
func (q *questions) introduce(d *tool.Parameter) {
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
	fmt.Fprintf(q.env.Stderr, "%s (%s)%s\n", d.Name, kind, colon(console.Harmless(d.Description)))
	for i, v := range d.Validation.Enum {
		fmt.Fprintf(q.env.Stderr, "  %d) %s\n", i+1, console.Clean(valueText(v)))
	}
	if len(d.Examples) > 0 && len(d.Validation.Enum) == 0 {
		fmt.Fprintf(q.env.Stderr, "  for example %s\n", console.Clean(valueText(d.Examples[0])))
	}
}

// valueText is a scalar of a definition as a person writes it.
func valueText(v tool.Value) string {
	switch {
	case v.Text != nil:
		return v.Text.S
	case v.Written() != "":
		return v.Written()
	}
	return fmt.Sprint(v.Scalar)
}

// meant is the value that an answer stands for: one of a list may be given by its
// number, unless that is a word of the list too; yes and no are booleans.
func meant(d *tool.Parameter, text string) any {
	enum := d.Validation.Enum
	if slices.ContainsFunc(enum, func(v tool.Value) bool { return valueText(v) == text }) {
		return text
	}
	if n, err := strconv.Atoi(text); err == nil && 1 <= n && n <= len(enum) {
		return valueText(enum[n-1])
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
