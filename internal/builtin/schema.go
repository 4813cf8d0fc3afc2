package builtin

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/flowrun/flowrun/tool"
)

// parsed is the schema of a tool's parameters. It panics where that is none, which a test
// of this package would tell.
func parsed(source string) *tool.JSONSchema {
	s, err := tool.ParseSchema([]byte(source))
	if err != nil {
		panic(fmt.Sprintf("builtin: %v in %s", err, source))
	}
	return s
}

// values are the bound parameters of a call, which keep to the tool's schema.
type values map[string]any

// text is a parameter's text, "" where it is not given.
func (v values) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// texts are those in a parameter's list.
func (v values) texts(name string) (list []string) {
	items, _ := v[name].([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// flag is a parameter's truth value, false where it is not given.
func (v values) flag(name string) bool {
	b, _ := v[name].(bool)
	return b
}

// number is a parameter's whole number, and whether it is given.
func (v values) number(name string) (int, bool) {
	switch n := v[name].(type) {
	case int:
		return n, true
	case int64:
		return int(n), true
	case float64:
		return int(min(n, math.MaxInt32)), true
	case json.Number:
		f, err := n.Float64()
		return int(min(f, math.MaxInt32)), err == nil
	}
	return 0, false
}

// gitIgnore says whether .gitignore files count for a call.
func (v values) gitIgnore() bool {
	options, _ := v["file_filtering_options"].(map[string]any)
	respect, given := options["respect_git_ignore"].(bool)
	return respect || !given
}

// filteringSchema is file_filtering_options, which four tools take.
const filteringSchema = `{
	"type": "object",
	"description": "Which files are excluded.",
	"properties": {
		"respect_git_ignore": {"type": "boolean", "default": true, "description": "Exclude files that .gitignore files name."}
	},
	"additionalProperties": false
}`
