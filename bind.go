package flowrun

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/tool"
)

// given is one value of a call. Author marks what the author of a calling tool
// wrote himself or took from a step: it may begin with a dash.
type given struct {
	v      any
	author bool
}

// bindCall binds the parameters of a caller.
func (p *compiledPlan) bindCall(ctx context.Context, w *callWorld, raw map[string]any) (*callArgs, error) {
	values := make(map[string]given, len(raw))
	for k, v := range raw {
		values[k] = given{v: v}
	}
	return p.bind(ctx, w, values)
}

// bind binds parameters of which each says who wrote it.
func (p *compiledPlan) bind(ctx context.Context, w *callWorld, raw map[string]given) (*callArgs, error) {
	b := &binder{ctx: ctx, plan: p, raw: raw, args: &callArgs{plan: p, world: w,
		values: make(map[string]expr.Value, len(p.params)), raw: make(map[string]any, len(raw)), answers: &answers{}, confine: p.confinement()}}
	if slices.ContainsFunc(p.params, func(prm *param) bool { return prm.js != nil }) {
		defer w.scripts(hooks.Config{})()
	}
	if schema := p.Definition.Schema; schema != nil {
		b.bySchema(schema)
	} else {
		b.unknown()
		for _, prm := range p.params {
			b.param(prm)
		}
	}
	if len(b.problems) == 0 {
		b.commands()
	}
	if len(b.problems) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx) // it may be all that is wrong
		}
		slices.SortStableFunc(b.problems, func(x, y ParamProblem) int { return strings.Compare(x.Name, y.Name) })
		return nil, &ParamsError{Tool: p.Name(), Problems: b.problems}
	}
	return b.args, nil
}

type binder struct {
	ctx      context.Context
	plan     *compiledPlan
	raw      map[string]given
	args     *callArgs
	problems []ParamProblem
	made     int // bytes of the defaults so far
}

func (b *binder) problem(name, code, hint, format string, args ...any) {
	b.problems = append(b.problems, ParamProblem{Name: name, Code: code, Message: fmt.Sprintf(format, args...), Hint: hint})
}

// refuse is problem for a value that is given. What is wrong with a secret cannot
// be said without showing it.
func (b *binder) refuse(def *tool.Parameter, code string, err error) {
	if b.plan.Secret(def.Name) {
		err = fmt.Errorf("is refused (%s); what was given is secret and not shown", code)
	}
	b.problem(def.Name, code, example(def), "%v", err)
}

func (b *binder) unknown() {
	for name, g := range b.raw {
		switch {
		case b.plan.param(name) != nil:
		case b.plan.takes(name):
			b.keep(name, g.v)
		default:
			b.unknownParameter(name)
		}
	}
}

func (b *binder) unknownParameter(name string) {
	var known []string
	for _, prm := range b.plan.params {
		known = append(known, prm.def.Name)
	}
	hint := "the tool has no parameters"
	if len(known) > 0 {
		slices.Sort(known)
		hint = "its parameters are " + strings.Join(known, ", ")
	}
	if near := tool.Near(name, known); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	b.problem(name, "unknown", hint, "tool %s has no such parameter", b.plan.Name())
}

// param binds one parameter; the parameters its default names came before it.
func (b *binder) param(prm *param) {
	def := prm.def
	v := expr.Value{Format: prm.format, AllowDash: def.AllowDash || b.args.world.AllowDash ||
		def.Type == "number" || def.Format != nil || len(def.Validation.Enum) > 0}
	if def.Delimiter != nil {
		v.Delimiter = def.Delimiter.S
	}
	if def.EscapeShell != nil {
		v.Raw = !*def.EscapeShell
	}
	defer func() { b.args.values[def.Name] = v }()
	g, ok := b.raw[def.Name]
	switch {
	case ok:
		v.Caller, v.Author = !g.author, g.author
		b.args.raw[def.Name] = g.v
	case prm.initial != nil:
		var err error
		watch := &callerWatch{Scope: scope{args: b.args}}
		if g.v, err = b.initial(prm, watch); err != nil {
			b.refuse(def, "default", fmt.Errorf("cannot render its default: %w", err))
			v.Absent = true
			return
		}
		v.Caller, v.Author = watch.caller, !watch.caller
	default:
		v.Absent = true
		if def.Required {
			b.problem(def.Name, "missing", b.misspelt(def), "is required")
		}
		return
	}
	bound, code, err := prm.take(g.v)
	if err == nil && prm.js != nil {
		code = "transform"
		bound, err = prm.js.apply(b.ctx, b.args.world.JavaScript, bound)
	}
	if err != nil {
		b.refuse(def, code, err)
		v.Absent = true
		return
	}
	if def.Path {
		bound = pathRules{FilePaths: b.plan.Definition.FilePaths, os: platform(), home: b.args.world.Home}.value(bound)
	}
	v.V = bound
}

