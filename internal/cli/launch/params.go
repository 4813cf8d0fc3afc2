package launch

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// assignment is one argument K=V, K:=JSON or K=@FILE.
type assignment struct {
	Name, text string
	json       bool
}

// ParseAssignments parses the arguments after the tool's name. An argument without = is a usage
// error.
func ParseAssignments(c *cobra.Command, words []string) ([]assignment, error) {
	var list []assignment
	for _, w := range words {
		name, text, ok := strings.Cut(w, "=")
		if !ok || name == "" || name == ":" {
			return nil, ui.Usagef(c, "unexpected argument %q: write parameters as NAME=value", w)
		}
		as := assignment{Name: name, text: text}
		if strings.HasSuffix(name, ":") {
			as.Name, as.json = strings.TrimSuffix(name, ":"), true
		}
		list = append(list, as)
	}
	return list, nil
}

// CollectParams combines --params and the assignments, which take precedence. All problems with
// values, including those that Bind finds, are returned together as a *flowrun.ParamsError.
func CollectParams(env *ui.Env, p *engine.Plan, w engine.RunEnv, document string, list []assignment) (*Params, error) {
	bad := &value.ParamsError{Tool: p.Name()}
	doc, noDocument := ReadDocument(env, document, func(name string) bool { return typeOf(p, name) == "string" })
	if noDocument != nil {
		bad.Problems = append(bad.Problems, value.ParamProblem{Name: "--params", Code: "document", Message: noDocument.Error(),
			Hint: `give a file with one JSON or YAML object, as in {"NAME": "value"}, or - for stdin`})
		doc.Values = map[string]any{}
	}
	params := &Params{doc.Values, doc.written}
	raw := params.Values
	given := map[string][]any{}
	for _, as := range list {
		v, err := as.value(p)
		if err != nil {
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: as.Name, Code: "type", Message: err.Error(), Hint: as.Hint()})
			continue
		}
		given[as.Name] = append(given[as.Name], v)
	}
	for name, vs := range given {
		delete(params.written, name)
		switch {
		case len(vs) == 1:
			raw[name] = vs[0]
		case slices.Contains([]string{"array", "any"}, typeOf(p, name)):
			raw[name] = vs
		default:
			bad.Problems = append(bad.Problems, value.ParamProblem{Name: name, Code: "repeated", Message: "is given more than once", Hint: "only arrays can have several values"})
		}
	}
	if len(bad.Problems) > 0 {
		if noDocument == nil { // without the document, everything in it would be reported as missing
			addProblems(bad, p, w, params)
		}
		slices.SortFunc(bad.Problems, func(x, y value.ParamProblem) int { return strings.Compare(x.Name, y.Name) })
		return nil, bad
	}
	return params, nil
}

// addProblems adds the problems that Bind finds with the other parameters, so that the user sees
// all problems together.
func addProblems(bad *value.ParamsError, p *engine.Plan, w engine.RunEnv, params *Params) {
	_, err := p.Bind(w, params.Values)
	found, ok := errors.AsType[*value.ParamsError](params.Locate(err))
	if !ok {
		return
	}
	reported := map[string]bool{}
	for _, problem := range bad.Problems {
		reported[problem.Name] = true
	}
	for _, problem := range found.Problems {
		if !reported[problem.Name] {
			bad.Problems = append(bad.Problems, problem)
		}
	}
}

// Hint returns a hint how to write what was probably meant.
func (as assignment) Hint() string {
	if as.json {
		return fmt.Sprintf("write plain text as %s=...", as.Name)
	}
	return fmt.Sprintf(`write a value that begins with @ as %s:='"@..."'`, as.Name)
}

// value returns the value of the assignment, converted for the parameter of p that it names.
func (as assignment) value(p *engine.Plan) (any, error) {
	return as.valueOf(typeOf(p, as.Name), p.Secret(as.Name))
}

// valueOf returns the value of the assignment for something of type typ. If secret is set, errors
// do not quote the text.
func (as assignment) valueOf(typ string, secret bool) (any, error) {
	if as.json {
		var v any
		err := ui.DecodeJSON([]byte(as.text), &v)
		return v, err
	}
	file, fromFile := strings.CutPrefix(as.text, "@")
	if !fromFile {
		return as.text, nil
	}
	b, err := os.ReadFile(file)
	if err != nil {
		if cause := errors.Unwrap(err); cause != nil {
			err = cause // without the name of the file, which the message has already
		}
		if secret { // the text may be a password instead of a file name
			file = mask.Replacement
		}
		return nil, fmt.Errorf("cannot read %q: %w", file, err)
	}
	if typ != "array" && typ != "object" {
		return string(b), nil
	}
	var v any
	if err := ui.DecodeJSON(b, &v); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return v, nil
}

func typeOf(p *engine.Plan, name string) string {
	if d := p.Definition.Parameter(name); d != nil {
		return d.Type
	}
	return ""
}

// FieldValue returns the value of the assignment, converted for the field of a form.
func (as assignment) FieldValue(q history.Question) (any, error) {
	return as.valueOf(FieldType(q, as.Name), false)
}

// FieldType returns the type of a field of a form.
func FieldType(q history.Question, name string) string {
	if q.Form != nil {
		if f := q.Form.Field(name); f != nil {
			return f.Type
		}
	}
	return "string"
}
