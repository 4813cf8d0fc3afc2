package jsonschema

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxShown is how many characters of a value a message shows.
const maxShown = 60

// quoted returns a text for a message: in quotes, escaped, and cut if it is long.
func quoted(s string) string {
	end := 0
	for range maxShown {
		if end >= len(s) {
			break
		}
		_, n := utf8.DecodeRuneInString(s[end:])
		end += n
	}
	if end < len(s) {
		s = s[:end] + "…"
	}
	return strings.ReplaceAll(strconv.Quote(s), `\"`, `"`)
}

// shown returns any value for a message: text in quotes, everything else as JSON.
func shown(v any) string {
	if s, ok := v.(string); ok {
		return quoted(s)
	}
	s := plain(v)
	if cut := quoted(s); strings.HasSuffix(cut, `…"`) {
		return strings.Trim(cut, `"`)
	}
	return s
}

// kindWords returns the names of types for messages.
func kindWords(k kinds) string {
	words := []string{"null", "true or false", "a number", "text", "a list", "an object", "a whole number"}
	var list []string
	for i, w := range words {
		if k&(1<<i) != 0 {
			list = append(list, w)
		}
	}
	return strings.Join(list, " or ")
}

// gotWords returns the name of a value's type for messages.
func gotWords(v any) string {
	if k := kindOf(v) &^ kindInteger; k != 0 {
		return kindWords(k)
	}
	return "a value that is not JSON"
}
