package argparse

import (
	"encoding/json"
	"strings"
)

// convert converts a scalar to a declared type. If more than one declared type can represent
// it, the value is ambiguous.
func (r *binder) convert(s *Schema, n *node) (any, bool) {
	var found []any
	kind := ""
	for _, t := range s.types() {
		if v, ok := as(t, n); ok && (len(found) == 0 || !equal(found[0], v)) {
			found, kind = append(found, v), conversions[t]
		}
	}
	switch {
	case len(found) > 1:
		return nil, r.fail("ambiguous", int(n.off), "%s: %s could be a %s", r.here(), quote(n.text), strings.Join(s.types(), " or a "))
	case len(found) == 1:
		r.coerced(kind, n.off)
		return r.checkEnum(s, n, found[0])
	}
	if inner, ok := stringInString(n); ok && !s.allows("string") {
		r.coerced("json-text", n.off)
		return r.fit(s, &inner)
	}
	return r.compose(s, n)
}

// stringInString decodes a text that is itself a JSON string: "\"5\"".
func stringInString(n *node) (node, bool) {
	text := strings.TrimSpace(n.text)
	if n.kind != quoted && n.kind != bare || len(text) < 2 || text[0] != '"' {
		return node{}, false
	}
	inner, end, _, ok := readJSON(source{text: text}, 0)
	inner.off, inner.exact = n.off, false
	return inner, ok && end == len(text)
}

// conversions are the kinds of coercions, by their target type.
var conversions = map[string]string{"string": "text", "number": "number", "integer": "number", "boolean": "boolean"}

// as converts the characters of a scalar to one type.
func as(t string, n *node) (any, bool) {
	switch t {
	case "string":
		if n.kind == number || n.kind == truth {
			return n.text, true
		}
	case "number", "integer":
		if n.kind == quoted || n.kind == bare {
			if s, ok := asNumber(n.text); ok && (t == "number" || integral(s)) {
				return json.Number(s), true
			}
		}
	case "boolean":
		return asBoolean(n.text)
	}
	return nil, false
}

func asBoolean(s string) (any, bool) {
	switch strings.ToLower(strings.TrimSpace(clip(s, 20))) {
	case "true", "yes", "y", "1":
		return true, true
	case "false", "no", "n", "0":
		return false, true
	}
	return nil, false
}

// compose converts a scalar to a declared array or object.
func (r *binder) compose(s *Schema, n *node) (any, bool) {
	text := strings.TrimSpace(n.text)
	written := n.kind == quoted || n.kind == bare
	switch {
	case written && strings.HasPrefix(text, "{") && s.allows("object"),
		written && strings.HasPrefix(text, "[") && s.allows("array"):
		return r.unpack(s, n)
	case s.allows("array"):
		return r.fitList(s, n, text, written)
	}
	return nil, r.wrongType(s, n)
}

// fitList converts a comma-separated list, or a single value, to an array.
func (r *binder) fitList(s *Schema, n *node, text string, written bool) (any, bool) {
	items := s.items()
	doubt := func() bool {
		return r.fail("ambiguous", int(n.off), "%s: %s may be one text or several; write an array", r.here(), quote(n.text))
	}
	switch {
	case r.inItem():
		return nil, r.wrongType(s, n) // a single cell is not a row
	case written && (text == "" || strings.ContainsAny(text, "\n\r")):
		return nil, doubt()
	case !written || !strings.Contains(text, ","):
		return r.wrapped(s, n)
	case !items.free() && (items.allows("object") || items.allows("array")):
		return nil, doubt()
	}
	tokens := items.free() || items.allows("string") && len(items.Enum) == 0
	list := make([]any, 0, strings.Count(text, ",")+1)
	r.coerced("list", n.off)
	item := node{kind: bare, off: n.off}
	for piece := range strings.SplitSeq(text, ",") {
		item.text = strings.TrimSpace(piece)
		if item.text == "" || tokens && strings.ContainsAny(item.text, " \t\"'`()[]{}“”‘’") {
			return nil, doubt()
		}
		if items.free() {
			if looksTyped(item.text) {
				return nil, doubt()
			}
			list = append(list, item.text)
			continue
		}
		r.enterItem(len(list))
		v, ok := r.fit(items, &item)
		r.leave()
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}

// looksTyped reports whether a word may be meant as a number, boolean or null.
func looksTyped(word string) bool {
	_, isNumber := asNumber(word)
	low := strings.ToLower(word)
	return isNumber || low == "true" || low == "false" || low == "null" || low == "none"
}

// unpack reads the array or object that a text contains.
func (r *binder) unpack(s *Schema, n *node) (any, bool) {
	inner, ok := r.whole(n.inner(), s)
	if !ok {
		return nil, false
	}
	r.coerced("json-text", n.off)
	return r.fit(s, &inner)
}
