package jscheck

import (
	"strings"

	"github.com/go-sourcemap/sourcemap"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// SourceMap maps positions in a bundle to positions in the author's files. A nil SourceMap maps
// nothing.
type SourceMap struct{ consumer *sourcemap.Consumer }

// ReadMap returns the source map of the source, or nil if there is none or it cannot be parsed.
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

// IsGenerated reports whether a file in a map is a module that the bundler added.
func IsGenerated(file string) bool { return strings.HasPrefix(file, "flowrun:") }

// Original returns the author's position for a line and column of the bundle, both counted from
// 1. The file has the name that the map gives it.
func (m *SourceMap) Original(line, col int) (p tool.Pos, ok bool) {
	if m == nil {
		return p, false
	}
	file, _, line, col, ok := m.consumer.Source(line, col-1)
	return tool.Pos{File: file, Line: line, Col: col + 1}, ok
}

// Pos converts an offset in a module to a position in the author's file, using the source map if
// there is one. If the map does not cover the offset, Pos returns the beginning of the file.
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
