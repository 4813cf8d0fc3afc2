package makefile

import "strings"

// variable is a variable of make.
type variable struct {
	value    string
	expanded bool // value has no references left (:=)
	bad      string
	exported bool
	soft     []string // the variables set with ?= that it is made of; the environment replaces these in make
	line     int
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
		v.value, v.bad = p.expand(value, nil)
		v.expanded, v.soft = true, p.takeSoft()
	case "?=":
		if old != nil && old.line > 0 {
			return old
		}
		v.soft = []string{name}
	case "!=":
		v.bad = "it is the output of a command"
	case "+=":
		if old != nil {
			v.bad, v.expanded, v.exported, v.soft = old.bad, old.expanded, old.exported, old.soft
			if v.expanded && v.bad == "" {
				v.value, v.bad = p.expand(value, nil)
			}
			v.value = strings.TrimSpace(old.value + " " + v.value)
		}
	}
	if v.bad == "" && !v.expanded {
		if strings.Contains(value, "$(shell ") {
			v.bad = "it is the output of a command"
		}
	}
	p.vars[name] = v
	return v
}

// takeSoft returns the variables set with ?= that the last texts were made of.
func (p *parser) takeSoft() []string {
	soft := p.soft
	p.soft = nil
	return soft
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

// builtIn are variables that make itself sets.
func builtIn(name string) (string, bool) {
	switch name {
	case "MAKE":
		return "make", true
	case "RM":
		return "rm -f", true
	case "CC":
		return "cc", true
	case "CXX":
		return "g++", true
	case "AR":
		return "ar", true
	case "SHELL":
		return "/bin/sh", true
	}
	return "", false
}

func (e *expansion) reference(name string, depth int) {
	value, ok := e.automatic[name]
	v := e.vars[name]
	if v != nil {
		e.soft = append(e.soft, v.soft...)
	}
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
		e.out.WriteString(v.value)
		if e.out.Len() > maxExpanded {
			e.why = "a variable is too long"
		}
	case v != nil && depth > maxDepth:
		e.why = "the variable " + name + " refers to itself"
	case v != nil:
		e.expand(v.value, depth+1)
	default:
		if value, ok := builtIn(name); ok {
			e.out.WriteString(value)
			return
		}
		e.why = "the variable " + short(name) + " is not set in the file"
	}
}
