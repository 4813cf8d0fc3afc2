package funcschema

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Function is the declaration of one tool. It marshals to the envelope of its dialect.
type Function struct {
	Name        string
	Description string
	Parameters  *Schema // of an object with the tool's parameters, in their declared order
	Output      *Schema // of the output; nil = none is declared

	format Format
	tool   string // the name of the tool itself
	pos    tool.Pos
}

// Of declares a tool in a dialect. If the tool is an alias, def is the definition that the alias stands for,
// as in a compiled plan. secret reports whether the value of a parameter is masked. If there are errors
// among the diagnostics (two parameters with one name), the declaration cannot be used. Warnings name
// what the declaration does not say. Of does not change def. Safe for concurrent use.
func Of(def *tool.Definition, secret func(parameter string) bool, f Format) (*Function, tool.Diagnostics) {
	m := &builder{def: def, secret: secret, format: f, sanitize: enabled(def.FunctionCalling.SanitizeSchemas, true)}
	fn := &Function{Name: def.Name, Description: def.Description, Parameters: m.parameters(), Output: output(def.ResultSchema()), format: f, tool: def.Name, pos: def.Pos}
	for _, text := range m.alternatives {
		fn.Description = sentence(fn.Description, text)
	}
	if def.Deprecated {
		fn.Description = sentence(fn.Description, deprecation(def.DeprecatedMessage))
	}
	if m.sanitize {
		fn.Name = Name(def.Name, f)
	}
	if f == Gemini { // Gemini rejects a declaration without a description
		fn.Description = cmp.Or(fn.Description, def.Name)
	}
	return fn, m.diagnostics
}

// builder is the state of one call of Of.
type builder struct {
	def         *tool.Definition
	secret      func(string) bool
	format      Format
	sanitize    bool // the setting sanitize-schemas
	diagnostics tool.Diagnostics

	alternatives []string // sentences about parameters of which only some belong together
}

// parameters returns the schema of the object that a call of the tool passes.
func (m *builder) parameters() *Schema {
	if m.def.Schema != nil {
		return m.ownSchema()
	}
	s := &Schema{Type: "object", Properties: &Properties{}, Deprecated: m.def.Deprecated && m.format != Gemini}
	from := map[string]string{}
	for _, p := range m.def.Parameters {
		name := p.Name
		if m.sanitize {
			name = shorten(name)
		}
		if first, taken := from[name]; taken {
			m.report(tool.Error, "schema-name", p.Pos, fmt.Sprintf("models cannot distinguish the parameters %q and %q: both are shown as %q", first, p.Name, name),
				fmt.Sprintf("rename one of them so that they differ in the first %d characters", maxName))
			continue
		}
		from[name] = p.Name
		*s.Properties = append(*s.Properties, Property{name, m.parameter(p)})
		if p.Required && p.Default == nil { // a parameter with a default may be left out
			s.Required = append(s.Required, name)
		}
	}
	return s
}

func (m *builder) report(s tool.Severity, code string, at tool.Pos, message, hint string) {
	m.diagnostics = append(m.diagnostics, tool.Diagnostic{Code: code, Severity: s, Pos: at, Message: message, Hint: hint})
}

// Collisions reports functions with the same name. A call of a model could mean any of them.
func Collisions(list []*Function) tool.Diagnostics {
	var found tool.Diagnostics
	first := map[string]*Function{}
	for _, fn := range list {
		other := first[fn.Name]
		if other == nil {
			first[fn.Name] = fn
			continue
		}
		found = append(found, tool.Diagnostic{Code: "schema-name", Severity: tool.Error, Pos: fn.pos,
			Message: fmt.Sprintf("models cannot distinguish the tools %q and %q: both are shown as %q", other.tool, fn.tool, fn.Name),
			Hint:    "rename one of them"})
	}
	return found
}

// enabled returns a setting of the definition, otherwise if it is not set.
func enabled(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// sentence appends a sentence to a description.
func sentence(description, more string) string {
	description = strings.TrimSpace(description)
	switch {
	case description == "":
		return more
	case strings.ContainsAny(description[len(description)-1:], ".!?:;"):
		return description + " " + more
	}
	return description + ". " + more
}

// deprecation returns the sentence that something is deprecated, with the reason.
func deprecation(message string) string {
	if message == "" {
		return "Deprecated."
	}
	return "Deprecated: " + message
}
