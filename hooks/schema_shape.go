package hooks

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// applicators are the keywords of JSON Schema whose value is a schema, as that of a property is.
var applicators = []string{"not", "if", "then", "else", "items", "contains", "additionalProperties", "propertyNames", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}

// warnNoProperties warns about properties that are not under properties: JSON Schema ignores such
// keys, so nothing would be checked or shown to people and models.
func (r *descriptionReader) warnNoProperties(source json.RawMessage, path string) {
	keys := map[string]json.RawMessage{}
	if json.Unmarshal(source, &keys) != nil || keys["properties"] != nil || keys["$ref"] != nil {
		return
	}
	var names []string
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		var property struct{ Type any }
		if !slices.Contains(applicators, name) && json.Unmarshal(keys[name], &property) == nil && property.Type != nil {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return
	}
	where := "the schema"
	if path != "" {
		where = path
	}
	r.report("bad-schema", tool.Warning, "getSchema", path, fmt.Sprintf("%s has no properties, so flowrun does not check %s", where, strings.Join(names, ", ")),
		fmt.Sprintf("write { type: 'object', properties: { %s: { ... } } }", names[0]))
}
