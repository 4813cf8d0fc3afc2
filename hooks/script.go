package hooks

import (
	"sync"

	"github.com/flowrun/flowrun/internal/jscheck"
	"github.com/flowrun/flowrun/internal/jsworld"
	"github.com/flowrun/flowrun/tool"
)

// Form is what a script is in terms of the language, and with that in what world it runs.
type Form = jscheck.Form

// The forms. The world of a Body and of an Expression has the language and nothing else;
// that of a Step and of a Module has console, timers, the modules of Shim and
// means to ask as well.
const (
	Body       = jscheck.Body       // statements of a function, which returns
	Expression = jscheck.Expression // one expression: a transform
	Module     = jscheck.Module     // a whole CommonJS module: a .tool.js
	Step       = jscheck.Step       // statements of a js: step, which may return
)

// MaxScript is how long a script may be that is no Module, in bytes. A longer one is a
// program, and belongs into a .tool.js.
const MaxScript = jscheck.MaxScript

// Mention is a member of a variable that a script names: steps.build.
type Mention = jscheck.Mention

// Script is JavaScript that has been checked. It does not change, and is safe for
// concurrent use.
type Script struct {
	text   tool.Text
	source jscheck.Source
	digest string
	tree   *jscheck.Tree                               // of a Module: nil
	ready  func() (*jsworld.Program, *jsworld.Failure) // compiled, for this process
}

// Compile checks a Body, an Expression or a Step in which the names vars are known. The
// Script is nil where the diagnostics hold an error. What is looked for: what the language
// does not allow, a Body that returns nothing, what no script has, names
// that nobody knows, and loops without an end.
func Compile(text tool.Text, form Form, vars ...string) (*Script, tool.Diagnostics) {
	s := jscheck.Source{Form: form, Text: text.S}
	t, problem := s.Parse()
	if problem != nil {
		return nil, tool.Diagnostics{problem.Diagnostic(text, form)}
	}
	found := t.Check(text, vars, jsworld.GlobalsOf(form))
	if found.Err() != nil {
		return nil, found.Sorted()
	}
	p, problem := jsworld.Compile(t)
	if problem != nil {
		return nil, append(found, problem.Diagnostic(text, form)).Sorted()
	}
	return &Script{text: text, source: s, digest: s.Digest(), tree: t, ready: func() (*jsworld.Program, *jsworld.Failure) { return p, nil }}, found.Sorted()
}

// CompileModule makes a module ready. What is wrong with it is told when it is run: only
// then it is read, and where it is run.
func CompileModule(m *tool.Module) *Script {
	s := jscheck.SourceOf(m)
	return &Script{source: s, digest: s.Digest(), text: tool.Text{Pos: tool.Pos{File: m.File, Line: 1, Col: 1}},
		ready: sync.OnceValues(func() (*jsworld.Program, *jsworld.Failure) { return jsworld.NewProgram(s) })}
}

// Mentions are the members that the script reads of one of its variables. whole says
// that the script uses the variable otherwise, as in steps[x], so that nobody can tell
// which; at is an offset where it does.
func (s *Script) Mentions(variable string) (list []Mention, whole bool, at int) {
	if s.tree == nil {
		return nil, false, 0
	}
	return s.tree.Mentions(variable)
}
