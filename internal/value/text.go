package value

import (
	"strings"
	"unicode/utf8"
)

// OneLine is a text in one line of at most that many characters.
func OneLine(s string, limit int) string {
	if len(s) > limit*8 { // what follows is cut in any case
		s = strings.ToValidUTF8(s[:limit*8], "")
	}
	s = strings.Join(strings.Fields(s), " ")
	if utf8.RuneCountInString(s) <= limit {
		return s
	}
	return string([]rune(s)[:limit-1]) + "…"
}

// ValidText is a text with what is no UTF-8 replaced, and whether anything was.
func ValidText(s string) (text string, replaced bool) {
	if utf8.ValidString(s) {
		return s, false
	}
	return strings.ToValidUTF8(s, "\uFFFD"), true
}

// UpTo is at most the first limit bytes of a text, cut between characters.
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

// Clone is a value of its own: what a step does with its lists and maps must not
// change what others are bound to.
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

// Scalars are the scalars in a value, as text.
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