// initial is the parameter's default.
func (b *binder) initial(prm *param, sc expr.Scope) (any, error) {
	v, err := prm.initial.value(sc)
	if err != nil {
		return nil, err
	}
	if b.made += expr.Size(v); b.made > expr.MaxTogether {
		return nil, &expr.SizeError{What: "the defaults together", Most: expr.MaxTogether}
	}
	return v, nil
}

// take is coerce, validate, and a predefined transform.
func (p *param) take(raw any) (v any, code string, err error) {
	if v, err = coerce(p.def.Type, raw); err != nil {
		return nil, "type", err
	}
	if holdsNUL(v) {
		return nil, "nul", fmt.Errorf("the value holds a NUL byte, which no command line can carry")
	}
	if err = p.validate(v); err != nil {
		return nil, "validation", err
	}
	for _, t := range p.transforms {
		if v, err = t.Apply(v); err != nil {
			return nil, "transform", err
		}
	}
	return v, "", nil
}

// callerWatch notices when a default or a with value takes in a caller's value:
// then the result counts as the caller's too.
type callerWatch struct {
	expr.Scope
	caller bool
}

func (w *callerWatch) Lookup(r expr.Ref) (expr.Value, error) {
	v, err := w.Scope.Lookup(r)
	w.caller = w.caller || v.Caller
	return v, err
}

// misspelt is the way out where a parameter is missing: a name that was given and is much
// like it, where the tool takes names that it does not declare, else how to give it.
func (b *binder) misspelt(def *tool.Parameter) string {
	var others []string
	for name := range b.raw {
		if b.plan.param(name) == nil && b.plan.takes(name) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	if near := tool.Near(def.Name, others); len(near) > 0 {
		return fmt.Sprintf("%q was given, and is no parameter: did you mean %s?", near[0], def.Name)
	}
	return example(def)
}

func example(def *tool.Parameter) string {
	switch {
	case len(def.Validation.Enum) > 0:
		words := make([]string, len(def.Validation.Enum))
		for i, e := range def.Validation.Enum {
			words[i] = written(e)
		}
		return "one of " + strings.Join(words, ", ")
	case len(def.Examples) > 0:
		return fmt.Sprintf("for example %s=%s", def.Name, written(def.Examples[0]))
	case def.Description != "":
		return def.Description
	}
	return fmt.Sprintf("give it as %s=...", def.Name)
}

// written is a scalar as the author wrote it.
func written(v tool.Value) string {
	if v.Text != nil {
		return v.Text.S
	}
	return plain(v.Scalar)
}

// validate holds a value against the parameter's rules; an array element by
// element (S1-095 to S1-100).
func (p *param) validate(v any) error {
	if list, ok := v.([]any); ok {
		for i, e := range list {
			if err := p.validate(e); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	}
	rules, text := p.def.Validation, plain(v)
	n := utf8.RuneCountInString(text)
	_, isText := v.(string)
	switch {
	case len(rules.Enum) > 0 && !slices.ContainsFunc(rules.Enum, func(e tool.Value) bool { return written(e) == text }):
		return fmt.Errorf("%s is not allowed", expr.Quoted(text))
	case isText && rules.MinLength != nil && n < *rules.MinLength:
		return fmt.Errorf("%s is shorter than %d characters", expr.Quoted(text), *rules.MinLength)
	case isText && rules.MaxLength != nil && n > *rules.MaxLength:
		return fmt.Errorf("has %d characters, at most %d are allowed", n, *rules.MaxLength)
	case isText && p.pattern != nil && !p.pattern.MatchString(text):
		return fmt.Errorf("%s does not match the pattern %s", expr.Quoted(text), rules.Pattern.S)
	}
	if num, ok := number(v); ok {
		switch {
		case rules.Minimum != nil && num < *rules.Minimum:
			return fmt.Errorf("%s is below the minimum of %s", text, plain(*rules.Minimum))
		case rules.Maximum != nil && num > *rules.Maximum:
			return fmt.Errorf("%s is above the maximum of %s", text, plain(*rules.Maximum))
		}
	}
	return nil
}

func number(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number: // beyond int64
		f, err := v.Float64()
		return f, err == nil
	}
	return 0, false
}

func holdsNUL(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsRune(v, 0)
	case []any:
		return slices.ContainsFunc(v, holdsNUL)
	case map[string]any:
		for k, e := range v {
			if strings.ContainsRune(k, 0) || holdsNUL(e) {
				return true
			}
		}
	}
	return false
}
