// Package makefile reads Makefiles for flowrun import. Each target becomes a tool with a step for the target and for
// each of its prerequisites, in the order in which make runs them.
package makefile

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/importer"
)

// parser holds what was read so far.
type parser struct {
	result  importer.Result
	budget  importer.Budget
	vars    map[string]*variable
	rules   map[string]*rule
	order   []string
	phony   map[string]bool
	badAll  string          // why no recipe can be carried over
	changed []string        // why every recipe differs
	unsure  map[string]bool // see variable; of the text that is being expanded
	posix   bool            // make runs sh -e
	shell   string
	current []*rule // the rules that the next recipe lines belong to
	depth   int     // of conditionals
	ignored bool    // the recipe lines belong to a rule that is left out
	above   string  // the comment above

	elsewhere string // what is left out and may have the rules of targets that are not here
	lost      importer.Lost
}

var patterns = sync.OnceValue(func() (p struct{ assign, rule *regexp.Regexp }) {
	p.assign = regexp.MustCompile(`^(?:override\s+)?(export\s+)?([A-Za-z0-9_.\-]+)\s*(\+=|\?=|!=|:::=|::=|:=|=)\s*(.*)$`)
	p.rule = regexp.MustCompile(`^([^:=#]+?)\s*(::?)(?:\s|$|[^=\s])`)
	return p
})

// logical is a line with its continuations.
type logical struct {
	text string
	line int
}

