package call

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// bySchema binds the parameters of a tool that describes them with JSON Schema: each value is coerced to its type,
// missing ones get the schema's default, also inside objects and lists, and then all are checked against the schema
// together.
func (b *binder) bySchema(schema *dataschema.Schema) {
	values := make(map[string]any, len(b.raw))
	refused := map[string]bool{}
	for name, g := range b.raw {
		values[name] = g.V
	}
	for _, prm := range b.plan.Params {
		v, given, err := b.initialValue(prm)
		if err != nil {
			b.refuse(prm.Def, "type", err)
			refused[prm.Def.Name] = true
		}
		if given {
			values[prm.Def.Name] = v
		}
		b.params.Values[prm.Def.Name] = expr.Value{V: v, Absent: !given}
	}
	values = schema.Defaults(values).(map[string]any)
	values = b.readTexts(schema, values, refused)
	for _, p := range schema.Check(values) {
		if len(p.Path) > 0 && !refused[p.Path[0]] || len(p.Path) == 0 && len(refused) == 0 {
			b.reportViolation(p)
		}
	}
	for name, v := range values {
		b.store(name, v)
	}
}

// initialValue returns the initial value of a parameter: the value of the call, or an alias's default.
func (b *binder) initialValue(prm *plan.Param) (v any, given bool, err error) {
	g, given := b.raw[prm.Def.Name]
	if !given && prm.Initial != nil {
		g.V, err = prm.Initial.Value(Scope{Frame: b.frame})
		given = err != nil || g.V != nil // a default that is one reference may have no value
	}
	if !given || err != nil {
		return nil, given, err
	}
	if v, err = value.Coerce(prm.Def.Type, g.V); err != nil {
		return nil, true, err
	}
	return v, true, nil
}

// readTexts replaces the texts that typed reads as another type. The schema checks them together with the other values,
// because the type of one may depend on another.
func (b *binder) readTexts(schema *dataschema.Schema, values map[string]any, refused map[string]bool) map[string]any {
	for range 2 { // the type of a parameter may depend on one that is read after it
		for _, prm := range b.plan.Params {
			name := prm.Def.Name
			if !b.params.Values[name].Absent && !refused[name] { // defaults of the schema stay as they are
				values[name] = valueOf{schema, values, name}.typed(values[name])
			}
		}
		values = schema.Defaults(values).(map[string]any) // what was read may lack members
	}
	return values
}

// valueOf is the value of a parameter among the other values.
type valueOf struct {
	schema *dataschema.Schema
	values map[string]any
	name   string
}

// typed parses a text, or the texts in a list, as JSON if the schema rejects the text and accepts the parsed value:
// COUNT=5 becomes a number in whatever way the schema asks for one, by $ref, in oneOf, or as the items of a list.
func (o valueOf) typed(v any) any {
	switch v := v.(type) {
	case string:
		var read any
		if len(o.violations(v)) > 0 && value.StrictJSON(v, &read) == nil && len(o.violations(read)) == 0 {
			return read
		}
	case []any:
		return o.typedItems(v)
	}
	return v
}

// typedItems is typed for the texts in a list.
func (o valueOf) typedItems(list []any) []any {
	read := slices.Clone(list)
	for i := range o.violations(list) {
		n, err := strconv.Atoi(i)
		if err != nil {
			continue
		}
		if text, ok := list[n].(string); ok {
			var v any
			if value.StrictJSON(text, &v) == nil {
				read[n] = v
			}
		}
	}
	left := o.violations(read)
	if all := parsed(list); len(left) > 0 && len(o.violations(all)) == 0 {
		return all // the list as a whole was rejected: no alternative of oneOf takes the texts
	}
	for i := range left {
		if n, err := strconv.Atoi(i); err == nil {
			read[n] = list[n]
		}
	}
	return read
}

// parsed returns a list with the texts in it that are JSON parsed.
func parsed(list []any) []any {
	all := slices.Clone(list)
	for i, v := range list {
		var read any
		if text, ok := v.(string); ok && value.StrictJSON(text, &read) == nil {
			all[i] = read
		}
	}
	return all
}

// violations returns the members or items of a parameter's value that violate the schema; "" is the value itself.
func (o valueOf) violations(v any) map[string]bool {
	bad := map[string]bool{}
	values := maps.Clone(o.values)
	values[o.name] = v
	for _, p := range o.schema.Check(values) {
		switch {
		case len(p.Path) > 1 && p.Path[0] == o.name:
			bad[p.Path[1]] = true
		case len(p.Path) == 1 && p.Path[0] == o.name:
			bad[""] = true
		}
	}
	return bad
}

// store stores a value that needs no further checks: it was checked against a schema, or its parameter is not
// declared.
func (b *binder) store(name string, v any) {
	g, given := b.raw[name]
	if given {
		b.params.Given[name] = g.V
	}
	caller := given && !g.Author
	b.params.Values[name] = expr.Value{V: v, Caller: caller, Author: !caller, AllowDash: b.frame.RunEnv.AllowDash}
}

// reportViolation reports how a value violates the schema.
func (b *binder) reportViolation(p dataschema.Problem) {
	if len(p.Path) == 0 {
		b.problem("", "validation", "", "%s", p.Message)
		return
	}
	top, code := p.Path[0], "validation"
	prm := b.plan.Param(top)
	switch {
	case p.Unknown && len(p.Path) == 1:
		b.unknownParameter(top)
		return
	case p.Missing && len(p.Path) == 1 && prm != nil:
		code, p.Message = "missing", "is required"
	}
	hint := ""
	switch { // in other cases the message already says what is expected
	case code == "missing":
		hint = b.missingHint(prm.Def)
	case prm != nil && p.Missing:
		hint = Example(prm.Def)
	}
	if b.plan.Secret(top) && code != "missing" {
		p.Message = fmt.Sprintf("is invalid (%s); the value is secret and not shown", code)
	}
	b.problem(p.Field, code, hint, "%s", p.Message)
	b.problems[len(b.problems)-1] = value.Within(top, b.problems[len(b.problems)-1])
}

// warnUndeclared warns of values whose parameter is not declared. A schema that mentions additional properties counts
// as declaring them.
func (a *Frame) warnUndeclared() {
	def := a.Plan.Definition
	if def.Schema != nil && def.Schema.Open() {
		return
	}
	var known []string
	for _, p := range def.Parameters {
		known = append(known, p.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(a.Given)) {
		if slices.Contains(known, name) {
			continue
		}
		hint := "declare it, or do not pass it"
		if near := diagnostic.Near(name, known); len(near) > 0 {
			hint = "did you mean " + strings.Join(near, " or ") + "?"
		}
		a.session.Notify(notice.Notice{Code: notice.Undeclared, Step: a.Path,
			Message: fmt.Sprintf("tool %s does not declare parameter %s, but the value was passed on: %s", a.Plan.Name(), name, hint)})
	}
}
