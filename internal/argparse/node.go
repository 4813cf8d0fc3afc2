package argparse

import (
	"encoding/json"
	"strings"
)

// kind is what a value looks like in the text; what it is, the schema says (fit.go).
type kind uint8

const (
	quoted kind = iota // text in quotes
	bare               // text without quotes, of the tolerant grammar alone
	number             // as JSON writes it
	truth              // true, false
	null
	array
	object
)

// node is a value as it was read. Numbers and literals keep the characters they were
// written with, and everything knows where it stands in the input.
type node struct {
	kind    kind
	exact   bool  // quoted: text is the very characters from off+1
	off     int32 // in the input
	nameOff int32
	name    string // its key, in an object
	text    string
	kids    []node
}

// source is a text that is read, and where its characters are in the input: the text of a
// JSON string is a source of its own, whose places are those of the string where escapes
// shift them.
type source struct {
	text  string
	base  int
	shift bool
}

func (s *source) at(i int) int32 {
	if s.shift {
		return int32(s.base)
	}
	return int32(s.base + i)
}

// inner is the source that a quoted text is.
func (n *node) inner() source {
	if n.kind == bare {
		return source{text: n.text, base: int(n.off)}
	}
	if n.exact {
		return source{text: n.text, base: int(n.off) + 1}
	}
	return source{text: n.text, base: int(n.off), shift: true}
}

// literal turns bare words that JSON or Python know into what they mean.
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

// natural is the value of a node by its looks alone.
func (r *state) untyped(n *node) (any, bool) {
	switch n.kind {
	case quoted:
		return n.text, true
	case number:
		return json.Number(n.text), true
	case truth:
		return n.text == "true", true
	case null:
		return nil, true
	case array:
		list := make([]any, len(n.kids))
		for i := range n.kids {
			r.enterItem(i)
			v, ok := r.untyped(&n.kids[i])
			r.leave()
			if !ok {
				return nil, false
			}
			list[i] = v
		}
		return list, true
	case object:
		m := make(map[string]any, len(n.kids))
		doubt := mayRepeat(n.kids)
		for i := range n.kids {
			k := &n.kids[i]
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
	return r.word(n)
}

// twins tells whether a name may be given twice: in many members it is not looked for.
func mayRepeat(kids []node) bool {
	if len(kids) > 8 {
		return true
	}
	for i := range kids {
		for j := range i {
			if kids[i].name == kids[j].name {
				return true
			}
		}
	}
	return false
}

// put sets a name of an object, which may be given twice with one value alone.
func (r *state) put(m map[string]any, name string, v any, k *node) bool {
	if old, again := m[name]; again {
		return equal(old, v) || r.fail("duplicate-key", int(k.nameOff), "%s appears twice, with different values", r.here())
	}
	m[name] = v
	return true
}

// word is the value of a bare word of which no schema says what it is.
func (r *state) word(n *node) (any, bool) {
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

// plainWord tells whether a bare text of no declared type can only be a text: words of
// letters, none of which begins like a literal that lost its comma.
func plainWord(s string) bool {
	for _, lit := range []string{"true", "false", "null", "True", "False", "None"} {
		if strings.HasPrefix(s, lit) {
			return false
		}
	}
	return s != "" && !(s[0] >= '0' && s[0] <= '9') && !strings.ContainsAny(s, "+*=<>%&|!?^~`$@#;:'\"\\(){}[]")
}
