package call

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// inOrder is all that the call was given as one JSON object: the parameters in the order
// in which they are declared, then what is not declared by name. The digits of numbers
// stay as they are.
func (a *Args) inOrder() string {
	all := a.All()
	names := make([]string, 0, len(all))
	for _, p := range a.Plan.Definition.Parameters {
		if _, given := all[p.Name]; given {
			names = append(names, p.Name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	write := func(v any) {
		enc.Encode(v) // what came in as JSON can be written as such
		b.Truncate(b.Len() - 1)
	}
	b.WriteByte('{')
	for i, name := range names {
		if i > 0 {
			b.WriteByte(',')
		}
		write(name)
		b.WriteByte(':')
		write(all[name])
	}
	b.WriteByte('}')
	return b.String()
}
