package value

import (
	"cmp"
	"fmt"
	"strings"
)

// Subject is what the problem is about: parameter NAME.
func (p ParamProblem) Subject() string {
	if p.Name == "" {
		return "the parameters together"
	}
	return "parameter " + p.Name
}

// Within is the problem with the parameter into whose value Name leads.
func (p ParamProblem) Within(parameter string) ParamProblem {
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
