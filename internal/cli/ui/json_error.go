package ui

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// errorSchema names the format of an error under --progress json.
const errorSchema = "flowrun/error.v1"

// errorJSON is the last line on stderr of a command with --progress json that could not start or
// finish a run. New versions may add fields, but never remove one.
type errorJSON struct {
	Schema      string               `json:"schema"`
	ExitCode    int                  `json:"exit_code"`
	Message     string               `json:"message"`               // as printed for people, without colour
	Diagnostics json.RawMessage      `json:"diagnostics,omitempty"` // as in flowrun/diagnostics.v1
	Parameters  []value.ParamProblem `json:"parameters,omitempty"`
}

// failJSON is ReportError for a command whose stderr must contain only JSON lines. It prints
// nothing for an error whose message has already been printed.
func (env *Env) failJSON(err error) int {
	var text bytes.Buffer
	people := &Env{Terminal: Terminal{Stdin: env.Stdin, Stdout: env.Stdout, Stderr: &text, color: "never"}}
	doc := errorJSON{Schema: errorSchema, ExitCode: people.ReportError(err)}
	if text.Len() == 0 {
		return doc.ExitCode
	}
	doc.Message = strings.TrimSpace(strings.ReplaceAll("\n"+text.String(), "\nflowrun: ", "\n"))
	o := outcome.Of(err)
	doc.Parameters = o.Params
	if o.Diagnostics != nil {
		doc.Message = o.Diagnostics.Error()
		if b, err := WithPaths(AppliedFixes(env.Library(), diagnostic.Reported(o.Diagnostics), ReadSource), InRepository).MarshalDocument(); err == nil {
			json.Unmarshal(b, &doc)
			doc.Schema = errorSchema
		}
	}
	enc := json.NewEncoder(env.Stderr)
	enc.SetEscapeHTML(false)
	enc.Encode(doc)
	return doc.ExitCode
}
