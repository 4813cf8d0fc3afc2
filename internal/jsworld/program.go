package jsworld

import (
	"errors"
	"path/filepath"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/jscheck"
	"github.com/flowrun/flowrun/tool"
)

// Program is a source that is ready to run in any number of worlds.
type Program struct {
	source jscheck.Source
	main   *goja.Program // its value is the function around the author's text
	maps   func() *jscheck.SourceMap
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
		p.at(f, wrong.Off)
		return nil, f
	}
	return p, nil
}

// compileTree makes a tree ready to run. It must be called once.
func Compile(t *jscheck.Tree) (p *Program, wrong *jscheck.Problem) {
	defer jscheck.RecoverTo(&wrong)
	main, err := goja.CompileAST(t.Complete(), false)
	var late *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &late):
		return nil, t.Source.ProblemAt(late.Offset, late.Message)
	case err != nil:
		return nil, &jscheck.Problem{Message: err.Error()}
	}
	return &Program{source: t.Source, main: main, maps: sync.OnceValue(t.Source.ReadMap)}, nil
}

// at gives a failure the place of an offset in the source.
func (p *Program) at(f *Failure, off int) {
	if p.source.Form != jscheck.Module {
		f.Off = &off
		return
	}
	pos := p.mapped(tool.Text{S: p.source.Text, Pos: tool.Pos{File: p.source.File, Line: 1, Col: 1}}.At(off))
	f.Pos = &pos
}

// mapped is where the author wrote what stands at pos.
func (p *Program) mapped(pos tool.Pos) tool.Pos {
	at, ok := p.maps().Original(pos.Line, pos.Col)
	if !ok { // the map knows nothing so far to the right
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
