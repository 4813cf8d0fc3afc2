package hooks

import (
	"sync"

	"github.com/dop251/goja/ast"

	"github.com/flowrun/flowrun/tool"
)

// Form is what a script is in terms of the language, and with that in what world it runs.
type Form int

// The forms. The world of a Body and of an Expression has the language and nothing else
// (S0-073); that of a Step and of a Module has console, timers, the modules of Shim and
// means to ask as well.
const (
	Body       Form = iota // statements of a function, which returns
	Expression             // one expression: a transform
	Module                 // a whole CommonJS module: a .tool.js
	Step                   // statements of a js: step, which may return
)

// wide says whether the world of the form has more than the language.
func (f Form) wide() bool { return f == Module || f == Step }

// Script is JavaScript that has been checked. It does not change, and is safe for
// concurrent use.
type Script struct {
	text   tool.Text
	source source
	digest string
	body   *ast.FunctionLiteral        // of a Module: nil
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
	c := &checker{text: text, form: form, tree: t, vars: vars}
	c.check()
	if c.found.Err() != nil {
		return nil, c.found.Sorted()
	}
	main, problem := t.compile()
	if problem != nil {
		return nil, append(c.found, problem.diagnostic(text, form)).Sorted()
	}
	p := &program{source: s, main: main}
	return &Script{text: text, source: s, digest: s.digest(), body: t.body, ready: func() (*program, *failure) { return p, nil }}, c.found.Sorted()
}

// CompileModule makes a module ready. What is wrong with it is told when it is run: only
// then it is read, and where it is run.
func CompileModule(m *tool.Module) *Script {
	s := source{Form: Module, Text: string(m.Code), Map: m.Map, File: m.File}
	return &Script{source: s, digest: s.digest(), text: tool.Text{Pos: tool.Pos{File: m.File, Line: 1, Col: 1}},
		ready: sync.OnceValues(func() (*program, *failure) { return newProgram(s) })}
}
