package tool

import (
	"encoding/json"
	"slices"
)

func ParametersOf(s *JSONSchema) (list []*Parameter) {
	var top struct {
		Properties map[string]struct {
			Type        any
			Description string
			Default     any
		}
		Required []string
	}
	json.Unmarshal(s.source, &top)
	for _, n := range orderOf(s.source) {
		p := top.Properties[n]
		t, _ := p.Type.(string)
		if t == "integer" {
			t = "number"
		}
		if t == "" {
			t = "string"
		}
		q := &Parameter{Name: n, Type: t, Description: p.Description, Required: slices.Contains(top.Required, n)}
		if p.Default != nil {
			q.Default = &Value{Scalar: p.Default}
			if s, ok := p.Default.(string); ok {
				q.Default.Text = &Text{S: s}
			}
		}
		list = append(list, q)
	}
	return list
}
