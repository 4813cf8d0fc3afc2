// Package bind converts the object of a call to its arguments.
//
// Each name is resolved to a declared parameter, and each value is converted to the declared type by the characters of the
// input. A value that two declared types can represent is refused. All wrong names and values are reported in one refusal.
// Parameters without a value get their default.
package bind

import (
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// Result is the arguments of a call. Values are string, bool, nil, json.Number with the digits of the input, []any and
// map[string]any.
type Result struct {
	Value     map[string]any
	Repaired  bool            // the text was not a JSON object with the parameters
	Repairs   []report.Repair // of the text, at most 100
	Coercions []report.Repair // of values, such as "10" for a number
	Defaults  []string        // parameters that got their default, in declared order
}

// Arguments converts the members of an object to the arguments of the call.
func Arguments(r *grammar.Reading, n *node.Node) (*Result, bool) { return (&binder{r}).bind(n) }

// bind converts the members of an object to the arguments of the call: it resolves their names, fits their values, and adds
// defaults. It reports all wrong names and values in one refusal.
func (r *binder) bind(n *node.Node) (*Result, bool) {
	s := r.Root
	values := make(map[string]any, max(len(n.Children), len(s.Properties)))
	given := make([]*node.Node, len(s.Properties))
	var unknown []string
	unknownOff := -1
	var wrong []*report.Refusal
	failed := map[string]bool{}
	for i := range n.Children {
		k := &n.Children[i]
		p, exact := r.Property(s, k.Name)
		r.Enter(k.Name)
		ok := true
		switch {
		case p >= 0:
			ok = r.argument(values, given, p, exact, k)
		case s.AllowsUndeclared():
			var v any
			if v, ok = r.untyped(k); ok {
				ok = r.put(values, k.Name, v, k)
			}
		default:
			if unknownOff < 0 {
				unknownOff = int(k.NameOff)
			}
			if len(unknown) < 20 {
				unknown = append(unknown, k.Name)
			}
		}
		r.Leave()
		if ok {
			continue
		}
		if !aboutValue(r.Bad.Code) || r.Exhausted() {
			return nil, false
		}
		if p >= 0 {
			failed[s.Properties[p].Name] = true
		}
		if len(wrong) < maxReported {
			wrong = append(wrong, r.Bad)
		}
		r.Bad = nil
	}
	var defaults, missing []string
	for i := range s.Properties {
		p := &s.Properties[i]
		if _, ok := values[p.Name]; ok && given[i] != nil || failed[p.Name] {
			continue
		}
		switch {
		case p.HasDefault:
			values[p.Name] = value.Clone(p.Default)
			defaults = append(defaults, p.Name)
		case p.Required:
			missing = append(missing, p.Name)
		}
	}
	if len(unknown)+len(missing) > 0 {
		r.misnamed(unknown, missing, unknownOff, int(n.Off))
	}
	if r.also(wrong) {
		return nil, false
	}
	return &Result{Value: values, Repaired: r.Repaired, Repairs: r.Repairs, Coercions: r.Coercions, Defaults: defaults}, true
}

// aboutValue reports whether a code is about a single value, so that the other values can still be checked.
func aboutValue(code string) bool {
	return slices.Contains([]string{"type", "number", "enum", "code", "ellipsis", "ambiguous"}, code)
}

// also adds the problems of values to the problem of names, if there is one. It reports whether there is any problem.
func (r *binder) also(wrong []*report.Refusal) bool {
	for _, w := range wrong {
		if r.Bad == nil {
			r.Bad = w
		} else {
			r.Bad.Message += "; " + w.Message
		}
	}
	return r.Bad != nil
}

// maxReported is the number of values that one refusal reports.
const maxReported = 8

// argument fits the value of a declared parameter.
func (r *binder) argument(value map[string]any, given []*node.Node, p int, exact bool, k *node.Node) bool {
	prop := &r.Root.Properties[p]
	if prev := given[p]; prev != nil && prev.Name != k.Name {
		return r.Fail("duplicate-key", int(k.NameOff), "%s and %s are both the parameter %s", report.Quote(prev.Name), report.Quote(k.Name), report.Quote(prop.Name))
	}
	r.Rename(prop.Name)
	if given[p] != nil {
		return r.again(value, prop, k)
	}
	given[p] = k
	if !exact {
		r.Coerced("name", k.NameOff)
	}
	if (node.IsAbsent(k) || k.Kind == node.Bare && literalFor(prop.Schema, k).Kind == node.Null) && !prop.Schema.Allows("null") {
		return true
	}
	v, ok := r.fit(prop.Schema, k)
	if ok {
		value[prop.Name] = v
	}
	return ok
}

// again handles a parameter that appears a second time under the same name. Both values must be equal.
func (r *binder) again(value map[string]any, prop *schema.Property, k *node.Node) bool {
	_, had := value[prop.Name]
	absent := node.IsAbsent(k) && !prop.Schema.Allows("null")
	if !had || absent {
		return !had && absent || r.twice(k)
	}
	v, ok := r.fit(prop.Schema, k)
	return ok && r.put(value, prop.Name, v, k)
}

// misnamed refuses a call because of unknown and missing parameters. It reports all of them.
func (r *binder) misnamed(unknown, missing []string, off, callOff int) bool {
	var said []string
	if len(unknown) > 0 {
		said = append(said, "unknown "+parameters(unknown))
	}
	if len(missing) > 0 {
		said = append(said, "missing required "+parameters(missing))
	}
	code := "undeclared"
	if len(unknown) == 0 {
		code, off = "missing", callOff
	}
	r.Fail(code, off, "%s", strings.Join(said, "; "))
	names := make([]string, len(r.Root.Properties))
	for i := range names {
		names[i] = r.Root.Properties[i].Name
	}
	for _, u := range unknown {
		r.suggest(u, names)
	}
	return false
}

// parameters formats the names of parameters for a message.
func parameters(names []string) string {
	if len(names) == 1 {
		return "parameter " + report.List(names)
	}
	return "parameters " + report.List(names)
}
