package jsworld

import (
	"errors"
	"path/filepath"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Program is a compiled source. It can run in any number of worlds.
type Program struct {
	source jscheck.Source
	main   *goja.Program // evaluates to the function around the author's text
	maps   func() *jscheck.SourceMap

	lacks lacks
}

// NewProgram parses and compiles a source.
func NewProgram(s jscheck.Source) (*Program, *Failure) {
	var p *Program
	t, wrong := s.Parse()
	if wrong == nil {
		p, wrong = Compile(t)
	}
	if wrong != nil {
		p = &Program{source: s, maps: s.ReadMap}
		f := Failed(KindThrown, "%s", wrong.Message)
		f.Name = "SyntaxError"
		p.setPosition(f, wrong.Off)
		return nil, f
	}
	return p, nil
}

// Compile compiles a tree. It changes the tree and must be called only once for it.
func Compile(t *jscheck.Tree) (p *Program, wrong *jscheck.Problem) {
	defer jscheck.RecoverTo(&wrong)
	prepared, wrong := t.PreparedProgram()
	if wrong != nil {
		return nil, wrong
	}
	main, err := goja.CompileAST(prepared.Program, false)
	var late *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &late):
		return nil, t.Source.ProblemAt(late.Offset, late.Message)
	case err != nil:
		return nil, &jscheck.Problem{Message: err.Error()}
	}
	return &Program{source: t.Source, main: main, maps: sync.OnceValue(t.Source.ReadMap), lacks: lacksOf(t.Source.Text, prepared.CallsPatternFunction)}, nil
}

// setPosition sets the position of a failure from an offset in the source. It reports whether the
// author wrote the text there: a bundle also has text that the bundler added.
func (p *Program) setPosition(f *Failure, off int) bool {
	if p.source.Form != jscheck.Module {
		f.Off = &off
		return true
	}
	pos := p.originalPosition(tool.Text{S: p.source.Text, Pos: tool.Pos{File: p.source.File, Line: 1, Col: 1}}.At(off))
	if jscheck.IsGenerated(filepath.Base(pos.File)) {
		return false
	}
	f.Pos = &pos
	return true
}

// originalPosition returns the position in the author's files for a position in the bundle, or
// pos itself if the source map does not cover it.
func (p *Program) originalPosition(pos tool.Pos) tool.Pos {
	at, ok := p.maps().Original(pos.Line, pos.Col)
	if !ok { // the map may have no column this far to the right
		at, ok = p.maps().Original(pos.Line, 1)
	}
	if !ok {
		return pos
	}
	if !filepath.IsAbs(at.File) {
		at.File = filepath.Join(filepath.Dir(p.source.File), filepath.FromSlash(at.File))
	}
	return at
}
