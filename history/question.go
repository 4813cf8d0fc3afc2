package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Question is what a step of a run asks a person. It contains no secrets. Its texts come
// from an author and must be sanitized before they are written to a terminal.
type Question struct {
	Run    string
	Tool   string // tool of the run
	Step   string // path of the step that waits
	Wait   uint64 // number of the event that asked; distinguishes it from a later question of the same step
	Prompt string
	Form   *dataschema.Form // nil: only yes or no
	Since  time.Time        // when it was asked
	Until  time.Time        // when it becomes too late to answer; zero: never
}

// Answer is a person's reply to a Question.
type Answer struct {
	Step    string         `json:"step"`
	Wait    uint64         `json:"wait"`
	Approve bool           `json:"approve"`
	Values  map[string]any `json:"values,omitempty"` // of the form, as Question.Check returns them
	Comment string         `json:"comment,omitempty"`
	By      string         `json:"by,omitempty"` // who; empty: the user of the process
	At      time.Time      `json:"at"`           // when; zero: now
}

// ErrAnswered means that the question has been answered before; the first answer counts.
// The error that wraps it says by whom.
var ErrAnswered = errors.New("it was already answered")

// Answered wraps ErrAnswered with the answer that counts. Stores use it.
func Answered(a Answer) error {
	verb := "rejected"
	if a.Approve {
		verb = "approved"
	}
	if a.By != "" {
		verb += " by " + a.By
	}
	return fmt.Errorf("%w: %s at %s", ErrAnswered, verb, a.At.UTC().Format(time.RFC3339))
}

// Over reports whether it is too late to answer.
func (q *Question) Over(now time.Time) bool { return !q.Until.IsZero() && !now.Before(q.Until) }

// Check converts values for the form: text is converted to the type of its field, and
// missing values become the default of the field. The error is a *ParamsError with all
// problems. Without a form, any value is an error.
func (q *Question) Check(values map[string]any) (map[string]any, error) {
	bad := &value.ParamsError{Tool: q.Tool}
	filled := map[string]any{}
	if q.Form == nil {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "unknown", Message: "is not expected: the step can only be approved or rejected"})
		}
	} else {
		filled = q.Form.Defaults()
		for _, name := range slices.Sorted(maps.Keys(values)) {
			v, err := fieldValue(q.Form.Field(name), values[name])
			if err != nil {
				bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "type", Message: err.Error()})
				continue
			}
			filled[name] = v
		}
		for _, p := range q.Form.Check(filled) {
			if !slices.ContainsFunc(bad.Problems, func(x value.ParamProblem) bool { return x.Name == p.Field }) {
				bad.Problems = append(bad.Problems, value.ParamProblem{Name: p.Field, Code: problemCode(p), Message: p.Message, Hint: p.Hint})
			}
		}
	}
	if len(bad.Problems) > 0 {
		return nil, bad
	}
	return filled, nil
}

func problemCode(p dataschema.Problem) string {
	switch {
	case p.Missing:
		return "missing"
	case p.Unknown:
		return "unknown"
	}
	return "validation"
}

// fieldValue converts a text to the type of its field. Other values are returned unchanged.
func fieldValue(f *dataschema.FormField, v any) (any, error) {
	text, isText := v.(string)
	if !isText || f == nil {
		return v, nil
	}
	if !utf8.ValidString(text) { // the output of the step is JSON, which could not keep it
		return nil, errors.New("the text is not UTF-8")
	}
	switch f.Type {
	case "integer", "number":
		n, err := value.ToNumber(text)
		return n, err
	case "boolean", "array", "object":
		return value.Coerce(f.Type, text)
	}
	for _, e := range f.Enum { // of a field without a type
		if f.Type == "" && value.Plain(e) == text {
			return e, nil
		}
	}
	return v, nil
}
