package argparse

import (
	"encoding/json"
	"strings"
)

// fit converts a node to the type that its schema declares. It uses the characters of the
// input, and refuses values with more than one meaning.
func (r *binder) fit(s *Schema, n *node) (any, bool) {
	if s.free() {
		return r.untyped(n)
	}
	switch n.kind {
	case object:
		return r.fitObject(s, n)
	case array:
		return r.fitArray(s, n)
	case bare:
		if lit := literalFor(s, n); lit.kind != bare {
			return r.fit(s, &lit)
		}
		return r.convert(s, n)
	case null:
		return nil, true // the rules of the caller decide whether null is allowed
	}
	if s.allows(n.typeName()) {
		return r.checkEnum(s, n, scalar(n))
	}
	return r.convert(s, n)
}

// literalFor interprets an unquoted value under a schema: as text if only text is declared,
// otherwise as the number or literal that it looks like.
func literalFor(s *Schema, n *node) node {
	lit := n.literal()
	if !s.allows("string") {
		if strings.EqualFold(n.text, "null") || strings.EqualFold(n.text, "none") || n.text == "nil" {
			lit.kind = null
		}
		return lit
	}
	if lit.kind == null || lit.kind != bare && s.allows(lit.typeName()) {
		return lit
	}
	lit.kind, lit.text = quoted, n.text
	return lit
}

// typeName returns the narrowest JSON Schema type of a scalar.
func (n *node) typeName() string {
	switch n.kind {
	case number:
		if integral(n.text) {
			return "integer"
		}
		return "number"
	case truth:
		return "boolean"
	case null:
		return "null"
	case array:
		return "array"
	case object:
		return "object"
	}
	return "string"
}

func typeOf(v any) string {
	switch v := v.(type) {
	case string:
		return "string"
	case json.Number:
		if integral(string(v)) {
			return "integer"
		}
		return "number"
	case bool:
		return "boolean"
	case nil:
		return "null"
	case []any:
		return "array"
	}
	return "object"
}

func scalar(n *node) any {
	switch n.kind {
	case number:
		return json.Number(n.text)
	case truth:
		return n.text == "true"
	case null:
		return nil
	}
	return n.text
}

// checkEnum compares a scalar with the enum of its schema, ignoring case and word separators
// if only one value matches.
func (r *binder) checkEnum(s *Schema, n *node, v any) (any, bool) {
	if len(s.Enum) == 0 {
		return v, true
	}
	var folded []string
	for _, e := range s.Enum {
		if e == v {
			return v, true
		}
		if a, ok := e.(json.Number); ok {
			if b, ok := v.(json.Number); ok && sameNumber(string(a), string(b)) {
				return v, true
			}
		}
	}
	given, text := v.(string)
	var known []string
	for _, e := range s.Enum {
		if e, ok := e.(string); ok && text {
			known = append(known, e)
			if len(given) <= maxFoldedName && fold(strings.TrimSpace(given)) == fold(e) {
				folded = append(folded, e)
			}
		}
	}
	switch len(folded) {
	case 1:
		return folded[0], r.coerced("enum", n.off)
	case 0:
		r.fail("enum", int(n.off), "%s: %s is not one of %s", r.here(), quote(n.text), values(s.Enum))
		for _, w := range suggest(given, known) {
			r.bad.suggest(w)
		}
		return nil, false
	}
	return nil, r.fail("ambiguous", int(n.off), "%s: %s could be %s", r.here(), quote(given), list(folded))
}

// values formats the values of an enum for a message.
func values(enum []any) string {
	var all []string
	for _, e := range enum[:min(len(enum), 12)] {
		b, _ := json.Marshal(e)
		all = append(all, clip(string(b), 40))
	}
	if len(enum) > 12 {
		all = append(all, "…")
	}
	return strings.Join(all, ", ")
}

// fitObject fits the members of an object. Undeclared members are kept.
func (r *binder) fitObject(s *Schema, n *node) (any, bool) {
	if !s.allows("object") {
		if s.allows("array") && (s.Items.free() || s.Items.allows("object")) && !r.inItem() {
			return r.wrapped(s, n)
		}
		return nil, r.wrongType(s, n)
	}
	if len(s.Properties) == 0 {
		return r.untyped(n)
	}
	m := make(map[string]any, len(n.children))
	from := make(map[string]string, len(n.children)) // declared name to the name in the text
	for i := range n.children {
		if !r.member(s, m, from, &n.children[i]) {
			return nil, false
		}
	}
	return m, true
}

func (r *binder) member(s *Schema, m map[string]any, from map[string]string, k *node) bool {
	name, inner := k.name, (*Schema)(nil)
	p, exact := r.property(s, name)
	if p >= 0 {
		name, inner = s.Properties[p].Name, s.Properties[p].Schema
	}
	r.enter(name)
	defer r.leave()
	if as, again := from[name]; again && as != k.name {
		return r.fail("duplicate-key", int(k.nameOff), "%s and %s are both %s", quote(as), quote(k.name), r.here())
	}
	from[name] = k.name
	if p >= 0 && !exact {
		r.coerced("name", k.nameOff)
	}
	v, ok := r.fit(inner, k)
	return ok && r.put(m, name, v, k)
}

// fitArray fits the items of an array.
func (r *binder) fitArray(s *Schema, n *node) (any, bool) {
	if !s.allows("array") {
		return nil, r.wrongType(s, n)
	}
	list := make([]any, len(n.children))
	for i := range n.children {
		r.enterItem(i)
		v, ok := r.fit(s.items(), &n.children[i])
		r.leave()
		if !ok {
			return nil, false
		}
		list[i] = v
	}
	return list, true
}

// wrapped converts a single value to an array.
func (r *binder) wrapped(s *Schema, n *node) (any, bool) {
	r.coerced("array", n.off)
	r.enterItem(0)
	defer r.leave()
	v, ok := r.fit(s.items(), n)
	if !ok {
		return nil, false
	}
	return []any{v}, true
}

func (r *binder) wrongType(s *Schema, n *node) bool {
	if n.kind == bare || n.kind == quoted {
		if code, why := notPlain(n.text); code != "" && !s.allows("string") {
			return r.fail(code, int(n.off), "%s: %s", r.here(), why)
		}
		return r.fail("type", int(n.off), "%s: expected %s, got %s", r.here(), strings.Join(s.types(), " or "), quote(n.text))
	}
	return r.fail("type", int(n.off), "%s: expected %s, got %s", r.here(), strings.Join(s.types(), " or "), n.typeName())
}
