package value

import (
	"cmp"
	"fmt"
	"strings"
)

// ParamsError lists everything that is wrong with the parameters of one call.
type ParamsError struct {
	Tool     string
	Problems []ParamProblem
}

// ParamProblem is one problem with one parameter. Code is one of missing, unknown, type, validation,
// transform, default, nul, dash, refused.
type ParamProblem struct {
	Name    string `json:"name"` // with the path to the value inside it, as in opts[0].name; "" for a problem with all parameters together
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	top string // the parameter, if Name is a path into its value
}

// Subject returns what the problem is about: "parameter NAME", or the flag --params.
func (p ParamProblem) Subject() string {
	if p.Name == "" {
		return "the parameters together"
	}
	if p.Name == "--params" {
		return p.Name
	}
	return "parameter " + p.Name
}

// Within returns the problem with its parameter set. Use it if Name is a path into the parameter's value.
func Within(parameter string, p ParamProblem) ParamProblem {
	p.top = parameter
	return p
}

// Parameter returns the name of the parameter, "" if the problem is about all of them.
func (p ParamProblem) Parameter() string { return cmp.Or(p.top, p.Name) }

// ElementError is an error about one element of an array.
type ElementError struct {
	Index int
	Err   error
}

func (e *ElementError) Error() string { return fmt.Sprintf("element %d: %v", e.Index, e.Err) }

func (e *ElementError) Unwrap() error { return e.Err }

func (e *ParamsError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = fmt.Sprintf("%s: %s", p.Subject(), p.Message)
		if p.Hint != "" {
			lines[i] += " (" + p.Hint + ")"
		}
	}
	return strings.Join(lines, "\n")
}
