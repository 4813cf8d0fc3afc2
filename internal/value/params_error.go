package value

import (
	"cmp"
	"fmt"
	"strings"
)

// ParamsError is everything that is wrong with the parameters of one call.
type ParamsError struct {
	Tool     string
	Problems []ParamProblem
}

// ParamProblem is what is wrong with one parameter. Code is one of missing,
// unknown, type, validation, transform, default, nul, dash, refused.
type ParamProblem struct {
	Name    string `json:"name"` // with what leads to the value inside it, as in opts[0].name; "" for all of them together
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`

	top string // the parameter, where Name leads into its value
}

// Subject is what the problem is about: parameter NAME.
func (p ParamProblem) Subject() string {
	if p.Name == "" {
		return "the parameters together"
	}
	return "parameter " + p.Name
}

// Within is a problem with the parameter into whose value Name leads.
func Within(parameter string, p ParamProblem) ParamProblem {
	p.top = parameter
	return p
}

// Parameter is the name of the parameter, "" where the problem is about all of them.
func (p ParamProblem) Parameter() string { return cmp.Or(p.top, p.Name) }

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
