package registry

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Object returns the declared outputs of the tool if these are what its schema describes, else the content if it is one
// JSON object.
func (a *Answer) Object() (object json.RawMessage, ok bool) {
	if a.outputs != nil {
		return a.outputs, true
	}
	if len(a.Content.Parts) != 1 || a.Content.Parts[0].MIME != "" {
		return nil, false
	}
	text := strings.TrimSpace(a.Content.Parts[0].Text)
	if !strings.HasPrefix(text, "{") || !json.Valid([]byte(text)) {
		return nil, false
	}
	return json.RawMessage(text), true
}

// withOutputs adds the declared outputs of a tool whose schema describes them.
func (a *Answer) withOutputs(def *tool.Definition) *Answer {
	if a.Error != nil || a.Result.Outputs == nil || def.OutputSchema != nil {
		return a
	}
	text, err := encode(a.Result.Outputs)
	if err == nil {
		a.outputs = text
	}
	return a
}

// checkOutput turns the answer to a successful call into an error if the output does not match the schema that the tool
// declares.
func (a *Answer) checkOutput(schema *dataschema.Schema) *Answer {
	if schema == nil || a.Error != nil {
		return a
	}
	problem := "it is not a JSON object"
	if object, ok := a.Object(); ok {
		problem = firstProblem(schema, object)
	}
	if problem == "" {
		return a
	}
	a.Error = &Error{Code: outcome.AnswerFailed, Message: cutText("the output does not match the schema that the tool declares: "+problem, maxErrorText),
		Hint: "the tool has run; its definition must be corrected, so do not repeat the call"}
	a.Status = statusOf(a.Error.Code)
	var b strings.Builder
	fmt.Fprintf(&b, "Error: tool %s failed: %s\nHint: %s\n", a.Tool, a.Error.Message, a.Error.Hint)
	writeStreamEnd(&b, "Output", a.Result.Output, "")
	a.Content = flowrun.TextContent(strings.TrimRight(b.String(), "\n"), "")
	return a
}

// firstProblem returns why an object does not match a schema; "" if it does.
func firstProblem(schema *dataschema.Schema, object json.RawMessage) string {
	var v any
	if err := value.DecodeJSON(object, &v); err != nil {
		return err.Error()
	}
	problems := schema.Check(v)
	if len(problems) == 0 {
		return ""
	}
	return strings.TrimPrefix(problems[0].Field+": "+problems[0].Message, ": ")
}
