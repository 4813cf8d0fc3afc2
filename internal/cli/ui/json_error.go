package ui

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/outcome"
)

// errorSchema names the form of an error under --progress json.
const errorSchema = "flowrun/error.v1"

// errorJSON is the last line on stderr of a command that narrates in JSON and did not
// come to run, or not to the end. Fields are only ever added.
type errorJSON struct {
	Schema      string                 `json:"schema"`
	ExitCode    int                    `json:"exit_code"`
	Message     string                 `json:"message"`               // as it is told to people, without colour
	Diagnostics json.RawMessage        `json:"diagnostics,omitempty"` // as in flowrun/diagnostics.v1
	Parameters  []flowrun.ParamProblem `json:"parameters,omitempty"`
}

// failJSON is fail for a command whose stderr holds JSON lines alone. An error whose
// message has been told already has no line.
func (env *Env) failJSON(err error) int {
	var text bytes.Buffer
	people := &Env{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: &text, color: "never"}
	doc := errorJSON{Schema: errorSchema, ExitCode: people.ReportError(err)}
	if text.Len() == 0 {
		return doc.ExitCode
	}
	doc.Message = strings.TrimSpace(strings.ReplaceAll("\n"+text.String(), "\nflowrun: ", "\n"))
	o := outcome.Of(err)
	doc.Parameters = o.Params
	if o.Diagnostics != nil {
		doc.Message = o.Diagnostics.Error()
		if b, err := o.Diagnostics.MarshalDocument(); err == nil {
			json.Unmarshal(b, &doc)
			doc.Schema = errorSchema
		}
	}
	enc := json.NewEncoder(env.Stderr)
	enc.SetEscapeHTML(false)
	enc.Encode(doc)
	return doc.ExitCode
}
