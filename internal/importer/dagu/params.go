package dagu

import (
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// params reads KEY=value texts, mappings from names to values, and lists of these and of parameters with a type.
func (r *reader) params(p importer.Pair) {
	var reasons []string
	for _, item := range p.Items() {
		switch {
		case typed(item):
			reasons = append(reasons, r.typed(item)...)
		case item.IsMap():
			for _, k := range item.Pairs() {
				if !k.IsScalar() {
					r.bad = "its params have a form that is not understood"
					return
				}
				reasons = append(reasons, r.param(importer.Parameter{Name: k.Key, Default: k.Text(), HasDefault: true})...)
			}
		default:
			for _, w := range words(item.Text()) {
				name, value, ok := strings.Cut(w, "=")
				if !ok {
					r.bad = "flowrun has no parameters without a name"
					return
				}
				reasons = append(reasons, r.param(importer.Parameter{Name: name, Default: strings.Trim(value, `"'`), HasDefault: true})...)
			}
		}
	}
	for _, why := range reasons {
		r.tool.Notes = append(r.tool.Notes, "Changed: "+why+".")
	}
	r.result.Outcome(p.Key, p.Line, r.tool.Name, reasons)
}

// typed reports whether an element of params describes one parameter, with its name and more.
func typed(item importer.Node) bool {
	if !item.IsMap() || !item.Get("name").Exists() {
		return false
	}
	for _, k := range []string{"type", "default", "required", "description", "enum", "eval"} {
		if item.Get(k).Exists() {
			return true
		}
	}
	return false
}

// typed adds the parameter that a mapping describes. It returns how the parameter differs.
func (r *reader) typed(item importer.Node) (reasons []string) {
	prm := importer.Parameter{Name: item.Get("name").Text(), HasDefault: true}
	for _, k := range item.Pairs() {
		switch {
		case k.Key == "name":
		case k.Key == "default":
			prm.Default = k.Text()
		case k.Key == "description":
			prm.Description = k.Text()
		case k.Key == "required":
			prm.HasDefault = !k.True() || item.Get("default").Exists()
		case k.Key == "eval":
			r.bad = "the parameter " + short(prm.Name) + " has eval"
		case k.Key == "enum":
			prm.Enum = k.Texts()
		case k.Key == "type" && k.Text() == "string":
		default:
			reasons = append(reasons, "flowrun does not check the "+k.Key+" of "+prm.Name)
		}
	}
	if prm.Enum != nil && !item.Get("default").Exists() {
		prm.HasDefault = false
		reasons = append(reasons, prm.Name+" has no default, and an empty text is not one of its values: it is required")
	}
	return append(reasons, r.param(prm)...)
}

// param adds a parameter, and the variable that the steps find. It returns how the parameter differs.
func (r *reader) param(prm importer.Parameter) (reasons []string) {
	name := prm.Name
	if importer.ValidVariable(name) && importer.Name(name) != name {
		prm.Name += "_PARAM"
		reasons = append(reasons, "the parameter "+name+" is "+prm.Name+", because flowrun uses the name itself; commands keep $"+name)
	}
	if !importer.ValidVariable(prm.Name) || importer.Name(prm.Name) != prm.Name || r.taken[strings.ToLower(prm.Name)] {
		r.bad = "the parameter " + short(name) + " has a name that is not possible in flowrun: a name has up to 60 letters, digits and underscores, does not begin with a digit, and differs from the others in more than case"
		return nil
	}
	if strings.ContainsAny(prm.Default, "$`") {
		r.bad = "the default of " + name + " is known only when it runs"
		return nil
	}
	r.taken[strings.ToLower(prm.Name)], r.values[name] = true, importer.Ref(prm.Name)
	r.tool.Parameters = append(r.tool.Parameters, prm)
	r.tool.Environment = append(r.tool.Environment, importer.Variable{Name: name, Value: importer.Ref(prm.Name)})
	return reasons
}

// words splits a text at spaces outside of quotes.
func words(s string) []string {
	var out []string
	var b strings.Builder
	quote := rune(0)
	for _, c := range s {
		switch {
		case quote == 0 && (c == ' ' || c == '\t' || c == '\n'):
			if b.Len() > 0 {
				out = append(out, b.String())
			}
			b.Reset()
			continue
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
		case c == quote:
			quote = 0
		}
		b.WriteRune(c)
	}
	if b.Len() > 0 {
		out = append(out, b.String())
	}
	return out
}
