package funcschema

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// parameter returns the schema of one parameter.
func (m *builder) parameter(p *tool.Parameter) *Schema {
	settings := m.def.FunctionCalling
	s := &Schema{Type: cmp.Or(settings.ParameterMapping[p.Type], p.Type), Deprecated: p.Deprecated}
	switch s.Type {
	case "array":
		s.Items = &Schema{}
		if p.Type == "array" { // the rules are for the elements
			m.addRules(s.Items, p, "")
		}
	case "object":
		yes := true
		s.AdditionalProperties = &yes
		m.addRules(s, p, s.Type)
	default:
		m.addRules(s, p, s.Type)
	}
	if !m.secret(p.Name) {
		m.addSamples(s, p)
	}
	lost := ""
	if m.format == Gemini {
		lost = restrictToGemini(s)
	}
	if enabled(settings.IncludeDescriptions, true) {
		s.Description = describe(p, lost)
	}
	return s
}

// describe returns the description of a parameter, with what its schema cannot say.
func describe(p *tool.Parameter, lost string) string {
	text := p.Description
	if lost != "" {
		text = sentence(text, lost)
	}
	switch {
	case p.Deprecated && p.DeprecatedAlternative.S != "":
		text = sentence(text, deprecation("use "+p.DeprecatedAlternative.S+"."))
	case p.Deprecated:
		text = sentence(text, deprecation(""))
	}
	return text
}

// addRules adds the validation rules as keywords of JSON Schema. typ is the type of s, "" for any type.
// Rules for another type have no meaning and are left out.
func (m *builder) addRules(s *Schema, p *tool.Parameter, typ string) {
	v := p.Validation
	if typ == "" || typ == "string" && p.Type == "string" {
		s.MinLength, s.MaxLength, s.Pattern = v.MinLength, v.MaxLength, m.pattern(p)
	}
	if typ == "" || typ == "number" || typ == "integer" {
		s.Minimum, s.Maximum = v.Minimum, v.Maximum
	}
	if !m.secret(p.Name) {
		s.Enum = m.jsonValues(v.Enum, typ)
	}
}

// addSamples adds the default and the examples.
func (m *builder) addSamples(s *Schema, p *tool.Parameter) {
	settings := m.def.FunctionCalling
	if p.Default != nil && enabled(settings.IncludeDefaults, true) && !hasReference(*p.Default) {
		if all := m.jsonValues([]tool.Value{*p.Default}, s.Type); len(all) == 1 {
			s.Default = all[0]
		}
	}
	if enabled(settings.ExampleGeneration, false) {
		s.Examples = m.jsonValues(p.Examples, exampleType(s.Type))
	}
}

// exampleType returns the type of an example. An example for an array may be one element, of any type.
func exampleType(typ string) string {
	if typ == "array" {
		return ""
	}
	return typ
}

// nonPortablePattern matches what RE2 supports, but regular expressions of JSON Schema do not, or not
// everywhere: flags and named groups, \A, \z, \Q, \pL, octal and \x{...} escapes, [[:alpha:]].
var nonPortablePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\(\?[^:]|\\[AzQECapP0-9]|\\x\{|\[:\^?[a-z]+:\]`) })

// patternEscapes removes escapes that nonPortablePattern would match by mistake.
var patternEscapes = strings.NewReplacer(`\\`, "", `\(`, "", `\[`, "")

// pattern returns the pattern of a parameter. A pattern that others would read differently, or not at all, is
// left out with a warning, because a provider would reject the whole request. When the tool is called,
// the value is still validated against it.
func (m *builder) pattern(p *tool.Parameter) string {
	at := p.Validation.Pattern
	switch {
	case at == nil:
		return ""
	case !m.sanitize, !nonPortablePattern().MatchString(patternEscapes.Replace(at.S)):
		return at.S
	}
	m.report(tool.Warning, "schema-pattern", at.Pos, fmt.Sprintf("the pattern of %q is not shown to models, because only RE2 supports it", p.Name),
		`write it without flags, named groups, \A, \z, \Q, \p, octal escapes and [[:classes:]], or describe it in the description`)
	return ""
}
