package bind

import (
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// fit converts a node to the type that its schema declares. It uses the characters of the input, and refuses values with
// more than one meaning.
func (r *binder) fit(s *schema.Schema, n *node.Node) (any, bool) {
	if r.unfilled(s, n) {
		return nil, r.Fail("ellipsis", int(n.Off), "%s: %s is the name of a parameter, not its value", r.Here(), report.Quote(n.Text))
	}
	if s.Free() {
		return r.untyped(n)
	}
	switch n.Kind {
	case node.Object:
		return r.fitObject(s, n)
	case node.Array:
		return r.fitArray(s, n)
	case node.Bare:
		if lit := literalFor(s, n); lit.Kind != node.Bare {
			return r.fit(s, &lit)
		}
		return r.convert(s, n)
	case node.Null:
		return nil, true // the rules of the caller decide whether null is allowed
	}
	if s.Allows(n.TypeName()) {
		return r.checkEnum(s, n, node.Scalar(n))
	}
	return r.convert(s, n)
}

// unfilled reports whether an unquoted text is only the name of a parameter, or of the current member, in angle brackets.
// In quotes it is the text that the model wrote.
func (r *binder) unfilled(s *schema.Schema, n *node.Node) bool {
	text := strings.TrimSpace(n.Text)
	if n.Kind != node.Bare || len(text) < 3 || len(text) > schema.MaxFoldedName || text[0] != '<' || text[len(text)-1] != '>' || isChoice(s, text) {
		return false
	}
	name := text[1 : len(text)-1]
	return r.InputName(name) || n.Name != "" && schema.Fold(name) == schema.Fold(n.Name)
}

// literalFor interprets an unquoted value under a schema: as text if only text is declared, otherwise as the number or
// literal that it looks like.
func literalFor(s *schema.Schema, n *node.Node) node.Node {
	lit := n.Literal()
	if !s.Allows("string") {
		if strings.EqualFold(n.Text, "null") || strings.EqualFold(n.Text, "none") || n.Text == "nil" {
			lit.Kind = node.Null
		}
		return lit
	}
	if lit.Kind == node.Null || lit.Kind != node.Bare && s.Allows(lit.TypeName()) {
		return lit
	}
	lit.Kind, lit.Text = node.Quoted, n.Text
	return lit
}

// checkEnum compares a scalar with the enum of its schema, ignoring case and word separators if only one value matches.
func (r *binder) checkEnum(s *schema.Schema, n *node.Node, v any) (any, bool) {
	if len(s.Enum) == 0 {
		return v, true
	}
	var folded []string
	for _, e := range s.Enum {
		if e == v {
			return v, true
		}
		if a, ok := e.(json.Number); ok {
			if b, ok := v.(json.Number); ok && node.SameNumber(string(a), string(b)) {
				return v, true
			}
		}
	}
	given, text := v.(string)
	var known []string
	for _, e := range s.Enum {
		if e, ok := e.(string); ok && text {
			known = append(known, e)
			if len(given) <= schema.MaxFoldedName && schema.Fold(strings.TrimSpace(given)) == schema.Fold(e) {
				folded = append(folded, e)
			}
		}
	}
	switch len(folded) {
	case 1:
		return folded[0], r.Coerced("enum", n.Off)
	case 0:
		r.Fail("enum", int(n.Off), "%s: %s is not one of %s", r.Here(), report.Quote(n.Text), values(s.Enum))
		r.suggest(given, known)
		return nil, false
	}
	return nil, r.Fail("ambiguous", int(n.Off), "%s: %s could be %s", r.Here(), report.Quote(given), report.List(folded))
}

// values formats the values of an enum for a message.
func values(enum []any) string {
	var all []string
	for _, e := range enum[:min(len(enum), 12)] {
		b, _ := json.Marshal(e)
		all = append(all, report.Clip(string(b), 40))
	}
	if len(enum) > 12 {
		all = append(all, "…")
	}
	return strings.Join(all, ", ")
}

// fitObject fits the members of an object. Undeclared members are kept.
func (r *binder) fitObject(s *schema.Schema, n *node.Node) (any, bool) {
	if !s.Allows("object") {
		if s.Allows("array") && (s.Items.Free() || s.Items.Allows("object")) && !r.InItem() {
			return r.wrapped(s, n)
		}
		return nil, r.wrongType(s, n)
	}
	if len(s.Properties) == 0 {
		return r.untyped(n)
	}
	m := make(map[string]any, len(n.Children))
	from := make(map[string]string, len(n.Children)) // declared name to the name in the text
	for i := range n.Children {
		if !r.member(s, m, from, &n.Children[i]) {
			return nil, false
		}
	}
	return m, true
}

func (r *binder) member(s *schema.Schema, m map[string]any, from map[string]string, k *node.Node) bool {
	name, inner := k.Name, (*schema.Schema)(nil)
	p, exact := r.Property(s, name)
	if p >= 0 {
		name, inner = s.Properties[p].Name, s.Properties[p].Schema
	}
	r.Enter(name)
	defer r.Leave()
	if as, again := from[name]; again && as != k.Name {
		return r.Fail("duplicate-key", int(k.NameOff), "%s and %s are both %s", report.Quote(as), report.Quote(k.Name), r.Here())
	}
	from[name] = k.Name
	if p >= 0 && !exact {
		r.Coerced("name", k.NameOff)
	}
	v, ok := r.fit(inner, k)
	return ok && r.put(m, name, v, k)
}

// fitArray fits the items of an array.
func (r *binder) fitArray(s *schema.Schema, n *node.Node) (any, bool) {
	if !s.Allows("array") {
		return nil, r.wrongType(s, n)
	}
	return r.items(s.ItemSchema(), n.Children)
}

// items fits the items of an array to their schema.
func (r *binder) items(s *schema.Schema, of []node.Node) (any, bool) {
	list := make([]any, len(of))
	for i := range of {
		r.EnterItem(i)
		v, ok := r.fit(s, &of[i])
		r.Leave()
		if !ok {
			return nil, false
		}
		list[i] = v
	}
	return list, true
}

// wrapped converts a single value to an array.
func (r *binder) wrapped(s *schema.Schema, n *node.Node) (any, bool) {
	r.Coerced("array", n.Off)
	return r.items(s.ItemSchema(), []node.Node{*n})
}

func (r *binder) wrongType(s *schema.Schema, n *node.Node) bool {
	if n.Kind == node.Bare || n.Kind == node.Quoted {
		if code, why := notPlain(n.Text); code != "" && !s.Allows("string") {
			return r.Fail(code, int(n.Off), "%s: %s", r.Here(), why)
		}
		return r.Fail("type", int(n.Off), "%s: expected %s, got %s", r.Here(), strings.Join(s.TypeNames(), " or "), report.Quote(n.Text))
	}
	return r.Fail("type", int(n.Off), "%s: expected %s, got %s", r.Here(), strings.Join(s.TypeNames(), " or "), n.TypeName())
}
