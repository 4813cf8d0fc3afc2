package hooks

import (
	"sync"

	"github.com/flowrun/flowrun/tool"
)

// Script is JavaScript that has been checked. It does not change, and is safe for
// concurrent use.
type Script struct {
	text   tool.Text
	source source
	digest string
	tree   *tree                       // of a Module: nil
	ready  func() (*program, *failure) // compiled, for this process
}

// Compile checks a Body, an Expression or a Step in which the names vars are known. The
// Script is nil where the diagnostics hold an error. What is looked for: what the language
// does not allow, a Body that returns nothing (S0-070), what no script has (S0-071), names
// that nobody knows, and loops without an end (S0-074).
func Compile(text tool.Text, form Form, vars ...string) (*Script, tool.Diagnostics) {
	s := source{Form: form, Text: text.S}
	t, problem := s.parse()
	if problem != nil {
		return nil, tool.Diagnostics{problem.diagnostic(text, form)}
	}
	found := t.check(text, vars, globalsOf(form))
	if found.Err() != nil {
		return nil, found.Sorted()
	}
	p, problem := compileTree(t)
	if problem != nil {
		return nil, append(found, problem.diagnostic(text, form)).Sorted()
	}
	return &Script{text: text, source: s, digest: s.digest(), tree: t, ready: func() (*program, *failure) { return p, nil }}, found.Sorted()
}

// CompileModule makes a module ready. What is wrong with it is told when it is run: only
// then it is read, and where it is run.
func CompileModule(m *tool.Module) *Script {
	s := sourceOf(m)
	return &Script{source: s, digest: s.digest(), text: tool.Text{Pos: tool.Pos{File: m.File, Line: 1, Col: 1}},
		ready: sync.OnceValues(func() (*program, *failure) { return newProgram(s) })}
}

// Mentions are the members that the script reads of one of its variables. whole says
// that the script uses the variable otherwise, as in steps[x], so that nobody can tell
// which; at is an offset where it does.
func (s *Script) Mentions(variable string) (list []Mention, whole bool, at int) {
	if s.tree == nil {
		return nil, false, 0
	}
	return s.tree.mentionsOf(variable)
}
