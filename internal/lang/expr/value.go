package expr

import (
	"errors"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
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

// words returns the words that a value becomes outside quotes. class distinguishes the empty default of
// a parameter, which becomes no word, from the empty output of a step, which becomes an empty word.
func (v Value) words(class Class) ([]string, error) {
	if v.Absent {
		return nil, nil
	}
	if v.literal {
		return strings.Fields(valuetext.Of(v.V, "")), nil
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
			texts[i] = valuetext.Element(e)
		}
		return texts, nil
	}
	text := valuetext.Of(v.V, v.Delimiter)
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
		return valuetext.Of(v.V, v.Delimiter), nil
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
