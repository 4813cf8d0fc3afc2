package hooks

import (
	"path/filepath"
	"sync"

	"github.com/dop251/goja"
	"github.com/go-sourcemap/sourcemap"

	"github.com/flowrun/flowrun/tool"
)

// program is a source that is ready to run in any number of worlds.
type program struct {
	source source
	main   *goja.Program // its value is the function around the author's text
	maps   func() *sourcemap.Consumer
}

// newProgram compiles a source.
func newProgram(s source) (*program, *failure) {
	p := &program{source: s}
	p.maps = sync.OnceValue(p.readMap)
	t, wrong := s.parse()
	if wrong == nil {
		p.main, wrong = t.compile()
	}
	if wrong != nil {
		f := failed(KindThrown, "%s", wrong.Message)
		f.Name = "SyntaxError"
		p.at(f, wrong.Off)
		return nil, f
	}
	return p, nil
}

// readMap is the source map, nil where there is none that can be read.
func (p *program) readMap() *sourcemap.Consumer {
	if len(p.source.Map) == 0 {
		return nil
	}
	m, err := sourcemap.Parse("", p.source.Map)
	if err != nil {
		return nil
	}
	return m
}

// at gives a failure the place of an offset in the source.
func (p *program) at(f *failure, off int) {
	if p.source.Form != Module {
		f.Off = &off
		return
	}
	pos := tool.Text{S: p.source.Text, Pos: tool.Pos{File: p.source.File, Line: 1, Col: 1}}.At(off)
	if m := p.maps(); m != nil {
		pos = p.mapped(m, pos)
	}
	f.Pos = &pos
}

// mapped is where the author wrote what stands at pos.
func (p *program) mapped(m *sourcemap.Consumer, pos tool.Pos) tool.Pos {
	file, _, line, col, ok := m.Source(pos.Line, pos.Col-1)
	if !ok { // the map knows nothing so far to the right
		file, _, line, col, ok = m.Source(pos.Line, 0)
	}
	if !ok {
		return pos
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(filepath.Dir(p.source.File), filepath.FromSlash(file))
	}
	return tool.Pos{File: file, Line: line, Col: col + 1}
}
