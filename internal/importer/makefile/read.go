package makefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// maxSteps bounds the steps of all tools of a file: each tool has the steps of its prerequisites.
const maxSteps = 5000

// Read reads a Makefile.
func Read(src []byte) (*importer.Result, error) {
	p := &parser{vars: map[string]*variable{}, rules: map[string]*rule{}, phony: map[string]bool{}, shell: "sh", unsure: map[string]bool{}}
	p.parse(diagnostic.WithoutMark(string(src)))
	taken := map[string]bool{}
	total := 0
	for _, name := range p.order {
		r := p.rules[name]
		if strings.HasPrefix(name, ".") || strings.Contains(name, "/") && !p.phony[name] {
			if r.bad == "" {
				p.result.Add("target "+name, r.line, "", importer.Changed, "a file: it is a step of the targets that need it")
			}
			continue
		}
		b := &builder{parser: p, done: map[string]bool{}, open: map[string]bool{}, names: map[string]bool{}}
		why := b.add(name)
		total += len(b.steps)
		switch {
		case why == "" && len(b.steps) == 0:
			why = "it runs nothing"
		case total > maxSteps:
			why = "the file has too many steps"
		}
		exported := b.exported()
		if why == "" {
			why = p.lost.InSteps(b.steps)
		}
		if why != "" {
			p.result.Add("target "+name, r.line, "", importer.LeftOut, "%s", why)
			continue
		}
		t := &importer.Tool{Name: importer.Unique(taken, importer.Name(name)), Description: r.about, Steps: b.steps, Environment: exported}
		if t.Description == "" {
			t.Description = "The target " + name + " of a Makefile"
		}
		for _, c := range b.changed {
			t.Notes = append(t.Notes, "Changed: "+c+".")
		}
		p.result.Tools = append(p.result.Tools, t)
		p.result.Outcome("target "+name, r.line, t.Name, b.changed)
	}
	return &p.result, nil
}

// builder makes the steps of one tool: make runs every target once, after its prerequisites.
type builder struct {
	*parser
	steps   []*importer.Step
	done    map[string]bool
	open    map[string]bool // its prerequisites are being added
	names   map[string]bool
	changed []string
}

func (b *builder) change(format string, args ...any) {
	if c := fmt.Sprintf(format, args...); !slices.Contains(b.changed, c) {
		b.changed = append(b.changed, c)
	}
}

// add adds the steps of a target and returns why that is impossible.
func (b *builder) add(name string) (why string) {
	switch r := b.rules[name]; {
	case b.done[name]:
		return ""
	case b.open[name]:
		return "its prerequisites form a cycle"
	case r == nil && b.elsewhere != "":
		return "it needs " + name + ", which may be a target of " + b.elsewhere + ", which is left out"
	case r == nil:
		return b.exists(name)
	case r.bad != "":
		return importer.Needs(name, r.bad)
	case len(b.steps) > maxSteps:
		return "it has too many steps"
	}
	r := b.rules[name]
	b.open[name] = true
	for _, c := range append(slices.Clone(b.parser.changed), r.unsure...) {
		b.change("%s", c)
	}
	for _, n := range r.needs {
		if why := b.add(n.name); why != "" {
			return why
		}
	}
	b.open[name], b.done[name] = false, true
	if len(r.recipe) == 0 {
		return ""
	}
	if b.badAll != "" {
		return b.badAll
	}
	script, why := b.script(r)
	if why != "" {
		return why
	}
	if !b.phony[name] {
		b.change("make skips %s if a file of that name is up to date; flowrun always runs it", name)
	}
	b.steps = append(b.steps, &importer.Step{Name: importer.Unique(b.names, importer.Name(name)), Shell: b.shell, Script: script})
	return ""
}

// exists adds a step for a prerequisite that has no rule: make stops if there is no such file.
func (b *builder) exists(name string) (why string) {
	if !importer.Plain(name) {
		return "it needs the file " + name + ", which has a name with special characters"
	}
	b.done[name] = true
	b.change("the file %s must exist; make also knows rules of its own to make it", name)
	b.steps = append(b.steps, &importer.Step{Name: importer.Unique(b.names, importer.Name(name)), Shell: "sh", Script: "test -e " + name})
	return ""
}

