package jsrun

import (
	"sync"

	"github.com/flowrun/flowrun/internal/js/jscheck"
	"github.com/flowrun/flowrun/internal/js/jsworld"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Form is the part of a program that a script is in terms of the language. It also decides which
// environment the script runs in.
type Form = jscheck.Form

// The forms. The environment of an Expression has only the language. That of the others also has
// console, timers and other built-in objects, and host calls. A Step and a Module can load
// built-in modules.
const (
	Body       = jscheck.Body       // statements of a function, which returns: a script of a Markdown tool
	Expression = jscheck.Expression // one expression: a transform
	Module     = jscheck.Module     // a whole CommonJS module: a .tool.js
	Step       = jscheck.Step       // statements of a js: step, which may return
)

// MaxScript is the maximum length in bytes of a script that is not a Module. Longer code belongs
// in a .tool.js.
const MaxScript = jscheck.MaxScript

// Mention is a use of a member of a variable, such as steps.build.
type Mention = jscheck.Mention

// Script is a checked script. It is immutable and safe for concurrent use.
type Script struct {
	text     tool.Text
	source   jscheck.Source
	digest   string
	tree     *jscheck.Tree                               // nil for a Module
	compiled func() (*jsworld.Program, *jsworld.Failure) // compiles it for this process
}

// Compile checks and compiles a Body, an Expression or a Step. vars are the names of the
// variables that the calls pass. It reports syntax errors, a Body that returns nothing, names
// that are unavailable or not declared, and endless loops. The Script is nil if the diagnostics
// contain an error.
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
	return &Script{text: text, source: s, digest: s.Digest(), tree: t, compiled: func() (*jsworld.Program, *jsworld.Failure) { return p, nil }}, found.Sorted()
}

// CompileModule returns the script of a module. The module is parsed when it is first run, in
// the process that runs it; problems are reported then.
func CompileModule(m *tool.Module) *Script {
	s := jscheck.SourceOf(m)
	return &Script{source: s, digest: s.Digest(), text: tool.Text{Pos: tool.Pos{File: m.File, Line: 1, Col: 1}},
		compiled: sync.OnceValues(func() (*jsworld.Program, *jsworld.Failure) { return jsworld.NewProgram(s) })}
}

// Mentions returns the members that the script reads of one of its variables. whole reports that
// the script also uses the variable in another way, such as steps[x], so that the members it
// reads cannot be known; at is the offset of the first such use. A Module has no mentions.
func (s *Script) Mentions(variable string) (list []Mention, whole bool, at int) {
	if s.tree == nil {
		return nil, false, 0
	}
	return s.tree.Mentions(variable)
}

// Constants returns the texts that an Expression can return exactly as its author wrote them,
// such as "-i" of value ? "" : "-i". Other forms have none.
func (s *Script) Constants() []string {
	if s.tree == nil {
		return nil
	}
	return s.tree.Constants()
}
