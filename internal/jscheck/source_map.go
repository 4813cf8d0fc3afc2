package jscheck

import (
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"github.com/flowrun/flowrun/tool"
)

// SourceMap says where the author wrote what a bundle holds; nil knows nothing.
type SourceMap struct{ consumer *sourcemap.Consumer }

// ReadMap is the source's map, nil where there is none that can be read.
func (s Source) ReadMap() *SourceMap {
	if len(s.Map) == 0 {
		return nil
	}
	m, err := sourcemap.Parse("", s.Map)
	if err != nil {
		return nil
	}
	return &SourceMap{m}
}

// Original is where the author wrote what stands at a line and column of the bundle. The
// file is named as the map names it.
func (m *SourceMap) Original(line, col int) (p tool.Pos, ok bool) {
	if m == nil {
		return p, false
	}
	file, _, line, col, ok := m.consumer.Source(line, col-1)
	return tool.Pos{File: file, Line: line, Col: col + 1}, ok
}

// Pos is the place of an offset of a module in the author's file, which a source map may
// name; the beginning of the file where the map does not.
func (s Source) Pos(off int) tool.Pos {
	p := tool.Text{S: s.Text, Pos: tool.Pos{File: s.File, Line: 1, Col: 1}}.At(off)
	if s.Map == nil {
		return p
	}
	if at, ok := s.ReadMap().Original(p.Line, p.Col); ok && strings.HasSuffix(s.File, at.File) {
		return tool.Pos{File: s.File, Line: at.Line, Col: at.Col}
	}
	return tool.Pos{File: s.File, Line: 1, Col: 1}
}
