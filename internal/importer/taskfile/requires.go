package taskfile

import (
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// require makes parameters of the variables that a task requires and does not set itself.
func (b *builder) require(n, own importer.Node, task string) (why string) {
	for _, p := range n.Pairs() {
		if p.Key != "vars" {
			return "flowrun has no counterpart for " + p.Key + " of requires"
		}
	}
	for _, v := range n.Get("vars").Items() {
		required, why := v, ""
		var allowed []string
		if v.IsMap() {
			required = v.Get("name")
			if allowed, why = enum(v); why != "" {
				return why
			}
		}
		name := required.Text()
		if _, ok := b.vars[name]; ok || own.Get(name).Exists() {
			if len(allowed) > 0 {
				return "flowrun does not check the values of " + name + ", which the file sets itself"
			}
			continue
		}
		if !b.top {
			return "it calls " + task + " without the variable " + name
		}
		if importer.Name(name) != name || b.names[strings.ToLower(name)] {
			return "the variable " + name + " has a name that is not possible in flowrun"
		}
		b.names[strings.ToLower(name)] = true
		b.params = append(b.params, importer.Parameter{Name: name, Enum: allowed})
		b.vars[name] = value{text: importer.Ref(name)}
		b.change("a parameter is always one word, and the shell never reads it as code")
		b.change(notFromEnvironment, name)
	}
	return ""
}

// enum returns the values that a variable of requires can have.
func enum(v importer.Node) (values []string, why string) {
	for _, p := range v.Pairs() {
		switch {
		case p.Key == "name":
		case p.Key == "enum" && (p.IsList() || p.IsScalar()):
			values = p.Texts()
		default:
			return nil, "flowrun has no counterpart for " + p.Key + " of requires"
		}
	}
	return values, ""
}
