package makefile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// variable is a variable of make.
type variable struct {
	value    string
	expanded bool // value has no references left (:=)
	bad      string
	exported bool
	fallback bool // ?=: the value applies if the environment has none
	// unsure are the reasons why make may see another value, such as a variable of the environment that ?= leaves alone.
	unsure []string
	line   int
}

const (
	maxDepth    = 30
	maxExpanded = 64 << 10 // a few lines of make can ask for gigabytes
)

// assign carries out an assignment as make does.
func (p *parser) assign(name, op, value string) *variable {
	old := p.vars[name]
	v := &variable{value: value}
	switch op {
	case ":=", "::=", ":::=":
		v.value, v.bad, v.unsure = p.expandUnsure(value, nil)
		v.expanded = true
	case "?=":
		if old != nil {
			return old
		}
		v.fallback, v.unsure = true, environmentWins(name)
		if own, ok := p.builtIn(name); ok { // it is not unset: the line has no effect
			v.value = own
		}
	case "!=":
		v.bad = "it is the output of a command"
	case "+=":
		if old == nil {
			own, _ := p.builtIn(name)
			old = &variable{value: own, unsure: environmentWins(name)}
		}
		v.bad, v.expanded, v.exported, v.unsure = old.bad, old.expanded, old.exported, slices.Clone(old.unsure)
		if v.expanded && v.bad == "" {
			var unsure []string
			v.value, v.bad, unsure = p.expandUnsure(value, nil)
			v.unsure = append(v.unsure, unsure...)
		}
		v.value = strings.TrimSpace(old.value + " " + v.value)
	}
	if v.bad == "" && !v.expanded {
		if strings.Contains(value, "$(shell ") {
			v.bad = "it is the output of a command"
		}
	}
	v.exported = v.exported || old != nil && old.exported
	p.vars[name] = v
	return v
}

// expand replaces references to variables. automatic are the variables of a recipe, such as @. The second result says
// why the text cannot be expanded.
func (p *parser) expand(s string, automatic map[string]string) (text, why string) {
	e := expansion{parser: p, automatic: automatic}
	e.expand(s, 0)
	if e.why == "" {
		e.why = p.budget.Spend(e.out.Len())
	}
	return e.out.String(), e.why
}

// expandUnsure is expand that also returns the reasons why make may see another text.
func (p *parser) expandUnsure(s string, automatic map[string]string) (text, why string, unsure []string) {
	before := p.unsure
	p.unsure = map[string]bool{}
	text, why = p.expand(s, automatic)
	unsure = slices.Sorted(maps.Keys(p.unsure))
	p.unsure = before
	return text, why, unsure
}

// environmentWins is why the value of a variable that only ?= or += sets, or make itself, may be another one.
func environmentWins(name string) []string {
	return []string{fmt.Sprintf("if the environment sets %s, make uses that value; flowrun always uses the value of the file or the default of make", name)}
}

type expansion struct {
	*parser
	automatic map[string]string
	out       strings.Builder
	why       string
}

func (e *expansion) expand(s string, depth int) {
	for i := 0; i < len(s) && e.why == ""; i++ {
		if s[i] != '$' {
			e.out.WriteByte(s[i])
			continue
		}
		i++
		if i == len(s) {
			break
		}
		if e.out.Len() > maxExpanded {
			e.why = "a variable is too long"
			return
		}
		switch c := s[i]; c {
		case '$':
			e.out.WriteByte('$')
		case '(', '{':
			n := closing(s[i:])
			if n < 0 {
				e.why = "a reference to a variable has no end"
				return
			}
			e.reference(s[i+1:i+n], depth)
			i += n
		default:
			e.reference(string(c), depth)
		}
	}
}

// closing returns the offset of the bracket that closes the one at the beginning.
func closing(s string) int {
	shut := map[byte]byte{'(': ')', '{': '}'}[s[0]]
	depth := 0
	for i := range len(s) {
		switch s[i] {
		case s[0]:
			depth++
		case shut:
			depth--
			if depth == 0 {
				return i
			}
		}
	}
	return -1
}

// builtIn returns the value of a variable that make itself sets.
func (p *parser) builtIn(name string) (value string, ok bool) {
	values := map[string]string{"MAKE": "make", "RM": "rm -f", "CC": "cc", "CXX": "g++", "AR": "ar", "ARFLAGS": "rv", "AS": "as", "LD": "ld", "FC": "f77", "LEX": "lex", "YACC": "yacc",
		"MAKEINFO": "makeinfo", "SHELL": "/bin/sh"}
	if p.posix {
		values["CC"], values["ARFLAGS"], values["FC"] = "c99", "-rv", "fort77"
	}
	value, ok = values[name]
	return value, ok
}

// place returns the placeholder for a variable of the environment that every run has.
func place(name string) (placeholder, reason string) {
	switch name {
	case "HOME":
		return importer.Ref("HOME"), "make writes the value of HOME into the command as it is, flowrun as one word"
	case "PATH":
		return importer.Ref("env.PATH"), "make writes the value of PATH into the command as it is, flowrun as one word"
	case "CURDIR", "PWD":
		return importer.Ref("WORKSPACE"), name + " is the directory in which flowrun was started"
	}
	return "", ""
}

func (e *expansion) reference(name string, depth int) {
	value, ok := e.automatic[name]
	v := e.vars[name]
	switch {
	case ok && value == "\x00":
		e.why = "flowrun does not know $" + name
	case ok:
		e.out.WriteString(value)
	case strings.ContainsAny(name, " \t,:$"):
		function, _, _ := strings.Cut(name, " ")
		e.why = "flowrun does not evaluate $(" + short(function) + " ...)"
	case v != nil && v.bad != "":
		e.why = "it uses " + name + ": " + v.bad
	case v != nil && v.expanded:
		e.note(v.unsure)
		e.out.WriteString(v.value)
		if e.out.Len() > maxExpanded {
			e.why = "a variable is too long"
		}
	case v != nil && depth > maxDepth:
		e.why = "the variable " + name + " refers to itself"
	case v != nil:
		e.note(v.unsure)
		e.expand(v.value, depth+1)
	default:
		if value, ok := e.builtIn(name); ok {
			if name != "MAKE" && name != "SHELL" {
				e.note(environmentWins(name))
			}
			e.out.WriteString(value)
			return
		}
		if value, reason := place(name); value != "" {
			e.note([]string{reason})
			e.out.WriteString(value)
			return
		}
		e.why = "the variable " + short(name) + " is not set in the file"
	}
}

func (e *expansion) note(reasons []string) {
	for _, r := range reasons {
		e.unsure[r] = true
	}
}
