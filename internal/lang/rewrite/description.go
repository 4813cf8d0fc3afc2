package rewrite

import (
	"bytes"
	"encoding/json"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// definitionDoc is the JSON document of a definition whose file is not YAML or JSON.
type definitionDoc struct {
	Name        string             `json:"name"`
	DisplayName string             `json:"display_name,omitempty"`
	Format      tool.Format        `json:"format"`
	Description string             `json:"description"`
	Version     string             `json:"version,omitempty"`
	Author      string             `json:"author,omitempty"`
	Tags        []string           `json:"tags"`
	Permissions []string           `json:"required_permissions,omitempty"`
	Parameters  []parameterDoc     `json:"parameters"`
	Schema      *dataschema.Schema `json:"schema,omitempty"` // of all parameters, if the author wrote a schema
	Steps       []string           `json:"steps"`
	Source      string             `json:"source"`
}

type parameterDoc struct {
	Name        string          `json:"name"`
	Type        string          `json:"type"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required"`
	Default     json.RawMessage `json:"default,omitempty"`
}

// marshalDefinitionDoc writes the JSON document of a definition, with its source text.
func marshalDefinitionDoc(def *tool.Definition) ([]byte, error) {
	d := definitionDoc{Name: def.Name, DisplayName: def.DisplayName, Format: def.Format, Description: def.Description, Version: def.Version, Author: def.Author,
		Tags: append([]string{}, def.Tags...), Parameters: []parameterDoc{}, Schema: def.Schema, Steps: []string{}, Source: string(def.Source)}
	for _, p := range def.Security.RequiredPermissions {
		d.Permissions = append(d.Permissions, p.S)
	}
	for _, p := range def.Parameters {
		one := parameterDoc{Name: p.Name, Type: p.Type, Description: p.Description, Required: p.Required}
		if p.Default != nil {
			one.Default = p.Default.JSON()
		}
		d.Parameters = append(d.Parameters, one)
	}
	for _, s := range def.Steps {
		d.Steps = append(d.Steps, s.Name)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(d)
	return b.Bytes(), err
}
