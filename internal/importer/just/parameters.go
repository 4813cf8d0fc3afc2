package just

import (
	"path"
	"regexp"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

func (p *parser) parameters(r *recipe, text string) {
	for text != "" {
		m := patterns().parameter.FindStringSubmatch(text)
		if m == nil {
			r.bad = "its parameters are not understood: " + short(text)
			return
		}
		text = text[len(m[0]):]
		prm := importer.Parameter{Name: m[3], List: m[1] != "", Default: m[4], HasDefault: m[4] != "" || m[1] == "*"}
		if m[2] != "" {
			r.bad = "flowrun has no exported parameters ($" + m[3] + ")"
		}
		if m[4] != "" {
			value, bad := p.expression(m[4], nil)
			if bad == "" && folderDiffers(value) != "" {
				bad = "flowrun has no defaults that name a folder"
			}
			if bad != "" {
				r.bad = "a default: " + bad
			}
			prm.Default = value
		}
		r.params = append(r.params, prm)
	}
}

// lists makes lists of the parameters whose default has several words that the shell tells apart.
func (r *recipe) lists() {
	for i, prm := range r.params {
		words := strings.Fields(prm.Default)
		if prm.List || len(words) < 2 || !unquoted(strings.Join(r.body, "\n"), prm.Name) {
			continue
		}
		plain := strings.Join(words, " ") == prm.Default
		for _, w := range words {
			plain = plain && importer.Plain(w)
		}
		if !plain {
			r.changed = append(r.changed, "the default of "+prm.Name+" is one word")
			continue
		}
		r.params[i].List = true
	}
}

// unquoted reports whether {{name}} stands outside of quotes in the lines of a recipe.
func unquoted(body, name string) bool {
	use := regexp.MustCompile(`\{\{\s*` + regexp.QuoteMeta(name) + `\s*\}\}`)
	for line := range strings.Lines(body) {
		for _, at := range use.FindAllStringIndex(line, -1) {
			quote := byte(0)
			for i := 0; i < at[0]; i++ {
				switch c := line[i]; {
				case c == '\\' && quote != '\'':
					i++
				case quote == 0 && (c == '\'' || c == '"'):
					quote = c
				case c == quote:
					quote = 0
				}
			}
			if quote == 0 {
				return true
			}
		}
	}
	return false
}

// needsArguments reports whether a recipe cannot run without arguments.
func (r *recipe) needsArguments() bool {
	for _, prm := range r.params {
		if !prm.HasDefault {
			return true
		}
	}
	return false
}

// withDefaults sets the parameters of a dependency to their defaults, as variables, and returns a function that ends this.
func (p *parser) withDefaults(r *recipe) (end func()) {
	before := map[string]*variable{}
	for _, prm := range r.params {
		before[prm.Name] = p.vars[prm.Name]
		p.vars[prm.Name] = &variable{value: prm.Default}
	}
	return func() {
		for name, v := range before {
			if p.vars[name] = v; v == nil {
				delete(p.vars, name)
			}
		}
	}
}

// folder is where a recipe runs, or "" for the folder of the justfile.
func (p *parser) folder(r *recipe) string {
	if path.IsAbs(r.dir) || p.dir == "" {
		return r.dir
	}
	return path.Join(p.dir, r.dir)
}
