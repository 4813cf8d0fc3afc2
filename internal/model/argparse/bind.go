package argparse

import (
	"slices"
	"strconv"
	"strings"
)

// binder converts a node to the arguments of a call.
type binder struct{ *Reading }

// arguments converts the members of an object to the arguments of the call.
func arguments(r *Reading, n *node) (*Result, bool) { return (&binder{r}).bind(n) }

// untyped converts a value without a schema. It returns nil if it has no single meaning.
func untyped(n *node) any {
	v, _ := (&binder{&Reading{Report: new(Report)}}).untyped(n)
	return v
}

// bind converts the members of an object to the arguments of the call: it resolves their
// names, fits their values, and adds defaults. It reports all wrong names and values in one
// refusal.
func (r *binder) bind(n *node) (*Result, bool) {
	s := r.root
	value := make(map[string]any, max(len(n.children), len(s.Properties)))
	given := make([]*node, len(s.Properties))
	var unknown []string
	unknownOff := -1
	var wrong []*Refusal
	failed := map[string]bool(nil)
	for i := range n.children {
		k := &n.children[i]
		p, exact := r.property(s, k.name)
		r.enter(k.name)
		ok := true
		switch {
		case p >= 0:
			ok = r.argument(value, given, p, exact, k)
		case s.open():
			var v any
			if v, ok = r.untyped(k); ok {
				ok = r.put(value, k.name, v, k)
			}
		default:
			if unknownOff < 0 {
				unknownOff = int(k.nameOff)
			}
			if len(unknown) < 20 {
				unknown = append(unknown, k.name)
			}
		}
		r.leave()
		if ok {
			continue
		}
		if !aboutValue(r.bad.Code) || r.Exhausted() {
			return nil, false
		}
		if failed == nil {
			failed = map[string]bool{}
		}
		if p >= 0 {
			failed[s.Properties[p].Name] = true
		}
		if len(wrong) < maxReported {
			wrong = append(wrong, r.bad)
		}
		r.bad = nil
	}
	var defaults, missing []string
	for i := range s.Properties {
		p := &s.Properties[i]
		if _, ok := value[p.Name]; ok && given[i] != nil || failed[p.Name] {
			continue
		}
		switch {
		case p.HasDefault:
			value[p.Name] = clone(p.Default)
			defaults = append(defaults, p.Name)
		case p.Required:
			missing = append(missing, p.Name)
		}
	}
	if len(unknown)+len(missing) > 0 {
		r.misnamed(unknown, missing, unknownOff, int(n.off))
	}
	if r.also(wrong) {
		return nil, false
	}
	return &Result{Value: value, Repaired: r.repaired, Repairs: r.repairs, Coercions: r.coercions, Defaults: defaults}, true
}

// aboutValue reports whether a code is about a single value, so that the other values can
// still be checked.
func aboutValue(code string) bool {
	return slices.Contains([]string{"type", "number", "enum", "code", "ellipsis", "ambiguous"}, code)
}

// also adds the problems of values to the problem of names, if there is one. It reports
// whether there is any problem.
func (r *binder) also(wrong []*Refusal) bool {
	for _, w := range wrong {
		if r.bad == nil {
			r.bad = w
		} else {
			r.bad.Message += "; " + w.Message
		}
	}
	return r.bad != nil
}

// maxReported is the number of values that one refusal reports.
const maxReported = 8

// clone returns a copy of a default, so that callers cannot change the schema.
func clone(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = clone(v[i])
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k := range v {
			m[k] = clone(v[k])
		}
		return m
	}
	return v
}

// argument fits the value of a declared parameter.
func (r *binder) argument(value map[string]any, given []*node, p int, exact bool, k *node) bool {
	prop := &r.root.Properties[p]
	if prev := given[p]; prev != nil && prev.name != k.name {
		return r.fail("duplicate-key", int(k.nameOff), "%s and %s are both the parameter %s", quote(prev.name), quote(k.name), quote(prop.Name))
	}
	r.rename(prop.Name)
	if given[p] != nil {
		return r.again(value, prop, k)
	}
	given[p] = k
	if !exact {
		r.coerced("name", k.nameOff)
	}
	if (isAbsent(k) || k.kind == bare && literalFor(prop.Schema, k).kind == null) && !prop.Schema.allows("null") {
		return true
	}
	v, ok := r.fit(prop.Schema, k)
	if ok {
		value[prop.Name] = v
	}
	return ok
}

// again handles a parameter that appears a second time under the same name. Both values must
// be equal.
func (r *binder) again(value map[string]any, prop *Property, k *node) bool {
	old, had := value[prop.Name]
	absent := isAbsent(k) && !prop.Schema.allows("null")
	if !had || absent {
		return !had && absent || r.twice(k)
	}
	v, ok := r.fit(prop.Schema, k)
	return ok && (equal(old, v) || r.twice(k))
}

func (r *binder) twice(k *node) bool {
	return r.fail("duplicate-key", int(k.nameOff), "%s appears twice, with different values", r.here())
}

// isAbsent reports whether a value is null, in JSON or Python.
func isAbsent(n *node) bool {
	return n.kind == null || n.kind == bare && (n.text == "null" || n.text == "None")
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
	r.fail(code, off, "%s", strings.Join(said, "; "))
	names := make([]string, len(r.root.Properties))
	for i := range names {
		names[i] = r.root.Properties[i].Name
	}
	for _, u := range unknown {
		for _, s := range suggest(u, names) {
			r.bad.suggest(s)
		}
	}
	return false
}

func quote(s string) string { return strconv.Quote(clip(s, 60)) }

// parameters formats the names of parameters for a message.
func parameters(names []string) string {
	if len(names) == 1 {
		return "parameter " + list(names)
	}
	return "parameters " + list(names)
}

// list quotes names for a message, at most eight of them.
func list(names []string) string {
	var b strings.Builder
	for i, n := range names {
		if i == 8 {
			b.WriteString(", and more")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(n))
	}
	return b.String()
}
