package jsonschema

import (
	"encoding/json"
	"math/big"
	"regexp/syntax"
	"slices"
	"strings"
)

// Limits of one search for an example.
const (
	exampleDepth = 4       // levels of objects and lists with optional parts
	exampleTries = 1 << 12 // schemas that are read
	exampleSize  = 1 << 8  // characters of a text, and elements of a list
)

// Example returns a value that the schema accepts, with all properties if that is possible. ok is false if none is found,
// although one may exist. Safe for concurrent use.
func (s *Schema) Example() (v any, ok bool) {
	x := &exampler{schema: s, triesLeft: exampleTries, stepsLeft: maxSteps}
	return x.value(s.root, exampleDepth)
}

// exampler is the state of one call of Example.
type exampler struct {
	schema    *Schema
	triesLeft int // schemas that may still be read
	stepsLeft int // steps of all validations
}

// value returns a value that a node accepts. It tries the alternatives of the node one after the other.
func (x *exampler) value(n *node, depth int) (any, bool) {
	if n == nil || n.alwaysFalse || depth < -exampleDepth {
		return nil, false
	}
	for choice, choices := 0, 1; choice < choices && x.triesLeft > 0; choice++ {
		rules := x.rulesOf(n, choice, nil)
		for _, r := range rules {
			choices = max(choices, len(r.anyOf), len(r.oneOf))
		}
		for _, v := range x.candidates(rules, depth) {
			if x.accepts(n, v) {
				return v, true
			}
		}
	}
	return nil, false
}

// accepts reports whether a node accepts a value. It counts the steps of all validations together.
func (x *exampler) accepts(n *node, v any) bool {
	r := &validation{schema: x.schema, value: v, stepsLeft: x.stepsLeft, sized: true}
	ok := r.check(n, v, nil, nil, x.schema.newEvaluated(), false)
	x.stepsLeft = r.stepsLeft
	return ok && !r.exhausted
}

// rulesOf returns the nodes that a value must match if a choice is made in each list of alternatives.
func (x *exampler) rulesOf(n *node, choice int, seen []*node) []*node {
	if n == nil || slices.Contains(seen, n) || x.triesLeft <= 0 {
		return nil
	}
	x.triesLeft--
	list, seen := []*node{n}, append(seen, n)
	for _, in := range append([]*node{n.ref, n.dynamic, n.thenNode}, n.allOf...) {
		list = append(list, x.rulesOf(in, choice, seen)...)
	}
	for _, arms := range [][]*node{n.anyOf, n.oneOf} {
		if len(arms) > 0 {
			list = append(list, x.rulesOf(arms[choice%len(arms)], choice, seen)...)
		}
	}
	return list
}

// candidates returns values that the rules may accept, the best ones first.
func (x *exampler) candidates(rules []*node, depth int) (list []any) {
	types := kinds(0)
	implied := kindString
	for _, r := range rules {
		if r.constant != nil {
			list = append(list, r.constant.value)
		}
		if r.enum != nil {
			list = append(list, r.enum.values...)
		}
		if r.hasDefault {
			list = append(list, r.defaultValue)
		}
		if types == 0 {
			types = r.types
		}
		switch {
		case len(r.properties)+len(r.required) > 0:
			implied = kindObject
		case r.items != nil || len(r.prefixItems) > 0 || r.minItems != nil:
			implied = kindArray
		case len(r.numbers) > 0 || r.multiple != nil:
			implied = kindNumber
		}
	}
	if types == 0 {
		types = implied
	}
	for _, k := range []kinds{kindObject, kindArray, kindString, kindNumber, kindInteger, kindBoolean, kindNull} {
		if types&k != 0 {
			list = append(list, x.ofKind(k, rules, depth)...)
		}
	}
	return list
}

func (x *exampler) ofKind(k kinds, rules []*node, depth int) []any {
	switch k {
	case kindObject:
		return x.objects(rules, depth)
	case kindArray:
		return x.lists(rules, depth)
	case kindString:
		return texts(rules)
	case kindNumber:
		return append([]any{json.Number("1.5")}, numbers(rules)...)
	case kindInteger:
		return numbers(rules)
	case kindBoolean:
		return []any{true, false}
	}
	return []any{nil}
}

// objects returns an object with all properties, and one with the required ones.
func (x *exampler) objects(rules []*node, depth int) []any {
	whole, least := map[string]any{}, map[string]any{}
	for _, r := range rules {
		for _, name := range r.required {
			least[name] = "text"
		}
	}
	for _, r := range rules {
		for _, name := range r.order {
			_, required := least[name]
			if depth <= 0 && !required {
				continue
			}
			v, ok := x.value(r.properties[name], depth-1)
			if _, again := whole[name]; !ok || again {
				continue
			}
			if whole[name] = v; required {
				least[name] = v
			}
		}
		for name := range least {
			if _, known := whole[name]; !known && r.additionalProperties != nil {
				if v, ok := x.value(r.additionalProperties, depth-1); ok {
					least[name] = v
				}
			}
		}
	}
	for name, v := range least {
		if _, known := whole[name]; !known {
			whole[name] = v
		}
	}
	return []any{whole, least}
}

