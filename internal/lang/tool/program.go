package tool

import (
	"encoding/json"
	"fmt"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// ProgramTool returns the definition of a tool that a discovery command listed and that call runs. History stores it
// completely, so that runs can be shown and resumed without running the discovery command again. schema describes the
// parameters and must not be nil.
func ProgramTool(name, description string, schema *dataschema.Schema, call ProgramCall) *Definition {
	d := &Definition{Name: name, Description: description, Scope: ScopeDiscovered, Schema: schema, Parameters: ParametersOf(schema), Single: true,
		Steps: []*Step{{Name: name, Body: &call}}}
	parameters, _ := schema.MarshalJSON()                                                                                // cannot fail: it is the text that was parsed
	d.HistoryText, _ = json.Marshal(storedProgram{name, description, parameters, call.Argv, call.Dir, call.StderrFails}) // cannot fail: all parts came from JSON
	return d
}

// storedProgram is a ProgramTool as history stores it.
type storedProgram struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
	Argv        []string        `json:"argv"`
	Dir         string          `json:"dir"`
	StderrFails bool            `json:"stderr_fails,omitempty"`
}

// ReadProgramTool restores a ProgramTool from history.
func ReadProgramTool(text []byte) (*Definition, error) {
	var k storedProgram
	err := value.DecodeJSON(text, &k)
	var schema *dataschema.Schema
	if err == nil {
		schema, err = dataschema.Parse(k.Parameters)
	}
	if err == nil && (!ValidName(k.Name) || len(k.Argv) == 0) {
		err = fmt.Errorf("it has no name or no command")
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read a stored discovered tool: %w", err)
	}
	return ProgramTool(k.Name, k.Description, schema, ProgramCall{k.Argv, k.Dir, k.StderrFails}), nil
}
