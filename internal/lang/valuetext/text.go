// Package valuetext writes values as text: as references do ([Of]), in messages ([Quoted]), through the transforms of a
// placeholder ([Transform]) and through number formats. It bounds how long texts may become ([Total]).
//
// It does not know references: what a placeholder names, package expr says.
package valuetext

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Of returns a value as text: numbers as numberText does, objects as compact JSON, arrays
// joined by the delimiter, nil as "".
func Of(v any, delimiter string) string {
	if elems, ok := v.([]any); ok {
		texts := make([]string, len(elems))
		for i, e := range elems {
			texts[i] = Element(e)
		}
		if delimiter == "" {
			delimiter = " "
		}
		return strings.Join(texts, delimiter)
	}
	return Element(v)
}

// Element is Of for an element of an array. Lists and objects become JSON.
func Element(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case []any, map[string]any:
		return JSON(v)
	}
	if text, ok := Number(v); ok {
		return text
	}
	return fmt.Sprint(v)
}

// Number returns a number: one that was written as it was written, and a computed one without exponent. ok is false for anything that is not a number.
func Number(v any) (text string, ok bool) {
	switch v := v.(type) {
	case int:
		return strconv.Itoa(v), true
	case int64:
		return strconv.FormatInt(v, 10), true
	case uint64:
		return strconv.FormatUint(v, 10), true
	case float64:
		return floatText(v), true
	case json.Number:
		return v.String(), true
	}
	return "", false
}

func floatText(f float64) string {
	if f == 0 {
		f = 0 // -0 becomes 0
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// JSON returns v as JSON on one line. It does not escape <, > and &.
func JSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v) // NaN and functions have no JSON; the text is still data
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// AsNumber converts v to a number. Spaces around text are ignored.
func AsNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	case json.Number:
		return ParseNumber(v.String())
	case string:
		return ParseNumber(strings.TrimSpace(v))
	}
	return 0, false
}

func ParseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(s, "xX_") {
		return 0, false
	}
	return f, true
}

// Quoted returns a value for a message: in full, or only its length if it is long. The beginning of a
// value could be the beginning of a secret, which masking would not recognize.
func Quoted(s string) string {
	if b := Shorten(s); b != s {
		return b
	}
	return strconv.Quote(s)
}

// Shorten returns s if it is short, otherwise a text that gives its length.
func Shorten(s string) string {
	const maxShown = 60
	if len(s) <= maxShown {
		return s
	}
	return fmt.Sprintf("a text of %d characters", utf8.RuneCountInString(s))
}
