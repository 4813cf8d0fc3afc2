// Package rawtext keeps text that is not UTF-8 in JSON, which has no other text: the names of files and the values of
// parameters may be any bytes but NUL, and encoding/json would replace some of them.
//
// Text that is UTF-8 stays as it is. Other text begins with NUL, and then its bytes that are not UTF-8, and each %, are a %
// and two hexadecimal digits. Text that begins with NUL by itself is written in the same way, so that it can be told apart.
package rawtext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"
)

const mark = "\x00"

// Encode returns a text as it is kept in JSON.
func Encode(s string) string {
	if utf8.ValidString(s) && !strings.HasPrefix(s, mark) {
		return s
	}
	var b strings.Builder
	b.WriteString(mark)
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if r == '%' || r == utf8.RuneError && size == 1 {
			fmt.Fprintf(&b, "%%%02X", s[0])
		} else {
			b.WriteString(s[:size])
		}
		s = s[size:]
	}
	return b.String()
}

// Decode returns the text that Encode was called with. What Encode never returns stays as it is.
func Decode(s string) string {
	rest, marked := strings.CutPrefix(s, mark)
	if !marked {
		return s
	}
	if text, err := url.PathUnescape(rest); err == nil && Encode(text) == s {
		return text
	}
	return s
}

// EncodeValue returns a value with each text in it encoded. A value that is bytes counts as text.
func EncodeValue(v any) any { return each(v, Encode) }

// EncodeMap is EncodeValue for an object.
func EncodeMap(m map[string]any) map[string]any { return mapped(m, Encode) }

// DecodeMap returns the object that EncodeMap was called with.
func DecodeMap(m map[string]any) map[string]any { return mapped(m, Decode) }

// Equal reports whether two values have the same JSON, with their text encoded: a record has numbers as they were written, so
// 1 and 1.0 differ.
func Equal(x, y any) bool {
	a, errA := json.Marshal(EncodeValue(x))
	b, errB := json.Marshal(EncodeValue(y))
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

func each(v any, text func(string) string) any {
	switch v := v.(type) {
	case string:
		return text(v)
	case []byte:
		return text(string(v))
	case []any:
		list := make([]any, len(v))
		for i, e := range v {
			list[i] = each(e, text)
		}
		return list
	case []string:
		return List(v, text)
	case map[string]any:
		return mapped(v, text)
	}
	return v
}

func mapped(m map[string]any, text func(string) string) map[string]any {
	if m == nil {
		return nil
	}
	out := make(map[string]any, len(m))
	for name, v := range m {
		out[text(name)] = each(v, text)
	}
	return out
}

// List returns a list with Encode or Decode applied to each text.
func List(list []string, text func(string) string) []string {
	if list == nil {
		return nil
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = text(s)
	}
	return out
}
