package plan

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/js/jsrun"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// Param is a compiled parameter.
type Param struct {
	Def        *tool.Parameter
	Transforms []valuetext.Transform
	JS         transform // nil for none
	Format     *expr.Format
	Pattern    *regexp.Regexp
	Initial    *ValueTemplate // the default; nil for none
}

// transform is a transform in JavaScript, which changes a parameter's value before it is used.
type transform interface {
	Apply(ctx context.Context, rt *jsrun.Runtime, v any) (any, error)
	// IsConstant reports whether the author of the transform wrote all of its result.
	IsConstant(result any) bool
}

// Convert coerces and validates a value, and applies the predefined transforms. code is the code of the problem if err
// is not nil.
func (p *Param) Convert(raw any) (v any, code string, err error) {
	if v, err = value.Coerce(p.Def.Type, raw); err != nil {
		return nil, "type", err
	}
	if value.ContainsNUL(v) {
		return nil, "nul", fmt.Errorf("the value contains a NUL byte, which is not allowed in command lines")
	}
	if err = p.validate(v); err != nil {
		return nil, "validation", err
	}
	for _, t := range p.Transforms {
		if v, err = t.Apply(v); err != nil {
			return nil, "transform", err
		}
	}
	return v, "", nil
}

// validate checks a value against the parameter's rules; each element of an array is checked by itself.
func (p *Param) validate(v any) error {
	if list, ok := v.([]any); ok {
		for i, e := range list {
			if err := p.validate(e); err != nil {
				return &value.ElementError{Index: i, Err: err}
			}
		}
		return nil
	}
	rules, text := p.Def.Validation, value.Plain(v)
	n := utf8.RuneCountInString(text)
	_, isText := v.(string)
	switch {
	case len(rules.Enum) > 0 && !slices.ContainsFunc(rules.Enum, func(e tool.Value) bool { return e.Spelling() == text }):
		return fmt.Errorf("%s is not allowed", valuetext.Quoted(text))
	case isText && rules.MinLength != nil && n < *rules.MinLength:
		return fmt.Errorf("%s is shorter than %s", valuetext.Quoted(text), plural.Of(*rules.MinLength, "character"))
	case isText && rules.MaxLength != nil && n > *rules.MaxLength:
		return fmt.Errorf("has %s, at most %d allowed", plural.Of(n, "character"), *rules.MaxLength)
	case isText && p.Pattern != nil && !p.Pattern.MatchString(text):
		return fmt.Errorf("%s does not match the pattern %s", valuetext.Quoted(text), rules.Pattern.S)
	}
	if num, ok := value.Number(v); ok {
		switch {
		case rules.Minimum != nil && num < *rules.Minimum:
			return fmt.Errorf("%s is below the minimum of %s", text, value.Plain(*rules.Minimum))
		case rules.Maximum != nil && num > *rules.Maximum:
			return fmt.Errorf("%s is above the maximum of %s", text, value.Plain(*rules.Maximum))
		}
	}
	return nil
}

// Param returns the parameter of that name, nil if there is none.
func (p *Plan) Param(name string) *Param {
	for _, prm := range p.Params {
		if prm.Def.Name == name {
			return prm
		}
	}
	return nil
}

// AcceptsUndeclared reports whether a call may give a value for a parameter that is not declared.
func (p *Plan) AcceptsUndeclared(name string) bool {
	def := p.Definition
	return def.Format.AllowsUndeclared() && (def.Schema == nil ||
		!slices.ContainsFunc(def.Schema.Check(map[string]any{name: nil}), func(x dataschema.Problem) bool { return x.Unknown && x.Field == name }))
}

// Value returns a value that a file has for a parameter: text for a parameter of type string.
func (p *Plan) Value(param string, v tool.Value) tool.Value {
	if prm := p.Param(param); prm != nil {
		return prm.Def.Takes(v)
	}
	return v
}

// Given converts values of a definition to parameters of a call.
func (p *Plan) Given(list []tool.Entry) map[string]any {
	given := make(map[string]any, len(list))
	for _, e := range list {
		given[e.Key] = p.Value(e.Key, e.Value).Data()
	}
	return given
}
