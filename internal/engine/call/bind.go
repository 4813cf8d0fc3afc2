package call

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Given is one value of a call. Author reports that the author of a calling tool wrote the value or took it from a
// step: such a value may begin with a dash.
type Given struct {
	V      any
	Author bool
}

// Bind takes a caller's parameters through default, coercion, validation and transform. Values may have their Go type
// or be text ("5" for a number). All problems are reported together, as a *value.ParamsError.
func Bind(ctx context.Context, p *plan.Plan, w *RunEnv, raw map[string]any) (*Params, error) {
	values := make(map[string]Given, len(raw))
	for k, v := range raw {
		values[k] = Given{V: v}
	}
	return BindGiven(ctx, p, w, values)
}

// BindGiven is Bind for values that record who wrote them.
func BindGiven(ctx context.Context, p *plan.Plan, w *RunEnv, raw map[string]Given) (*Params, error) {
	b := newBinder(ctx, p, w, raw)
	if b.scripts = !b.lacksRequired() && slices.ContainsFunc(p.Params, hasScript); b.scripts {
		var done func()
		b.frame.RunEnv, done = w.WithScripts(jsrun.Config{})
		defer done()
	}
	return b.bind()
}

// Check returns the problems that Bind finds, without running transforms in JavaScript. The commands are not checked if
// there is one, because their values are not known then.
func Check(p *plan.Plan, w *RunEnv, raw map[string]Given) error {
	_, err := newBinder(context.Background(), p, w, raw).bind()
	return err
}

func newBinder(ctx context.Context, p *plan.Plan, w *RunEnv, raw map[string]Given) *binder {
	params := &Params{Plan: p, RunEnv: w, Values: make(map[string]expr.Value, len(p.Params)), Given: make(map[string]any, len(raw))}
	return &binder{ctx: ctx, plan: p, raw: raw, params: params, frame: params.Frame()}
}

func (b *binder) bind() (*Params, error) {
	p, ctx := b.plan, b.ctx
	if schema := p.Definition.Schema; schema != nil {
		b.bySchema(schema)
	} else {
		b.unknown()
		for _, prm := range p.Params {
			b.param(prm)
		}
	}
	if len(b.problems) == 0 && (b.scripts || !slices.ContainsFunc(p.Params, hasScript)) {
		b.checkCommands()
	}
	if len(b.problems) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // this may be the only reason for the problems
		}
		b.hideSecrets()
		slices.SortStableFunc(b.problems, func(x, y value.ParamProblem) int { return strings.Compare(x.Name, y.Name) })
		return nil, &value.ParamsError{Tool: p.Name(), Problems: b.problems}
	}
	return b.params, nil
}

func hasScript(prm *plan.Param) bool { return prm.JS != nil }

// lacksRequired reports whether a required parameter is missing. Such a call cannot run, so its transforms do not run
// either: a person who is asked for the parameter then makes another call.
func (b *binder) lacksRequired() bool {
	return slices.ContainsFunc(b.plan.Params, func(prm *plan.Param) bool {
		_, given := b.raw[prm.Def.Name]
		return !given && prm.Def.Required && prm.Initial == nil
	})
}

type binder struct {
	ctx          context.Context
	plan         *plan.Plan
	raw          map[string]Given
	params       *Params // the result
	frame        *Frame  // of a call with the values bound so far, for defaults that refer to other parameters
	problems     []value.ParamProblem
	scripts      bool // run transforms in JavaScript
	defaultBytes int  // bytes of the defaults so far
}