// script returns the recipe of a target. make starts a shell for each line.
func (b *builder) script(r *rule) (script, why string) {
	var all, once []string
	for _, n := range r.needs {
		switch {
		case n.orderOnly:
			continue
		case !slices.Contains(once, n.name):
			once = append(once, n.name)
		}
		all = append(all, n.name)
	}
	auto := map[string]string{"@": r.name, "<": "", "^": strings.Join(once, " "), "+": strings.Join(all, " "), "*": "\x00", "?": "\x00", "|": "\x00", "%": "\x00",
		"@D": "\x00", "@F": "\x00", "<D": "\x00", "<F": "\x00", "^D": "\x00", "^F": "\x00", "*D": "\x00", "*F": "\x00", "MAKEFILE_LIST": "\x00"}
	if len(once) > 0 {
		auto["<"] = once[0]
	}
	var list []importer.Line
	for _, text := range r.recipe {
		text, why, unsure := b.expandUnsure(text, auto)
		if why != "" {
			return "", "its recipe: " + why
		}
		for _, c := range unsure {
			b.change("%s", c)
		}
		line := importer.Line{}
		for text != "" && strings.ContainsRune("@-+ \t", rune(text[0])) {
			line.Ignore = line.Ignore || text[0] == '-'
			text = text[1:]
		}
		if line.Text = text; strings.TrimSpace(text) != "" {
			list = append(list, line)
		}
	}
	if len(list) == 0 {
		list = []importer.Line{{Text: ":"}}
	}
	script = importer.Script(list)
	if b.posix {
		script = importer.StrictScript(list)
	}
	return b.prelude(script) + script, ""
}

// alwaysSet are variables that nearly every environment has.
var alwaysSet = []string{"HOME", "LANG", "LOGNAME", "PATH", "PWD", "TERM", "USER"}

// prelude sets the variables that make would put into the environment of a recipe only in some environments: make
// exports the value of the file if the environment sets the variable, and export V ?= applies if it does not.
func (b *builder) prelude(script string) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(b.vars)) {
		v := b.vars[name]
		switch {
		case !importer.ValidVariable(name), name == "SHELL", v.exported != v.fallback:
			continue
		case !v.exported && !slices.Contains(alwaysSet, name) && !mentions(script, name):
			continue
		}
		value, why, unsure := v.value, v.bad, v.unsure
		if !v.expanded && why == "" {
			value, why, unsure = b.expandUnsure(v.value, nil)
		}
		if why != "" {
			b.change("the environment of its commands may have another value of %s: %s", name, why)
			continue
		}
		for _, c := range unsure {
			b.change("%s", c)
		}
		value = "'" + strings.ReplaceAll(value, "'", `'\''`) + "'"
		if v.exported {
			fmt.Fprintf(&out, "[ -n \"${%s+x}\" ] || export %s=%s\n", name, name, value)
		} else {
			fmt.Fprintf(&out, "[ -z \"${%s+x}\" ] || %s=%s\n", name, name, value)
		}
	}
	return out.String()
}

// mentions reports whether a script reads a variable of the shell.
func mentions(script, name string) bool {
	for rest := script; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		if (strings.HasSuffix(before, "$") || strings.HasSuffix(before, "${") || strings.HasSuffix(before, "${#")) && (after == "" || !importer.ValidVariable("_"+after[:1])) {
			return true
		}
		rest = after
	}
}

// exported are the variables that recipes find in their environment.
func (b *builder) exported() []importer.Variable {
	var list []importer.Variable
	for name, v := range b.vars {
		if !v.exported || v.fallback || !importer.ValidVariable(name) {
			continue
		}
		value, why, unsure := v.value, v.bad, v.unsure
		if !v.expanded && why == "" {
			value, why, unsure = b.expandUnsure(v.value, nil)
			unsure = append(unsure, v.unsure...)
		}
		if why != "" {
			b.change("the variable %s is not exported: %s", name, why)
			b.lost.Variable(name, "is not exported: "+why)
			continue
		}
		for _, c := range unsure {
			b.change("%s", c)
		}
		list = append(list, importer.Variable{Name: name, Value: value})
	}
	slices.SortFunc(list, func(x, y importer.Variable) int { return strings.Compare(x.Name, y.Name) })
	return list
}
