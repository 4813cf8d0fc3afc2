package bind

import (
	"reflect"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/grammar"
	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
)

// binder converts a node to the arguments of a call.
type binder struct{ *grammar.Reading }

func (r *binder) twice(k *node.Node) bool {
	return r.Fail("duplicate-key", int(k.NameOff), "%s appears twice, with different values", r.Here())
}

// Untyped converts a value without a schema. It returns nil if it has no single meaning.
func Untyped(n *node.Node) any {
	v, _ := (&binder{new(grammar.Reading)}).untyped(n)
	return v
}

// untyped converts a node without a schema.
func (r *binder) untyped(n *node.Node) (any, bool) {
	switch n.Kind {
	case node.Quoted, node.Number, node.Truth, node.Null:
		return node.Scalar(n), true
	case node.Array:
		return r.items(nil, n.Children)
	case node.Object:
		m := make(map[string]any, len(n.Children))
		doubt := mayRepeat(n.Children)
		for i := range n.Children {
			k := &n.Children[i]
			r.Enter(k.Name)
			v, ok := r.untyped(k)
			if ok && doubt {
				ok = r.put(m, k.Name, v, k)
			} else if ok {
				m[k.Name] = v
			}
			r.Leave()
			if !ok {
				return nil, false
			}
		}
		return m, true
	}
	return r.untypedWord(n)
}

// mayRepeat reports whether a name may appear twice. It does not search long lists.
func mayRepeat(children []node.Node) bool {
	if len(children) > 8 {
		return true
	}
	for i := range children {
		for j := range i {
			if children[i].Name == children[j].Name {
				return true
			}
		}
	}
	return false
}

// put sets a member. The same name may appear twice with the same value.
func (r *binder) put(m map[string]any, name string, v any, k *node.Node) bool {
	if old, again := m[name]; again {
		return reflect.DeepEqual(old, v) || r.twice(k)
	}
	m[name] = v
	return true
}

// untypedWord converts an unquoted word without a schema.
func (r *binder) untypedWord(n *node.Node) (any, bool) {
	lit := n.Literal()
	if lit.Kind != node.Bare {
		return r.untyped(&lit)
	}
	if code, why := notPlain(n.Text); code != "" {
		return nil, r.Fail(code, int(n.Off), "%s: %s", r.Here(), why)
	}
	if !plainWord(n.Text) {
		return nil, r.Fail("ambiguous", int(n.Off), "%s: the unquoted text %q has more than one meaning; put it in quotes", r.Here(), report.Clip(n.Text, 60))
	}
	return n.Text, true
}

// plainWord reports whether an unquoted word without a declared type can only be text.
func plainWord(s string) bool {
	for _, lit := range []string{"true", "false", "null", "True", "False", "None"} {
		if strings.HasPrefix(s, lit) {
			return false
		}
	}
	return s != "" && !(s[0] >= '0' && s[0] <= '9') && !strings.ContainsAny(s, "+*=<>%&|!?^~`$@#;:'\"\\(){}[]")
}

// notPlain explains why a text is not a value of another type: it is code, a number with a unit, or an ellipsis. code is ""
// if it has no explanation.
func notPlain(s string) (code, why string) {
	s = strings.TrimSpace(s)
	low := strings.ToLower(strings.TrimLeft(s, "+-"))
	body := strings.TrimLeft(s, "+-$€£¥ ")
	digit := body != "" && body[0] >= '0' && body[0] <= '9' || len(body) > 1 && body[0] == '.' && body[1] >= '0' && body[1] <= '9'
	switch {
	case strings.Contains(s, "...") || strings.Contains(s, "…"):
		return "ellipsis", "the value contains ... in place of omitted content; write the whole value"
	case low == "nan" || low == "inf" || low == "infinity":
		return "number", s + " is not a number that JSON can represent"
	case low == "undefined":
		return "code", "undefined is not a value; omit the name"
	case strings.Contains(s, "${") || strings.ContainsAny(s, "(") || strings.HasPrefix(s, "lambda") || strings.HasPrefix(s, "new ") || strings.HasPrefix(s, "await "):
		return "code", "this is code, which is not evaluated; write its value"
	case strings.HasPrefix(low, "0x") || strings.HasPrefix(low, "0b") || strings.HasPrefix(low, "0o"):
		return "number", report.Clip(s, 40) + " is not a decimal number"
	case digit && strings.ContainsAny(body, "+*/^") && !node.IsNumber(body), digit && strings.Contains(strings.TrimLeft(body, "0123456789. "), "- "):
		return "code", "expressions are not evaluated; write the number"
	case digit:
		return "number", report.Clip(s, 40) + " is not a plain number; write digits and a decimal point, without a unit or thousands separators"
	}
	return "", ""
}
