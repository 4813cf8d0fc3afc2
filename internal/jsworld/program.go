package hooks

import (
	"errors"
	"path/filepath"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/tool"
)

// program is a source that is ready to run in any number of worlds.
type program struct {
	source source
	main   *goja.Program // its value is the function around the author's text
	maps   func() *sourceMap
}

// newProgram parses and compiles a source.
func newProgram(s source) (*program, *failure) {
	var p *program
	t, wrong := s.parse()
	if wrong == nil {
		p, wrong = compileTree(t)
	}
	if wrong != nil {
		p = &program{source: s, maps: s.readMap}
		f := failed(KindThrown, "%s", wrong.Message)
		f.Name = "SyntaxError"
		p.at(f, wrong.Off)
		return nil, f
	}
	return p, nil
}

// compileTree makes a tree ready to run. It must be called once.
func compileTree(t *tree) (p *program, wrong *problem) {
	defer recovered(&wrong)
	main, err := goja.CompileAST(t.complete(), false)
	var late *goja.CompilerSyntaxError
	switch {
	case errors.As(err, &late):
		return nil, t.source.problemAt(late.Offset, late.Message)
	case err != nil:
		return nil, &problem{Message: err.Error()}
	}
	return &program{source: t.source, main: main, maps: sync.OnceValue(t.source.readMap)}, nil
}

// at gives a failure the place of an offset in the source.
func (p *program) at(f *failure, off int) {
	if p.source.Form != Module {
		f.Off = &off
		return
	}
	pos := p.mapped(tool.Text{S: p.source.Text, Pos: tool.Pos{File: p.source.File, Line: 1, Col: 1}}.At(off))
	f.Pos = &pos
}

// mapped is where the author wrote what stands at pos.
func (p *program) mapped(pos tool.Pos) tool.Pos {
	at, ok := p.maps().original(pos.Line, pos.Col)
	if !ok { // the map knows nothing so far to the right
		at, ok = p.maps().original(pos.Line, 1)
	}
	if !ok {
		return pos
	}
	if !filepath.IsAbs(at.File) {
		at.File = filepath.Join(filepath.Dir(p.source.File), filepath.FromSlash(at.File))
	}
	return at
}
