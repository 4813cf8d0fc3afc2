package argparse

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Example returns a valid call as a JSON object, which refusals show as the expected format. It
// has all parameters if they fit into a refusal, otherwise the required ones, or as many of
// these as fit.
func Example(s *Schema) string {
	all := exampleOf(s, func(*Property) bool { return true })
	if small(all) {
		return all
	}
	required := exampleOf(s, func(p *Property) bool { return p.Required })
	if small(required) {
		return required
	}
	left := maxExpected - 2
	fitting := exampleOf(s, func(p *Property) bool {
		if !p.Required {
			return false
		}
		cost := written(member(p)) + 1
		if cost > left {
			return false
		}
		left -= cost
		return true
	})
	if small(fitting) {
		return fitting
	}
	return "{}"
}

// exampleOf formats the selected parameters in declared order.
func exampleOf(s *Schema, with func(*Property) bool) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range s.Properties {
		p := &s.Properties[i]
		if b.Len() > 4*maxExpected {
			break
		}
		if !with(p) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.WriteString(member(p))
	}
	b.WriteByte('}')
	return b.String()
}

func member(p *Property) string {
	return compact(p.Name) + ":" + compact(p.sample(3))
}

func compact(v any) string {
	b, err := plainJSON(v)
	if err != nil {
		return "null"
	}
	return string(bytes.TrimSpace(b))
}

func (p *Property) sample(depth int) any {
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
	types := s.types()
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
		return []any{s.items().sample(depth - 1)}
	case "object":
		o := map[string]any{}
		if depth > 0 {
			for i := range s.Properties[:min(len(s.Properties), 12)] {
				o[s.Properties[i].Name] = s.Properties[i].sample(depth - 1)
			}
		}
		return o
	}
	return "text"
}
