package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/model/argparse/schema"
)

// The parts of a refusal are shortened so that its JSON form has at most 2 KB, even if <, > and & are escaped.
const (
	maxMessage    = 640
	maxHint       = 240
	maxExpected   = 700
	maxSuggestion = 70
	maxSuggested  = 4
)

// Refusal explains why a text is not a call. Its JSON form has at most 2 KB.
type Refusal struct {
	Code           string
	Message        string   // what is wrong, and where
	Offset         int      // in the input, in bytes
	ExpectedFormat string   // an example call as a JSON object; "" if it would be too large
	Hint           string   // how to fix the call
	Suggestions    []string // names that were probably meant
}

func (r *Refusal) Error() string { return r.Message }

// MarshalJSON writes {"code","message","offset","expected_format","hint","suggestions"}. expected_format is the example
// call itself, an object.
func (r *Refusal) MarshalJSON() ([]byte, error) {
	doc := struct {
		Code           string          `json:"code"`
		Message        string          `json:"message"`
		Offset         int             `json:"offset"`
		ExpectedFormat json.RawMessage `json:"expected_format"`
		Hint           string          `json:"hint"`
		Suggestions    []string        `json:"suggestions"`
	}{r.Code, cut(r.Message, maxMessage), r.Offset, json.RawMessage("null"), cut(r.Hint, maxHint), []string{}}
	if small(r.ExpectedFormat) {
		doc.ExpectedFormat = json.RawMessage(r.ExpectedFormat)
	}
	for _, s := range r.Suggestions[:min(len(r.Suggestions), maxSuggested)] {
		doc.Suggestions = append(doc.Suggestions, cut(s, maxSuggestion))
	}
	return plainJSON(doc)
}

// small reports whether an example fits into a refusal.
func small(example string) bool {
	return example != "" && written(example) <= maxExpected && json.Valid([]byte(example))
}

// plainJSON encodes JSON without escaping <, > and &.
func plainJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// Suggest adds a suggestion.
func (r *Refusal) Suggest(name string) {
	if len(r.Suggestions) < maxSuggested && !slices.Contains(r.Suggestions, name) {
		r.Suggestions = append(r.Suggestions, cut(name, maxSuggestion))
	}
}

// Finish completes the refusal with an example and a hint.
func (r *Refusal) Finish(s *schema.Schema) *Refusal {
	r.Message, r.ExpectedFormat = cut(r.Message, maxMessage), Example(s)
	if r.Hint == "" {
		r.Hint = hints[r.Code]
	}
	return r
}

// cut shortens a text to at most n bytes of JSON.
func cut(s string, n int) string {
	if len(s) <= n && written(s) <= n {
		return s
	}
	size := len("…")
	for i, c := range s {
		if size += cost(c); size > n {
			return s[:i] + "…"
		}
	}
	return s
}

// written returns the maximum length of a text as a JSON string.
func written(s string) int {
	size := 0
	for _, c := range s {
		size += cost(c)
	}
	return size
}

func cost(c rune) int {
	switch {
	case c == '"' || c == '\\':
		return 2
	case c < ' ' || c == '<' || c == '>' || c == '&' || c == 0x7f || c == '\u2028' || c == '\u2029' || c == utf8.RuneError:
		return 6
	}
	return utf8.RuneLen(c)
}

// hints are the ways to fix a call, by code.
var hints = map[string]string{
	"too-large":     "Send less than 1 MiB; pass large content as a file.",
	"too-deep":      "Nest objects and arrays at most 200 levels deep.",
	"encoding":      "Send the arguments as UTF-8.",
	"truncated":     "Send the whole call again, and make it shorter if it does not fit.",
	"not-arguments": "Send the arguments as one JSON object.",
	"syntax":        "Send the arguments as one JSON object, with every name and text in double quotes.",
	"ambiguous":     `Send JSON, and escape " and \ inside texts as \" and \\.`,
	"several-calls": "Send one call at a time.",
	"wrong-tool":    "Send only the arguments of this tool, without its name.",
	"duplicate-key": "Write each name once.",
	"undeclared":    "Use only the names in expected_format.",
	"missing":       "Send all required parameters in one JSON object.",
	"type":          "Use the type shown in expected_format.",
	"enum":          "Use exactly one of the listed values.",
	"number":        "Write a plain number such as 1000 or 1.5, without a unit, thousands separator or decimal comma.",
	"code":          "Evaluate the expression and send the result.",
	"ellipsis":      "Send every value in full.",
	"positional":    "Write each value with its name.",
}

// Example returns a valid call as a JSON object, which refusals show as the expected format. It has all parameters if they
// fit into a refusal, otherwise the required ones, or as many of these as fit.
func Example(s *schema.Schema) string {
	left := maxExpected - 2
	all := func(*schema.Property) bool { return true }
	required := func(p *schema.Property) bool { return p.Required }
	fitting := func(p *schema.Property) bool {
		cost := written(member(p)) + 1
		if !p.Required || cost > left {
			return false
		}
		left -= cost
		return true
	}
	for _, with := range []func(*schema.Property) bool{all, required, fitting} {
		if example := exampleOf(s, with); small(example) {
			return example
		}
	}
	return "{}"
}

// Rules are all rules for the arguments of a tool, of which a Schema has only those that guide parsing.
type Rules interface {
	Example() (call any, ok bool) // with all parameters, if that is possible
	Accepts(call any) bool
}

// ExampleOf is Example with values that all rules accept, if there is a way. It keeps the examples and defaults of the author
// that they accept.
func ExampleOf(s *schema.Schema, rules Rules) string {
	found, _ := rules.Example()
	call, ok := found.(map[string]any)
	if !ok {
		return Example(s)
	}
	whole := maps.Clone(call)
	shown := &schema.Schema{}
	for _, p := range s.Properties {
		if own := p.Own(); own != nil {
			if whole[p.Name] = own; !rules.Accepts(whole) {
				delete(whole, p.Name)
			}
			if v, known := call[p.Name]; known && whole[p.Name] == nil {
				whole[p.Name] = v
			}
		}
		if v, ok := whole[p.Name]; ok {
			shown.Properties = append(shown.Properties, fixed(p.Name, v, p.Required))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(whole)) {
		if !slices.ContainsFunc(s.Properties, func(p schema.Property) bool { return p.Name == name }) {
			shown.Properties = append(shown.Properties, fixed(name, whole[name], true))
		}
	}
	return Example(shown)
}

// fixed returns a property that has one value.
func fixed(name string, v any, required bool) schema.Property {
	return schema.Property{Name: name, Required: required, Schema: &schema.Schema{Enum: []any{v}}}
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
