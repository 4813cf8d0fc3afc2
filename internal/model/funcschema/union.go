package funcschema

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// maxAlternatives is how many alternatives a description names.
const maxAlternatives = 20

// union returns a schema of an object without alternatives at its top, which providers and clients of MCP reject: it has the
// properties of all, and requires what each of them requires. The builder notes in words which belong together, because only
// flowrun checks that.
func (o *ownSchema) union(top ordered, depth int) ordered {
	if depth > maxInlined {
		return top
	}
	for _, key := range inList {
		list, ok := top.get(key).([]any)
		if !ok {
			continue
		}
		var arms []ordered
		for _, one := range list {
			if arm, ok := one.(ordered); ok {
				arms = append(arms, o.union(o.inlineRefs(arm), depth+1))
			}
		}
		top = merged(top.without(key), arms, key == "allOf")
		if key != "allOf" {
			o.describeAlternatives(arms, key == "oneOf")
		}
	}
	return top
}

// merged returns an object with the properties of other objects. What it says itself about a property applies.
func merged(top ordered, arms []ordered, all bool) ordered {
	own, _ := top.get("properties").(ordered)
	properties := slices.Clone(own)
	closed := len(arms) > 0
	for _, arm := range arms {
		theirs, _ := arm.get("properties").(ordered)
		for _, p := range theirs {
			switch {
			case own.has(p.key):
			case properties.has(p.key):
				properties = properties.with(p.key, either(properties.get(p.key), p.value, all))
			default:
				properties = append(properties, p)
			}
		}
		closed = closed && arm.get("additionalProperties") == false
	}
	if properties != nil {
		top = top.with("properties", properties)
	}
	if closed && !top.has("additionalProperties") {
		top = top.with("additionalProperties", false)
	}
	if required := requiredByAll(top, arms, all); required != nil {
		top = top.with("required", required)
	}
	return top
}

// requiredByAll returns the names that the object requires itself, and those that all others require; all says that every
// one of them applies.
func requiredByAll(top ordered, arms []ordered, all bool) []any {
	required := slices.Clone(top.list("required"))
	for i, arm := range arms {
		for _, name := range arm.list("required") {
			everywhere := i == 0 && !slices.ContainsFunc(arms, func(other ordered) bool { return !slices.Contains(other.list("required"), name) })
			if (all || everywhere) && !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
	}
	return required
}

// either returns a schema for the values of one or both of two schemas: for those of both if all is true.
func either(a, b any, all bool) any {
	textA, errA := encode(a)
	textB, errB := encode(b)
	if errA == nil && errB == nil && bytes.Equal(textA, textB) {
		return a
	}
	if all {
		return ordered{{"allOf", []any{a, b}}}
	}
	first, isSchema := a.(ordered)
	second, alsoSchema := b.(ordered)
	if isSchema && alsoSchema {
		if values, more := choices(first), choices(second); values != nil && more != nil {
			for _, v := range more {
				if !slices.ContainsFunc(values, func(w any) bool { return fmt.Sprint(v) == fmt.Sprint(w) }) {
					values = append(values, v)
				}
			}
			return first.without("const", "enum").with("enum", values)
		}
		if list, made := first.get("anyOf").([]any); made && len(first) == 1 {
			return ordered{{"anyOf", append(slices.Clone(list), b)}}
		}
	}
	return ordered{{"anyOf", []any{a, b}}}
}

// choices returns the values that a schema lists, nil if it lists none.
func choices(s ordered) []any {
	if s.has("const") {
		return []any{s.get("const")}
	}
	return slices.Clone(s.list("enum"))
}

// describeAlternatives notes which parameters belong together.
func (o *ownSchema) describeAlternatives(arms []ordered, one bool) {
	var words []string
	for _, arm := range arms {
		if text := alternative(arm); text != "" && !slices.Contains(words, text) {
			words = append(words, text)
		}
	}
	if len(words) < 2 {
		return
	}
	if more := len(words) - maxAlternatives; more > 0 {
		words = append(words[:maxAlternatives], fmt.Sprintf("%d more", more))
	}
	how := "at least one"
	if one {
		how = "exactly one"
	}
	o.alternatives = append(o.alternatives, fmt.Sprintf("Pass the parameters of %s of these: %s.", how, strings.Join(words, "; or ")))
}

// alternative describes one alternative: the parameters that it requires, with the only value that it allows, and the others.
func alternative(arm ordered) string {
	properties, _ := arm.get("properties").(ordered)
	required := arm.list("required")
	word := func(name string) string {
		if p, _ := properties.get(name).(ordered); len(choices(p)) == 1 {
			if v, err := encode(choices(p)[0]); err == nil {
				return name + " = " + string(v)
			}
		}
		return name
	}
	var must, may []string
	for _, name := range required {
		if text, ok := name.(string); ok {
			must = append(must, word(text))
		}
	}
	for _, p := range properties {
		if !slices.Contains(required, any(p.key)) {
			may = append(may, word(p.key))
		}
	}
	text := strings.Join(must, ", ")
	if len(may) > 0 {
		text = strings.TrimPrefix(text+", optionally "+strings.Join(may, ", "), ", ")
	}
	if title := arm.text("title"); title != "" && text != "" {
		text = title + ": " + text
	}
	return text
}
