package builtin

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/flowrun/flowrun/internal/lang/dataschema"
)

// parsed returns the schema of a tool's parameters. It panics if the schema is invalid; the tests of this package
// load all of them.
func parsed(source string) *dataschema.Schema {
	s, err := dataschema.Parse([]byte(source))
	if err != nil {
		panic(fmt.Sprintf("builtin: %v in %s", err, source))
	}
	return s
}

// values holds the bound parameters of a call, which match the tool's schema.
type values map[string]any

// text returns a text parameter, "" if it is not given.
func (v values) text(name string) string {
	s, _ := v[name].(string)
	return s
}

// texts returns the texts in a list parameter.
func (v values) texts(name string) (list []string) {
	items, _ := v[name].([]any)
	for _, item := range items {
		if s, ok := item.(string); ok {
			list = append(list, s)
		}
	}
	return list
}

// flag returns a boolean parameter, false if it is not given.
func (v values) flag(name string) bool {
	b, _ := v[name].(bool)
	return b
}

// number returns a whole-number parameter, and whether it is given.
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

// gitIgnore reports whether .gitignore files apply to a call.
func (v values) gitIgnore() bool {
	options, _ := v["file_filtering_options"].(map[string]any)
	respect, given := options["respect_git_ignore"].(bool)
	return respect || !given
}

// filteringSchema is the schema of file_filtering_options, which several tools share.
const filteringSchema = `{
	"type": "object",
	"description": "Which files are excluded.",
	"properties": {
		"respect_git_ignore": {"type": "boolean", "default": true, "description": "Exclude files that .gitignore files name."}
	},
	"additionalProperties": false
}`
