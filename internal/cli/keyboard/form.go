package keyboard

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Form is the form of a question, which a person fills in.
type Form struct {
	*Prompt
	ctx      context.Context
	question history.Question
	Values   map[string]any // as the person typed them
}

// ReadAnswer prints a prompt and reads a line. At the end of the input it returns
// flowrun.ErrNoApprover, which leaves the question for later.
func (f *Form) ReadAnswer(prompt string) (string, error) {
	fmt.Fprint(f.Out, prompt)
	text, err := f.ReadLine(f.ctx)
	if errors.Is(err, io.EOF) {
		fmt.Fprintln(f.Out)
		return "", waiting.ErrNoApprover
	}
	return strings.TrimSpace(text), err
}

// Form returns the form of a question.
func (s *Prompt) Form(ctx context.Context, q history.Question) *Form {
	return &Form{Prompt: s, ctx: ctx, question: q, Values: map[string]any{}}
}

// AskFields asks for the fields one by one and validates each, then the form as a whole.
func (f *Form) AskFields() error {
	if f.question.Form == nil {
		return nil
	}
	for i := range f.question.Form.Fields {
		if err := f.askField(&f.question.Form.Fields[i]); err != nil {
			return err
		}
	}
	for { // rules that concern the whole form
		bad := f.problems()
		if len(bad) == 0 {
			return nil
		}
		for _, p := range bad {
			fmt.Fprintf(f.Out, "  %s %s\n", console.Clean(p.Name), console.Clean(p.Message))
		}
		again := false
		for i := range f.question.Form.Fields {
			x := &f.question.Form.Fields[i]
			if slices.ContainsFunc(bad, func(p value.ParamProblem) bool { return insideField(p.Name, x.Name) }) {
				delete(f.Values, x.Name)
				again = true
				if err := f.askField(x); err != nil {
					return err
				}
			}
		}
		if !again { // the problem is in no field that can be asked for, so the form cannot be filled in here
			return waiting.ErrNoApprover
		}
	}
}

// insideField reports whether a path in the values is that of a field, or inside the field.
func insideField(path, field string) bool {
	rest, ok := strings.CutPrefix(path, field)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func (f *Form) problems() []value.ParamProblem {
	var bad *value.ParamsError
	if _, err := f.question.Check(f.Values); errors.As(err, &bad) {
		return bad.Problems
	}
	return nil
}

// askField asks for the value of a field until it is valid. An empty line stands for the default, or
// leaves an optional field out.
func (f *Form) askField(x *dataschema.FormField) error {
	describeField(f.Out, x)
	prompt := console.Clean(x.Name)
	if x.Default != nil {
		prompt += " [" + console.Clean(ui.ParamText(x.Default)) + "]"
	}
	for {
		text, err := f.ReadAnswer(prompt + ": ")
		if err != nil {
			return err
		}
		if text == "" {
			if x.Required && x.Default == nil {
				continue
			}
			return nil
		}
		f.Values[x.Name] = fieldValue(x, text)
		i := slices.IndexFunc(f.problems(), func(p value.ParamProblem) bool { return insideField(p.Name, x.Name) })
		if i < 0 {
			return nil
		}
		delete(f.Values, x.Name)
		fmt.Fprintf(f.Out, "  %s\n", console.Clean(f.fieldProblem(x, text)))
	}
}

// fieldProblem returns the reason why a value of a field is invalid.
func (f *Form) fieldProblem(x *dataschema.FormField, text string) string {
	with := &Form{question: f.question, Values: map[string]any{x.Name: fieldValue(x, text)}}
	for _, p := range with.problems() {
		if insideField(p.Name, x.Name) {
			return p.Message
		}
	}
	return "this value is not allowed"
}

// describeField prints the type, description and choices of a field.
func describeField(out io.Writer, x *dataschema.FormField) {
	kind := map[string]string{"string": "text", "integer": "a whole number", "number": "a number", "boolean": "yes or no", "array": "a list: one value, or JSON", "object": "JSON"}[x.Type]
	if kind == "" {
		kind = "text"
	}
	if !x.Required {
		kind += ", optional"
	}
	about := x.Title
	if x.Description != "" {
		about = strings.TrimPrefix(about+". "+x.Description, ". ")
	}
	fmt.Fprintf(out, "%s (%s)%s\n", console.Clean(x.Name), kind, ui.AfterColon(console.Clean(console.Sanitize(about))))
	for i, v := range Choices(*x) {
		fmt.Fprintf(out, "  %d) %s\n", i+1, console.Clean(v))
	}
}

// Choices returns the values that a field may have, as people write them.
func Choices(x dataschema.FormField) []string {
	list := make([]string, len(x.Enum))
	for i, v := range x.Enum {
		list[i] = ui.ParamText(v)
	}
	if x.Type == "boolean" {
		list = []string{"true", "false"}
	}
	return list
}

// fieldValue converts an answer to the value of the field. One of several choices may be given by its
// number, unless that number is a choice itself.
func fieldValue(x *dataschema.FormField, text string) any {
	choices := Choices(*x)
	if slices.Contains(choices, text) || x.Type == "boolean" || len(choices) == 0 {
		return text
	}
	if n, err := strconv.Atoi(text); err == nil && 1 <= n && n <= len(choices) {
		return choices[n-1]
	}
	return text
}
