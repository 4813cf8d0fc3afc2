package tool

import "github.com/flowrun/flowrun/internal/lang/keyschema"

// Schema returns the JSON Schema of definition files, generated from the table of keys: see package keyschema. Rules between
// parts of a definition (references, conditions, wait-for) are checked only by package decode and the compiler.
func Schema() map[string]any {
	s := keyschema.Of(toolObject, "flowrun tool definition")
	// An alias runs its base tool and has no body.
	isAlias := keyschema.Requires("base-tool")
	s["anyOf"] = append(s["anyOf"].([]any), isAlias)
	s["if"] = isAlias
	s["then"] = map[string]any{"propertyNames": map[string]any{"anyOf": []any{map[string]any{"enum": aliasKeys}, map[string]any{"pattern": "^x-"}}}}
	return s
}
