package hooks

import (
	"encoding/json"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// envVar is one entry of the envVars of getMetadata, in which older tools for PromptX declare their environment.
type envVar struct {
	Name, Description string
	Required          bool
	Default           json.RawMessage
}

// envVars reads envVars as the schema of the environment; nil if there are none.
func (r *descriptionReader) envVars() *dataschema.Schema {
	var m struct{ EnvVars json.RawMessage }
	json.Unmarshal(r.d.Metadata, &m) // metadata reports what is not an object
	if len(m.EnvVars) == 0 || string(m.EnvVars) == "null" {
		return nil
	}
	var list []envVar
	unnamed := func(v envVar) bool { return v.Name == "" }
	if json.Unmarshal(m.EnvVars, &list) != nil || slices.ContainsFunc(list, unnamed) {
		r.report("wrong-type", tool.Error, "getMetadata", "envVars", "envVars must be a list of { name, required, default }",
			"write envVars: [{ name: 'API_KEY', required: true }], or declare the variables in getSchema().environment")
		return nil
	}
	properties, required := map[string]any{}, []string{}
	for _, v := range list {
		property := map[string]any{}
		if v.Description != "" {
			property["description"] = v.Description
		}
		if v.Default != nil {
			property["default"] = v.Default
		}
		properties[v.Name] = property
		if v.Required {
			required = append(required, v.Name)
		}
	}
	source, _ := json.Marshal(map[string]any{"type": "object", "properties": properties, "required": required}) // cannot fail: all of it was JSON
	return r.schema(source, "environment", dataschema.Parse)
}