func (b *binder) problem(name, code, hint, format string, args ...any) {
	b.problems = append(b.problems, value.ParamProblem{Name: name, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// hideSecrets masks the secrets that are known before the run in the messages about its parameters.
func (b *binder) hideSecrets() {
	var m mask.Mask
	add := func(values ...any) {
		for _, v := range values {
			m.Add(value.Scalars(v)...) // if a secret is too short to mask, no run starts
		}
	}
	for _, s := range b.plan.Secrets {
		add(b.params.RunEnv.Vars[s.S])
	}
	for name, v := range b.params.Values {
		if b.plan.Secret(name) {
			add(b.raw[name].V, v.V)
		}
	}
	for i := range b.problems {
		b.problems[i].Message = m.String(b.problems[i].Message)
	}
}

// refuse reports a problem with a given value. For a secret the error is left out, because it could show the value.
func (b *binder) refuse(def *tool.Parameter, code string, err error) {
	name := def.Name
	if b.plan.Secret(name) {
		err = fmt.Errorf("is invalid (%s); the value is secret and not shown", code)
	}
	for element, ok := errors.AsType[*value.ElementError](err); ok; element, ok = errors.AsType[*value.ElementError](err) {
		name, err = fmt.Sprintf("%s[%d]", name, element.Index), element.Err
	}
	b.problem(name, code, Example(def), "%v", err)
	b.problems[len(b.problems)-1] = value.Within(def.Name, b.problems[len(b.problems)-1])
}

func (b *binder) unknown() {
	for name, g := range b.raw {
		switch {
		case b.plan.Param(name) != nil:
		case b.plan.AcceptsUndeclared(name):
			b.store(name, g.V)
		default:
			b.unknownParameter(name)
		}
	}
}

func (b *binder) unknownParameter(name string) {
	var known []string
	for _, prm := range b.plan.Params {
		known = append(known, prm.Def.Name)
	}
	hint := "the tool has no parameters"
	if len(known) > 0 {
		slices.Sort(known)
		hint = "known parameters: " + strings.Join(known, ", ")
	}
	if near := diagnostic.Near(name, known); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	b.problem(name, "unknown", hint, "tool %s has no such parameter", b.plan.Name())
}

// param binds one parameter. The parameters that its default refers to are already bound.
func (b *binder) param(prm *plan.Param) {
	def := prm.Def
	v := b.emptyValue(prm)
	defer func() { b.params.Values[def.Name] = v }()
	g, ok := b.raw[def.Name]
	switch {
	case ok:
		v.Caller, v.Author = !g.Author, g.Author
		b.params.Given[def.Name] = g.V
	case prm.Initial != nil:
		var err error
		watch := &expr.Watch{Scope: Scope{Frame: b.frame}}
		if g.V, err = b.defaultValue(prm, watch); err != nil {
			b.refuse(def, "default", fmt.Errorf("cannot render its default: %w", err))
			v.Absent = true
			return
		}
		v.Caller, v.Author = watch.Caller, !watch.Caller
	}
	if !ok && g.V == nil { // no value and no default, or a default that is one reference without a value
		v.Absent = true
		if def.Required && !b.reported(prm) {
			b.problem(def.Name, "missing", b.missingHint(def), "is required")
		}
		return
	}
	bound, code, err := prm.Convert(g.V)
	if err == nil && prm.JS != nil && b.scripts {
		code = "transform"
		bound, err = prm.JS.Apply(b.ctx, b.frame.RunEnv.JavaScript, bound)
	}
	if err != nil {
		b.refuse(def, code, err)
		v.Absent = true
		return
	}
	if prm.JS != nil && prm.JS.IsConstant(bound) { // the caller only chose it
		v.Caller, v.Author = false, true
	}
	if def.Path {
		bound = pathRules{FilePaths: b.plan.Definition.FilePaths, OS: plan.Platform(), Home: b.frame.RunEnv.Home}.value(bound)
	}
	v.V = bound
}

// reported reports whether a parameter in the default of this one has a problem, from which the absence of this one
// follows.
func (b *binder) reported(prm *plan.Param) bool {
	return prm.Initial != nil && slices.ContainsFunc(prm.Initial.Refs(), func(r expr.Ref) bool {
		return slices.ContainsFunc(b.problems, func(p value.ParamProblem) bool { return p.Parameter() == r.Root })
	})
}

// emptyValue returns a value with the properties of the parameter.
func (b *binder) emptyValue(prm *plan.Param) expr.Value {
	def := prm.Def
	v := expr.Value{Format: prm.Format, AllowDash: def.AllowDash || b.frame.RunEnv.AllowDash ||
		def.Type == "number" || def.Format != nil || len(def.Validation.Enum) > 0}
	if def.Delimiter != nil {
		v.Delimiter = def.Delimiter.S
	}
	if def.EscapeShell != nil {
		v.Raw = !*def.EscapeShell
	}
	return v
}

// defaultValue returns the parameter's default.
func (b *binder) defaultValue(prm *plan.Param, sc expr.Scope) (any, error) {
	v, err := prm.Initial.Value(sc)
	if err != nil {
		return nil, err
	}
	if b.defaultBytes += valuetext.Size(v); b.defaultBytes > valuetext.MaxTogether {
		return nil, &valuetext.SizeError{What: "the default values together", Max: valuetext.MaxTogether}
	}
	return v, nil
}

// missingHint returns the hint for a missing parameter: a given undeclared name that is similar, else how to pass the
// parameter.
func (b *binder) missingHint(def *tool.Parameter) string {
	var others []string
	for name := range b.raw {
		if b.plan.Param(name) == nil && b.plan.AcceptsUndeclared(name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	if near := diagnostic.Near(def.Name, others); len(near) > 0 {
		return fmt.Sprintf("%q is not a parameter: did you mean %s?", near[0], def.Name)
	}
	return Example(def)
}

// Example returns a hint that shows how to pass a value for a parameter.
func Example(def *tool.Parameter) string {
	switch {
	case len(def.Validation.Enum) > 0:
		words := make([]string, len(def.Validation.Enum))
		for i, e := range def.Validation.Enum {
			words[i] = e.Spelling()
		}
		return "one of " + strings.Join(words, ", ")
	case len(def.Examples) > 0:
		return fmt.Sprintf("for example %s=%s", def.Name, def.Examples[0].Spelling())
	case def.Description != "":
		return "description: " + def.Description
	}
	return fmt.Sprintf("pass it as %s=...", def.Name)
}
