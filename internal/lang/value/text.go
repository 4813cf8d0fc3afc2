package value

import (
	"strings"
	"unicode/utf8"
)

// OneLine returns a text on one line, cut to at most limit characters. A line break becomes a space, with the spaces
// around it; others stay, because in a command they can be part of a value.
func OneLine(s string, limit int) string {
	if len(s) > limit*8 { // the rest would be cut in any case
		s = strings.ToValidUTF8(s[:limit*8], "")
	}
	var lines []string
	for _, line := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	s = strings.Join(lines, " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// ValidText replaces bytes that are not UTF-8, and reports whether there were any.
func ValidText(s string) (text string, replaced bool) {
	if utf8.ValidString(s) {
		return s, false
	}
	return strings.ToValidUTF8(s, "\uFFFD"), true
}

// UpTo returns at most the first limit bytes of a text. It does not cut inside a character.
func UpTo(limit int64, s string) string {
	if int64(len(s)) < limit {
		return s
	}
	s = s[:limit]
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// Clone returns a deep copy. A step may change its lists and maps, and that must not change the values of
// other steps.
func Clone(v any) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = Clone(e)
		}
		return list
	case map[string]any:
		m := make(map[string]any, len(v))
		for k, e := range v {
			m[k] = Clone(e)
		}
		return m
	}
	return v
}

// Scalars returns the texts and numbers in a value, as text.
func Scalars(v any) []string {
	var list []string
	switch v := v.(type) {
	case nil, bool:
	case []any:
		for _, e := range v {
			list = append(list, Scalars(e)...)
		}
	case map[string]any:
		for _, e := range v {
			list = append(list, Scalars(e)...)
		}
	default:
		list = append(list, Plain(v))
	}
	return list
}
