package argparse

import (
	"strings"
)

// kind is the kind of a value in the text. fit.go decides what it means under the schema.
type kind uint8

const (
	quoted kind = iota // text in quotes
	bare               // text without quotes
	number             // a JSON number
	truth              // true, false
	null
	array
	object
)

// node is a value as it was read. It keeps the characters of numbers and literals, and all
// offsets in the input.
type node struct {
	kind     kind
	exact    bool  // a quoted text with the same characters as the input from off+1
	off      int32 // in the input
	nameOff  int32
	name     string // its key, in an object
	text     string
	children []node
}

// source is a text with its position in the input. If the text was unescaped, offsets inside
// it are unknown, and shift is set: all of them are the offset of the string.
type source struct {
	text  string
	base  int
	shift bool
}

// at returns the offset of i in the input.
func (s *source) at(i int) int32 {
	if s.shift {
		return int32(s.base)
	}
	return int32(s.base + i)
}

// inner returns the content of a text as a source.
func (n *node) inner() source {
	if n.kind == bare {
		return source{text: n.text, base: int(n.off)}
	}
	if n.exact {
		return source{text: n.text, base: int(n.off) + 1}
	}
	return source{text: n.text, base: int(n.off), shift: true}
}

// literal interprets an unquoted word as a JSON or Python literal or a number.
func (n *node) literal() node {
	out := *n
	switch n.text {
	case "true", "True":
		out.kind, out.text = truth, "true"
	case "false", "False":
		out.kind, out.text = truth, "false"
	case "null", "None":
		out.kind = null
	default:
		if isNumber(n.text) {
			out.kind = number
		}
	}
	return out
}

// untyped converts a node without a schema.
func (r *binder) untyped(n *node) (any, bool) {
	switch n.kind {
	case quoted, number, truth, null:
		return scalar(n), true
	case array:
		list := make([]any, len(n.children))
		for i := range n.children {
			r.enterItem(i)
			v, ok := r.untyped(&n.children[i])
			r.leave()
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case object:
		m := make(map[string]any, len(n.children))
		doubt := mayRepeat(n.children)
		for i := range n.children {
			k := &n.children[i]
			r.enter(k.name)
			v, ok := r.untyped(k)
			if ok && doubt {
				ok = r.put(m, k.name, v, k)
			} else if ok {
				m[k.name] = v
			}
			r.leave()
			if !ok {
				return nil, false
			}
		}
		return m, true
	}
	return r.untypedWord(n)
}

// mayRepeat reports whether a name may appear twice. It does not search long lists.
func mayRepeat(children []node) bool {
	if len(children) > 8 {
		return true
	}
	for i := range children {
		for j := range i {
			if children[i].name == children[j].name {
				return true
			}
		}
	}
	return false
}

// put sets a member. The same name may appear twice with the same value.
func (r *binder) put(m map[string]any, name string, v any, k *node) bool {
	if old, again := m[name]; again {
		return equal(old, v) || r.twice(k)
	}
	m[name] = v
	return true
}

// untypedWord converts an unquoted word without a schema.
func (r *binder) untypedWord(n *node) (any, bool) {
	lit := n.literal()
	if lit.kind != bare {
		return r.untyped(&lit)
	}
	if code, why := notPlain(n.text); code != "" {
		return nil, r.fail(code, int(n.off), "%s: %s", r.here(), why)
	}
	if !plainWord(n.text) {
		return nil, r.fail("ambiguous", int(n.off), "%s: the unquoted text %q has more than one meaning; put it in quotes", r.here(), clip(n.text, 60))
	}
	return n.text, true
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
