package bind

import (
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/report"
	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// convert converts a scalar to a declared type. If more than one declared type can represent it, the value is ambiguous.
func (r *binder) convert(s *schema.Schema, n *node.Node) (any, bool) {
	var found []any
	kind := ""
	for _, t := range s.TypeNames() {
		if v, ok := as(t, n); ok && (len(found) == 0 || found[0] != v) {
			found, kind = append(found, v), conversions[t]
		}
	}
	switch {
	case len(found) > 1:
		return nil, r.Fail("ambiguous", int(n.Off), "%s: %s could be a %s", r.Here(), report.Quote(n.Text), strings.Join(s.TypeNames(), " or a "))
	case len(found) == 1:
		r.Coerced(kind, n.Off)
		return r.checkEnum(s, n, found[0])
	}
	if inner, ok := stringInString(n); ok && !s.Allows("string") {
		r.Coerced("json-text", n.Off)
		return r.fit(s, &inner)
	}
	return r.compose(s, n)
}

// stringInString decodes a text that is itself a JSON string: "\"5\"".
func stringInString(n *node.Node) (node.Node, bool) {
	text := strings.TrimSpace(n.Text)
	if n.Kind != node.Quoted && n.Kind != node.Bare || len(text) < 2 || text[0] != '"' {
		return node.Node{}, false
	}
	inner, end, _, ok := node.ReadJSON(node.Source{Text: text}, 0)
	inner.Off, inner.Exact = n.Off, false
	return inner, ok && end == len(text)
}

// conversions are the kinds of coercions, by their target type.
var conversions = map[string]string{"string": "text", "number": "number", "integer": "number", "boolean": "boolean"}

// as converts the characters of a scalar to one type.
func as(t string, n *node.Node) (any, bool) {
	switch t {
	case "string":
		if n.Kind == node.Number || n.Kind == node.Truth {
			return n.Text, true
		}
	case "number", "integer":
		if n.Kind == node.Quoted || n.Kind == node.Bare {
			if s, ok := asNumber(n.Text); ok && (t == "number" || node.Integral(s)) {
				return json.Number(s), true
			}
		}
	case "boolean":
		return asBoolean(n.Text)
	}
	return nil, false
}

func asBoolean(s string) (any, bool) {
	switch strings.ToLower(strings.TrimSpace(report.Clip(s, 20))) {
	case "true", "yes", "y", "1":
		return true, true
	case "false", "no", "n", "0":
		return false, true
	}
	return nil, false
}

// compose converts a scalar to a declared array or object.
func (r *binder) compose(s *schema.Schema, n *node.Node) (any, bool) {
	text := strings.TrimSpace(n.Text)
	written := n.Kind == node.Quoted || n.Kind == node.Bare
	switch {
	case written && strings.HasPrefix(text, "{") && s.Allows("object"),
		written && strings.HasPrefix(text, "[") && s.Allows("array"):
		return r.unpack(s, n)
	case s.Allows("array"):
		return r.fitList(s, n, text, written)
	}
	return nil, r.wrongType(s, n)
}

// fitList converts a text with commas, or a single value, to an array. A text that may be one item as well is refused.
func (r *binder) fitList(s *schema.Schema, n *node.Node, text string, written bool) (any, bool) {
	items, pieces := s.ItemSchema(), strings.Split(text, ",")
	several := len(pieces) > 1
	switch {
	case r.InItem():
		return nil, r.wrongType(s, n) // a single cell is not a row
	case written && (text == "" || strings.ContainsAny(text, "\n\r")):
	case !written || !several || isChoice(items, text) && !slices.ContainsFunc(pieces, func(p string) bool { return isChoice(items, p) }):
		return r.wrapped(s, n)
	case !mayBeOne(items, text, pieces):
		return r.fitPieces(items, n.Off, pieces)
	}
	return nil, r.Fail("ambiguous", int(n.Off), "%s: %s may be one text or several; write an array", r.Here(), report.Quote(n.Text))
}

// fitPieces fits the pieces between the commas of a text.
func (r *binder) fitPieces(items *schema.Schema, off int32, pieces []string) (any, bool) {
	r.Coerced("list", off)
	list := make([]node.Node, len(pieces))
	for i, p := range pieces {
		list[i] = node.Node{Kind: node.Bare, Off: off, Text: strings.TrimSpace(p)}
	}
	return r.items(items, list)
}

// isChoice reports whether a text is a value of an enum, in any spelling.
func isChoice(s *schema.Schema, text string) bool {
	return s != nil && len(text) <= schema.MaxFoldedName && slices.ContainsFunc(s.Enum, func(e any) bool {
		choice, ok := e.(string)
		return ok && schema.Fold(strings.TrimSpace(text)) == schema.Fold(choice)
	})
}

// mayBeOne reports whether a text with commas may be one item: a text, a number with a decimal comma or thousands
// separators, or something that is not written with commas.
func mayBeOne(items *schema.Schema, text string, pieces []string) bool {
	switch {
	case items.Free(), items.Allows("object"), items.Allows("array"), slices.ContainsFunc(pieces, func(p string) bool { return strings.TrimSpace(p) == "" }):
		return true
	case items.Allows("string"):
		return len(items.Enum) == 0 || isChoice(items, text)
	case !items.Allows("integer"):
		return false
	}
	first, rest := strings.TrimLeft(pieces[0], "+-\u2212"), pieces[1:]
	return len(rest) == 1 && items.Allows("number") && isDigits(rest[0]) || len(first) < 4 && isDigits(first) &&
		!slices.ContainsFunc(rest, func(p string) bool { return len(p) != 3 || !isDigits(p) })
}

func isDigits(s string) bool { return s != "" && node.Digits(s) == len(s) }

// unpack reads the array or object that a text contains.
func (r *binder) unpack(s *schema.Schema, n *node.Node) (any, bool) {
	inner, ok := r.Whole(n.Inner(), s)
	if !ok {
		return nil, false
	}
	r.Coerced("json-text", n.Off)
	return r.fit(s, &inner)
}

// asNumber converts a text to a JSON number with the same digits. It accepts surrounding spaces, a plus sign, underscores
// between digits, and a point without digits on one side.
func asNumber(s string) (string, bool) {
	s = strings.TrimSpace(s)
	sign := ""
	switch c, size := utf8.DecodeRuneInString(s); c {
	case '+':
		s = s[size:]
	case '-', '\u2212': // the minus sign of typography
		sign, s = "-", s[size:]
	}
	s = withoutUnderscores(s)
	if whole, point := strings.CutSuffix(s, "."); point && node.Digits(whole) == len(whole) {
		s = whole
	}
	if strings.HasPrefix(s, ".") {
		s = "0" + s
	}
	if s == "" || s[0] < '0' || s[0] > '9' || !node.IsNumber(s) {
		return "", false
	}
	return sign + s, true
}

// withoutUnderscores removes the underscores between the digits of a number, as in 1_000. A text with an underscore
// elsewhere is returned unchanged.
func withoutUnderscores(s string) string {
	if strings.IndexByte(s, '_') < 0 {
		return s
	}
	for i := range len(s) {
		if s[i] == '_' && (i == 0 || i+1 == len(s) || node.Digits(s[i-1:]) == 0 || node.Digits(s[i+1:]) == 0) {
			return s
		}
	}
	return strings.ReplaceAll(s, "_", "")
}
