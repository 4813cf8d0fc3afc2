package schema

import "encoding/json"

func (p *Property) Sample(depth int) any {
	switch {
	case p.Example != nil:
		return p.Example
	case p.HasDefault && p.Default != nil:
		return p.Default
	}
	return p.Schema.sample(depth)
}

// sample returns a valid value, with at most depth levels of objects and arrays.
func (s *Schema) sample(depth int) any {
	if s != nil && len(s.Enum) > 0 {
		return s.Enum[0]
	}
	types := s.TypeNames()
	if len(types) == 0 {
		return "text"
	}
	switch types[0] {
	case "number":
		return json.Number("1.5")
	case "integer":
		return json.Number("1")
	case "boolean":
		return true
	case "null":
		return nil
	case "array":
		if depth == 0 {
			return []any{}
		}
		return []any{s.ItemSchema().sample(depth - 1)}
	case "object":
		o := map[string]any{}
		if depth > 0 {
			for i := range s.Properties[:min(len(s.Properties), 12)] {
				o[s.Properties[i].Name] = s.Properties[i].Sample(depth - 1)
			}
		}
		return o
	}
	return "text"
}