// lists returns a list with as many elements as are needed, and at least one, and the empty list.
func (x *exampler) lists(rules []*node, depth int) []any {
	var list []any
	count := 1
	if depth <= 0 {
		count = 0
	}
	for _, r := range rules {
		for _, n := range r.prefixItems[min(len(list), len(r.prefixItems)):] {
			v, _ := x.value(n, depth-1)
			list = append(list, v)
		}
		if r.minItems != nil {
			count = max(count, min(*r.minItems, exampleSize))
		}
	}
	for _, n := range rules {
		element := n.items
		if element == nil {
			element = n.contains
		}
		if element == nil || len(list) >= count {
			continue
		}
		v, ok := x.value(element, depth-1)
		for ok && len(list) < count {
			if e := element.enum; n.unique && e != nil && len(list) < len(e.values) {
				v = e.values[len(list)]
			}
			list = append(list, v)
		}
	}
	for len(list) < count {
		list = append(list, "text"+strings.Repeat("t", len(list)))
	}
	return []any{list, []any{}}
}

// formatExamples are texts that have the formats.
var formatExamples = map[string]string{
	"date": "2026-01-31", "time": "12:30:00Z", "date-time": "2026-01-31T12:30:00Z", "duration": "PT1H", "email": "name@example.com",
	"idn-email": "name@example.com", "hostname": "example.com", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.com/",
	"iri": "https://example.com/", "uri-reference": "/path", "iri-reference": "/path", "uri-template": "/path/{name}",
	"uuid": "123e4567-e89b-42d3-a456-426614174000", "regex": "^a", "json-pointer": "/name", "relative-json-pointer": "0/name",
}

// texts returns texts for the formats, patterns and lengths of the rules.
func texts(rules []*node) []any {
	list := []any{"text"}
	least, most := 0, exampleSize
	for _, r := range rules {
		if r.minLength != nil {
			least = max(least, min(*r.minLength, exampleSize))
		}
		if r.maxLength != nil {
			most = min(most, *r.maxLength)
		}
		if text := formatExamples[r.format]; text != "" {
			list = append(list, text)
		}
		if r.pattern != nil {
			if re, err := syntax.Parse(r.pattern.re.String(), syntax.Perl); err == nil {
				list = append(list, matching(re, 0), matching(re, 1), matching(re, least))
			}
		}
	}
	word := strings.Repeat("text", least/4+1)
	return append(list, word[:min(len(word), max(least, min(most, 4)))])
}

// matching returns a text that a regular expression matches, with each part that may be repeated without end repeated so
// often, or as often as it must be.
func matching(re *syntax.Regexp, repeat int) string {
	var b strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		return string(nearestLetter(re.Rune))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "a"
	case syntax.OpAlternate, syntax.OpCapture:
		return matching(re.Sub[0], repeat)
	case syntax.OpStar, syntax.OpPlus, syntax.OpRepeat, syntax.OpQuest:
		least := max(re.Min, 0)
		if re.Op == syntax.OpPlus {
			least = 1
		}
		if re.Op == syntax.OpStar || re.Op == syntax.OpPlus || re.Op == syntax.OpRepeat && re.Max < 0 {
			least = max(least, repeat)
		}
		return strings.Repeat(matching(re.Sub[0], min(repeat, 1)), min(least, exampleSize))
	}
	for _, part := range re.Sub {
		b.WriteString(matching(part, repeat))
	}
	return b.String()
}

// nearestLetter returns a letter or digit of a class of characters, or its first character.
func nearestLetter(ranges []rune) rune {
	for _, c := range "aA1" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= c && c <= ranges[i+1] {
				return c
			}
		}
	}
	if len(ranges) == 0 {
		return 'a'
	}
	return ranges[0]
}

// numbers returns numbers at and beside the limits of the rules, and multiples.
func numbers(rules []*node) []any {
	list := []any{json.Number("1"), json.Number("0"), json.Number("-1")}
	for _, r := range rules {
		var near []*big.Rat
		for _, b := range r.numbers {
			if limit, ok := rational(b.written); ok {
				for _, step := range []*big.Rat{big.NewRat(0, 1), big.NewRat(1, 1), big.NewRat(-1, 1), big.NewRat(1, 2), big.NewRat(-1, 2), big.NewRat(1, 1024), big.NewRat(-1, 1024)} {
					near = append(near, new(big.Rat).Add(limit, step))
				}
			}
		}
		if m, ok := rational(r.multipleText); ok && m.Sign() != 0 {
			list = append(list, json.Number(r.multipleText))
			for _, v := range slices.Clone(near) { // the multiples below and above
				q := new(big.Rat).Quo(v, m)
				below := new(big.Rat).SetInt(new(big.Int).Div(q.Num(), q.Denom()))
				near = append(near, new(big.Rat).Mul(below, m), new(big.Rat).Mul(new(big.Rat).Add(below, big.NewRat(1, 1)), m))
			}
		}
		for _, v := range near {
			text := v.FloatString(12)
			list = append(list, json.Number(strings.TrimSuffix(strings.TrimRight(text, "0"), ".")))
		}
	}
	return list
}

// rational reads a number as JSON writes it, without an exponent that would make it huge.
func rational(text string) (*big.Rat, bool) {
	if d, ok := parseDecimal(text); !ok || d.exp > 400 || d.exp < -400 {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}
