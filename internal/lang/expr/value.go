package expr

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Value is what a reference means at run time, and how it may enter a command. One trailing newline of
// a step's output is already removed.
type Value struct {
	V         any     // nil, string, bool, an integer, float64, json.Number, []any or map[string]any
	Text      bool    // text that may be compared with a number (output, error, env)
	Absent    bool    // a parameter without a value, a variable that is not set, or a field of a step that did not run
	Author    bool    // a literal or default of the author, or the output of a step
	Caller    bool    // a value of the caller: it must not begin with '-' at the start of a word
	AllowDash bool    // the caller's value may begin with '-' (allow-dash, number, enum)
	Format    *Format // text of the author around the value, or nil
	Delimiter string  // between the elements of an array; "" = one space
	Raw       bool    // security.escape-shell: false: the value is shell text

	literal bool // a branch of a choice: spaces in it separate words, as in a format
}

// Scope looks up references at run time. Lookup returns an error that wraps [ErrUnknown] for a value
// that does not exist yet, as in a dry run.
type Scope interface {
	Lookup(Ref) (Value, error)
}

// ErrUnknown reports that a reference has no value yet.
var ErrUnknown = errors.New("not known yet")

// textOf returns a value as text: numbers as numberText does, objects as compact JSON, arrays
// joined by the delimiter, nil as "".
func textOf(v any, delimiter string) string {
	if elems, ok := v.([]any); ok {
		texts := make([]string, len(elems))
		for i, e := range elems {
			texts[i] = elementText(e)
		}
		if delimiter == "" {
			delimiter = " "
		}
		return strings.Join(texts, delimiter)
	}
	return elementText(v)
}

// elementText is textOf for an element of an array. Lists and objects become JSON.
func elementText(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case []any, map[string]any:
		return compactJSON(v)
	}
	if text, ok := numberText(v); ok {
		return text
	}
	return fmt.Sprint(v)
}

// numberText returns a number: one that was written as it was written, and a computed one without exponent. ok is false for anything that is not a number.
func numberText(v any) (text string, ok bool) {
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

// compactJSON returns v as JSON on one line. It does not escape <, > and &.
func compactJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprint(v) // NaN and functions have no JSON; the text is still data
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// asNumber converts v to a number. Spaces around text are ignored.
func asNumber(v any) (float64, bool) {
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
		return parseNumber(v.String())
	case string:
		return parseNumber(strings.TrimSpace(v))
	}
	return 0, false
}

func parseNumber(s string) (float64, bool) {
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) || strings.ContainsAny(s, "xX_") {
		return 0, false
	}
	return f, true
}

// words returns the words that a value becomes outside quotes. class distinguishes the empty default of
// a parameter, which becomes no word, from the empty output of a step, which becomes an empty word.
func (v Value) words(class Class) ([]string, error) {
	if v.Absent {
		return nil, nil
	}
	if v.literal {
		return strings.Fields(textOf(v.V, "")), nil
	}
	elems, many := v.V.([]any)
	if !many {
		elems = []any{v.V}
	}
	if v.Format != nil {
		return v.Format.words(elems)
	}
	if many && strings.TrimSpace(v.Delimiter) == "" {
		texts := make([]string, len(elems))
		for i, e := range elems {
			texts[i] = elementText(e)
		}
		return texts, nil
	}
	text := textOf(v.V, v.Delimiter)
	if text == "" && (v.Author && class == Parameter || many) {
		return nil, nil
	}
	return []string{text}, nil
}

// text returns the value as one text, for places that are quoted or not split.
func (v Value) text() (string, error) {
	if v.Absent {
		return "", nil
	}
	if v.Format == nil {
		return textOf(v.V, v.Delimiter), nil
	}
	elems, many := v.V.([]any)
	if !many {
		elems = []any{v.V}
	}
	words, err := v.Format.words(elems)
	delimiter := v.Delimiter
	if delimiter == "" {
		delimiter = " "
	}
	return strings.Join(words, delimiter), err
}

// Quoted returns a value for a message: in full, or only its length if it is long. The beginning of a
// value could be the beginning of a secret, which masking would not recognize.
func Quoted(s string) string {
	if b := shorten(s); b != s {
		return b
	}
	return strconv.Quote(s)
}

// shorten returns s if it is short, otherwise a text that gives its length.
func shorten(s string) string {
	const maxShown = 60
	if len(s) <= maxShown {
		return s
	}
	return fmt.Sprintf("a text of %d characters", utf8.RuneCountInString(s))
}
