package makefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// rule is what a Makefile says of one target.
type rule struct {
	name   string
	line   int
	needs  []need
	latest int  // where the prerequisites of the line begin that was read last
	begun  bool // the recipe of that line has begun
	recipe []string
	about  string   // the text after ##, or the comment above
	bad    string   // why it is left out
	unsure []string // why make may see other prerequisites or another recipe
}

// need is a prerequisite.
type need struct {
	name      string
	orderOnly bool // make does not put it into $^
}

// rule reads a line with targets and prerequisites.
func (p *parser) rule(l logical) {
	p.current, p.ignored = nil, true
	head, about, _ := strings.Cut(l.text, "##")
	head, inline, hasInline := strings.Cut(stripComment(head), ";")
	m := patterns().rule.FindStringSubmatchIndex(head)
	if text := strings.TrimSpace(l.text); m == nil || strings.HasPrefix(text, "$(") && strings.HasSuffix(text, ")") {
		p.result.Add("line", l.line, "", importer.LeftOut, "not understood: %s", short(text))
		if !strings.HasPrefix(text, "$(info ") && !strings.HasPrefix(text, "$(warning ") { // these only print
			p.badAll = fmt.Sprintf("line %d may stop make or add rules: %s", l.line, short(text))
		}
		return
	}
	names, colon, needsText := head[:m[3]], head[m[4]:m[5]], head[m[5]:]
	targetText, bad, unsure := p.expandUnsure(names, nil)
	if bad == "" && strings.Contains(names, "$") && strings.TrimSpace(targetText) == "" {
		bad = "its name is empty"
	}
	unknown := bad
	targets := words(targetText)
	if bad == "" && len(targets) == 1 && strings.HasPrefix(targets[0], ".") && strings.ToUpper(targets[0]) == targets[0] && !strings.Contains(targets[0], "/") {
		p.special(targets[0], needsText, l.line)
		return
	}
	needs, why, more := p.expandUnsure(needsText, nil)
	switch {
	case bad != "":
	case p.depth > 0:
		bad = "it is in a conditional"
	case isPattern(targetText, needs):
		bad = "flowrun has no pattern rules"
	case colon == "::":
		bad = "flowrun has no double-colon rules"
	case strings.Contains(needsText, "=") && !strings.Contains(needsText, "$("):
		bad = "flowrun has no variables of a target; its recipe is left out"
	case why != "":
		bad = "its prerequisites: " + why
	case strings.ContainsAny(targetText+needs, "\x01"):
		bad = "its name or a prerequisite is not fixed"
	case strings.Contains(targetText+needs, `\`):
		bad = "flowrun does not read a backslash in its name or a prerequisite"
	case strings.ContainsAny(needs, "%:*"):
		bad = "flowrun has no patterns in prerequisites"
	}
	if bad != "" {
		p.result.Add("rule "+short(strings.TrimSpace(names)), l.line, "", importer.LeftOut, "%s", bad)
		if unknown != "" {
			p.badAll = fmt.Sprintf("line %d may be a rule of any target", l.line)
		}
		if isPattern(targetText, needs) {
			p.elsewhere = "the rule " + short(strings.TrimSpace(names))
		}
		for _, t := range targets {
			p.rules[t] = &rule{name: t, line: l.line, bad: bad}
		}
		return
	}
	if about = strings.TrimSpace(about); about == "" {
		about = p.above
	}
	for _, t := range targets {
		p.current = append(p.current, p.target(t, l.line, about, needs, append(unsure, more...)))
	}
	p.ignored = false
	if hasInline {
		p.recipe(strings.TrimSpace(inline))
	}
}

// isPattern reports whether a rule says how other targets are made: with %, or for the suffixes of two files (.c.o).
func isPattern(targets, needs string) bool {
	return strings.Contains(targets, "%") || strings.TrimSpace(needs) == "" && slices.ContainsFunc(strings.Fields(targets), func(t string) bool {
		return strings.HasPrefix(t, ".") && strings.Count(t, ".") == 2 && !strings.HasSuffix(t, ".") && !strings.ContainsAny(t, "/$")
	})
}

// target adds a line of the file to the rule of a target.
func (p *parser) target(name string, line int, about, needs string, unsure []string) *rule {
	r := p.rules[name]
	if r == nil {
		r = &rule{name: name, line: line}
		p.rules[name] = r
		p.order = append(p.order, name)
	}
	if r.about == "" {
		r.about = about
	}
	r.latest, r.begun = len(r.needs), false
	r.needs = append(r.needs, prerequisites(needs)...)
	r.unsure = append(r.unsure, unsure...)
	return r
}

// special reads a target such as .PHONY.
func (p *parser) special(name, needs string, line int) {
	switch name {
	case ".PHONY":
		text, err := p.expand(needs, nil)
		if err != "" {
			p.result.Add(name, line, "", importer.LeftOut, "%s", err)
			return
		}
		for _, t := range words(text) {
			p.phony[t] = true
		}
	case ".POSIX":
		p.posix = true
		p.result.Outcome(name, line, "", nil)
	case ".SILENT", ".NOTPARALLEL", ".SUFFIXES", ".PRECIOUS", ".SECONDARY", ".INTERMEDIATE", ".DEFAULT_GOAL":
		p.result.Outcome(name, line, "", []string{"flowrun needs no counterpart"})
	case ".ONESHELL", ".EXPORT_ALL_VARIABLES", ".IGNORE", ".SECONDEXPANSION", ".DEFAULT":
		p.badAll = name + " changes how make runs recipes"
		p.result.Add(name, line, "", importer.LeftOut, "it changes how make runs recipes; they are left out")
	default:
		p.result.Add(name, line, "", importer.LeftOut, "flowrun has no counterpart")
	}
}

// recipe adds a line to the recipe of the rules above.
func (p *parser) recipe(line string) {
	if p.ignored {
		return
	}
	for _, r := range p.current {
		if !r.begun {
			r.begin()
		}
		if strings.TrimSpace(line) != "" {
			r.recipe = append(r.recipe, line)
		}
	}
}

// begin begins the recipe of the line that was read last. make forgets the recipe of an earlier line for the target, and
// makes the prerequisites of the line with the recipe first.
func (r *rule) begin() {
	r.needs = append(slices.Clone(r.needs[r.latest:]), r.needs[:r.latest]...)
	r.recipe, r.begun = nil, true
}

// words splits a list of names. A space after a backslash is part of a name.
func words(text string) []string {
	list := strings.Fields(strings.ReplaceAll(text, `\ `, "\x02"))
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "\x02", " ")
	}
	return list
}

// prerequisites splits the text after the colon of a rule.
func prerequisites(text string) []need {
	var list []need
	normal, orderOnly, _ := strings.Cut(text, "|")
	for _, name := range words(normal) {
		if name == ".WAIT" { // the steps run one after the other
			continue
		}
		list = append(list, need{name, false})
	}
	for _, name := range words(strings.ReplaceAll(orderOnly, "|", " ")) {
		list = append(list, need{name, true})
	}
	return list
}
