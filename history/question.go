package history

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/tool"
)

// Question is what a step of a run asks a person. Nothing in it is secret; its texts
// are an author's, and not fit for a terminal as they are.
type Question struct {
	Run    string
	Tool   string // the run's
	Step   string // the path of the step that waits
	Wait   uint64 // the number of the event that asked, which tells it from a later question of the same step
	Prompt string
	Form   *tool.Form // nil: yes or no is all
	Since  time.Time  // when it was asked
	Until  time.Time  // when it is too late to answer; zero: never
}

// Answer is what a person says to a Question.
type Answer struct {
	Step    string         `json:"step"`
	Wait    uint64         `json:"wait"`
	Approve bool           `json:"approve"`
	Values  map[string]any `json:"values,omitempty"` // of the form, as Question.Check gives them
	Comment string         `json:"comment,omitempty"`
	By      string         `json:"by,omitempty"` // who; the user of the process where it is left out
	At      time.Time      `json:"at"`           // when; now where it is zero
}

// ErrAnswered says that a question has been answered: the first answer stands. What
// comes with it says by whom.
var ErrAnswered = errors.New("it has been answered already")

// Answered is ErrAnswered with the answer that stands; stores use it.
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

// Over says whether it is too late to answer.
func (q *Question) Over(now time.Time) bool { return !q.Until.IsZero() && !now.Before(q.Until) }

// Check makes values fit for the form: texts become what their field wants, and what is
// left out is the field's default. The error is a *ParamsError with everything that is
// wrong. Values of a question without a form are an error.
func (q *Question) Check(values map[string]any) (map[string]any, error) {
	bad := &value.ParamsError{Tool: q.Tool}
	filled := map[string]any{}
	if q.Form == nil {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "unknown", Message: "is not asked for: the step wants a yes or a no"})
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

func problemCode(p tool.FormProblem) string {
	switch {
	case p.Missing:
		return "missing"
	case p.Unknown:
		return "unknown"
	}
	return "validation"
}

// fieldValue is a value as its field wants it, where it is a text that stands for one.
func fieldValue(f *tool.FormField, v any) (any, error) {
	text, isText := v.(string)
	if !isText || f == nil {
		return v, nil
	}
	switch f.Type {
	case "integer", "number":
		n, err := value.ToNumber(text)
		return n, err
	case "boolean", "array", "object":
		return value.Coerce(f.Type, text)
	}
	for _, e := range f.Enum { // of a field that does not say its type
		if f.Type == "" && value.Plain(e) == text {
			return e, nil
		}
	}
	return v, nil
}
