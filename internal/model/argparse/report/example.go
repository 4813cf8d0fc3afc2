package report

import (
	"bytes"
	"strings"

	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// Example returns a valid call as a JSON object, which refusals show as the expected format. It
// has all parameters if they fit into a refusal, otherwise the required ones, or as many of
// these as fit.
func Example(s *schema.Schema) string {
	all := exampleOf(s, func(*schema.Property) bool { return true })
	if small(all) {
		return all
	}
	required := exampleOf(s, func(p *schema.Property) bool { return p.Required })
	if small(required) {
		return required
	}
	left := maxExpected - 2
	fitting := exampleOf(s, func(p *schema.Property) bool {
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
func exampleOf(s *schema.Schema, with func(*schema.Property) bool) string {
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

func member(p *schema.Property) string {
	return compact(p.Name) + ":" + compact(p.Sample(3))
}

func compact(v any) string {
	b, err := plainJSON(v)
	if err != nil {
		return "null"
	}
	return string(bytes.TrimSpace(b))
}