// lines joins lines that end with a backslash. In recipes the backslash and the line break stay, and the tab that begins
// the next line goes, as make does.
func lines(src string) []logical {
	var out []logical
	raw := strings.Split(strings.ReplaceAll(src, "\r\n", "\n"), "\n")
	for i := 0; i < len(raw); i++ {
		l := logical{raw[i], i + 1}
		recipe := strings.HasPrefix(raw[i], "\t")
		var b strings.Builder
		b.WriteString(l.text)
		joined := false
		for oddBackslashes(raw[i]) && i+1 < len(raw) {
			i++
			joined = true
			if recipe {
				b.WriteString("\n" + strings.TrimPrefix(raw[i], "\t"))
			} else {
				text := strings.TrimRight(strings.TrimSuffix(b.String(), `\`), " \t") + " " + strings.TrimSpace(raw[i])
				b.Reset()
				b.WriteString(text)
			}
		}
		if joined {
			l.text = b.String()
		}
		out = append(out, l)
	}
	return out
}

func oddBackslashes(s string) bool {
	return (len(s)-len(strings.TrimRight(s, `\`)))%2 == 1
}

func (p *parser) parse(src string) {
	list := lines(src)
	for i := 0; i < len(list); i++ {
		l := list[i]
		if strings.HasPrefix(l.text, "\t") && (p.current != nil || p.ignored) {
			p.recipe(strings.TrimPrefix(l.text, "\t"))
			continue
		}
		text := strings.TrimSpace(stripComment(l.text))
		switch first, _, _ := strings.Cut(text, " "); {
		case text == "":
			if trimmed := strings.TrimSpace(l.text); strings.HasPrefix(trimmed, "#") {
				p.above = strings.TrimSpace(strings.TrimLeft(trimmed, "#"))
			} else {
				p.above = ""
			}
			continue
		case first == "ifeq" || first == "ifneq" || first == "ifdef" || first == "ifndef" || strings.HasPrefix(text, "ifeq(") || strings.HasPrefix(text, "ifneq("):
			p.depth++
			for _, r := range p.current { // make ends no rule at a conditional
				r.bad = "its recipe has a conditional of make"
			}
			if p.depth == 1 {
				p.result.Add(first, l.line, "", importer.LeftOut, "flowrun does not evaluate conditionals of make; what depends on them is left out")
			}
		case first == "else":
		case first == "endif":
			p.depth = max(0, p.depth-1)
		case first == "define":
			name := strings.TrimRight(strings.TrimSpace(strings.TrimPrefix(text, "define")), " =:")
			p.vars[name] = &variable{bad: "it is made by define"}
			p.result.Add("define "+name, l.line, "", importer.LeftOut, "flowrun has no counterpart")
			for i+1 < len(list) && strings.TrimSpace(list[i].text) != "endef" {
				i++
			}
		case first == "include" || first == "-include" || first == "sinclude":
			p.result.Add(text, l.line, "", importer.LeftOut, "flowrun reads no other file; write its lines here, and import again")
			p.badAll = short(text) + " may stop make, or add rules and variables"
			p.elsewhere = short(text)
			p.current = nil
		case first == "vpath" || first == "undefine" || first == "load" || first == "unexport" || text == "export":
			p.result.Add(text, l.line, "", importer.LeftOut, "flowrun has no counterpart")
			if text == "export" {
				p.badAll = "the file exports all variables to its recipes"
			} else {
				p.changed = append(p.changed, "flowrun ignores "+short(text))
			}
		case p.assignment(text, l.line):
			p.current, p.ignored = nil, false
		case first == "export":
			p.result.Add(text, l.line, "", importer.LeftOut, "write the variable in environment")
			p.badAll = "the file exports variables that flowrun does not know"
		default:
			p.rule(l)
		}
		p.above = ""
	}
}

// stripComment removes a comment outside of recipes.
func stripComment(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] == '#' && (i == 0 || s[i-1] != '\\') {
			return s[:i]
		}
	}
	return s
}

func (p *parser) assignment(text string, line int) bool {
	m := patterns().assign.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	exported, name, op, value := m[1] != "", m[2], m[3], m[4]
	what := "variable " + name
	if p.depth > 0 {
		p.vars[name] = &variable{bad: "it is set in a conditional", exported: exported}
		switch name {
		case "SHELL", ".SHELLFLAGS", ".RECIPEPREFIX", "VPATH":
			p.badAll = name + " is set in a conditional"
		case "MAKEFLAGS", "GNUMAKEFLAGS":
			p.changed = append(p.changed, "flowrun ignores "+name)
		}
		p.result.Add(what, line, "", importer.LeftOut, "it is set in a conditional")
		return true
	}
	switch name {
	case ".DEFAULT_GOAL":
		p.result.Outcome(what, line, "", nil)
		return true
	case "SHELL":
		if op == "?=" {
			p.result.Outcome(what, line, "", nil) // SHELL always has a value: make ignores the line
			return true
		}
		p.setShell(value, line)
		return true
	case ".SHELLFLAGS", ".RECIPEPREFIX", "VPATH":
		p.result.Add(what, line, "", importer.LeftOut, "it changes how make runs recipes")
		p.badAll = name + " changes how make runs recipes"
		return true
	case "MAKEFLAGS", "GNUMAKEFLAGS":
		p.result.Add(what, line, "", importer.LeftOut, "it changes how make runs recipes")
		p.changed = append(p.changed, fmt.Sprintf("make runs with the options of %s: %s; flowrun ignores them", name, short(value)))
		return true
	}
	v := p.assign(name, op, value)
	if op != "?=" || v.line == 0 {
		v.line = line
	}
	v.exported = v.exported || exported
	switch {
	case v.bad != "":
		p.result.Add(what, line, "", importer.LeftOut, "%s; recipes that use it are left out", v.bad)
	default:
		p.result.Add(what, line, "", importer.Changed, "its value is written into the recipes; make %s=... has no counterpart", name)
	}
	return true
}

func (p *parser) setShell(value string, line int) {
	switch strings.TrimSpace(value) {
	case "/bin/sh", "sh":
		p.shell = "sh"
	case "/bin/bash", "bash", "/usr/bin/bash", "/usr/bin/env bash":
		p.shell = "bash"
	default:
		p.badAll = "SHELL is " + value
		p.result.Add("variable SHELL", line, "", importer.LeftOut, "flowrun has no steps for %s", value)
		return
	}
	p.result.Outcome("variable SHELL", line, "", nil)
}

func short(s string) string {
	if r := []rune(s); len(r) > 50 {
		return string(r[:47]) + "..."
	}
	return s
}
