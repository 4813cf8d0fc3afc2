package tool

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// DeclaredOutput is an output that a step writes, or that a tool or a group computes from its steps.
type DeclaredOutput struct {
	Name        string
	Pos         Pos
	Type        string // as in JSON Schema; "" = any, for an output with a value
	Description string
	Optional    bool  // it may be missing
	Value       *Text // of a tool with steps and of a group: a template; nil for other steps

	short Text // the text that was written in place of a mapping
	whole bool // it was written as a mapping
}

var outputValueObject = keytable.NewObject("a declared output", "A declared output: a value with a name and a type.", func() []keytable.Field {
	return []keytable.Field{
		keytable.Choice("type", "", jsonTypes, "Type of the value. Default: string, and any type for an output with value.", func(o *DeclaredOutput, v string) { o.Type = v }),
		keytable.String("description", "", "What the value is.", func(o *DeclaredOutput, v string) { o.Description = v }),
		keytable.Boolean("required", "", "Whether the step fails if it does not write the value.", func(o *DeclaredOutput, v bool) { o.Optional = !v }).WithDefault("true"),
		keytable.Text("value", "", "What the output is, such as '{build.outputs.version}'. Only for a tool with steps, and for a group of steps.", func(o *DeclaredOutput, v Text) { o.Value = &v }),
	}
}).WithCheck(func(_ *keytable.Decoder, into any, _ *yaml.Node, _ []*yaml.Node) { into.(*DeclaredOutput).whole = true })

// DeclaredOutputs returns the outputs of a step itself, without those of a tool that it uses. A body can have outputs that
// nobody declares.
func (s *Step) DeclaredOutputs() []*DeclaredOutput {
	if b, ok := s.Body.(interface{ Outputs() []*DeclaredOutput }); ok {
		return append(b.Outputs(), s.Outputs...)
	}
	return s.Outputs
}

// outputsField returns the field for declared outputs: names with a text, or with a mapping.
func outputsField[T any](doc string, list func(*T) *[]*DeclaredOutput) keytable.Field {
	return keytable.NamedOrText("outputs", "", outputValueObject, doc, func(into *T, name string, p Pos) *DeclaredOutput {
		return addPointer(list(into), &DeclaredOutput{Name: name, Pos: p})
	}, func(o *DeclaredOutput, v Text) { o.short = v }).WithForm(outputName).WithTypes(jsonTypes...).WithAnyTextBeside("steps")
}

// outputName matches valid names of outputs.
var outputName = diagnostic.Pattern(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// checkOutputs checks declared outputs. computed means that they have values, because steps inside write them.
func checkOutputs(d *keytable.Decoder, list []*DeclaredOutput, computed bool) {
	d.Path.Push("outputs")
	defer d.Path.Pop()
	for _, o := range list {
		fail := func(at Text, code, message, hint string) {
			d.Report(Diagnostic{Code: code, Severity: Error, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: d.Path.String() + "." + o.Name, Message: message, Hint: hint})
		}
		key := Text{S: o.Name, Pos: o.Pos}
		if !outputName().MatchString(o.Name) {
			fail(key, "bad-name", fmt.Sprintf("%s cannot be the name of an output", diagnostic.Quote(o.Name)), "use letters, digits, '_' and '-', beginning with a letter or '_'")
		}
		switch {
		case computed && o.short.Pos.Line > 0 && slices.Contains(jsonTypes, o.short.S):
			fail(o.short, "no-value", fmt.Sprintf("output %s has a type but no value: its steps write their own outputs", o.Name), "write "+o.Name+": '{STEP.outputs."+o.Name+"}'; for the text itself, {value: "+o.short.S+"}")
		case computed && o.short.Pos.Line > 0:
			o.Value = &o.short
		case o.short.Pos.Line > 0 && !slices.Contains(jsonTypes, o.short.S):
			hint := "write a type: string, integer, number, boolean, array or object"
			if near := keytable.SuggestChoice(o.short.S, jsonTypes); near != "" {
				hint = near
			}
			fail(o.short, "bad-choice", fmt.Sprintf("%s is not a type", diagnostic.Quote(o.short.S)), hint)
		case o.short.Pos.Line > 0:
			o.Type = o.short.S
		case !computed && o.Value != nil:
			fail(*o.Value, "no-effect", "value has no effect here: the command writes the output", "remove value, and write "+o.Name+"=... to the file in $FLOWRUN_OUTPUT")
		}
		if !computed && o.Type == "" {
			o.Type = "string"
		}
		if computed && o.Value == nil && o.whole {
			fail(key, "no-value", fmt.Sprintf("output %s has no value", o.Name), "add value: with the output of a step, such as '{build.outputs."+o.Name+"}'")
		}
	}
}

// checkStepOutputs checks the outputs of a step.
func checkStepOutputs(d *keytable.Decoder, s *Step, content []*yaml.Node) {
	key := keytable.KeyOf(content, "outputs")
	if key == nil {
		return
	}
	switch s.Body.(type) {
	case *ToolUse:
		d.FailKey(key, "no-effect", "outputs has no effect on a step that uses a tool: its outputs are those of the tool", "move outputs to the tool")
	case *HTTP:
		d.FailKey(key, "no-effect", "outputs has no effect on a step that sends a request: its outputs are status and headers", "remove it; {"+s.Name+".json...} reads the response")
	case *Wait, *Approve:
		d.FailKey(key, "no-effect", "outputs has no effect on a step that waits", "remove it; {STEP.json...} has the answer to a question")
	case *StepGroup:
		checkOutputs(d, s.Outputs, true)
	default:
		checkOutputs(d, s.Outputs, false)
	}
}
