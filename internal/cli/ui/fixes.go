package ui

import (
	"bytes"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/autofix"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/toolfiles"
	"github.com/flowrun/flowrun/library"
)

// AppliedFixes returns the problems without the edits that validate --fix would not apply. source
// returns the text that the problems are about: a text that is not saved yet cannot be fixed.
func AppliedFixes(lib *library.Library, ds tool.Diagnostics, source func(file string) []byte) tool.Diagnostics {
	ds = slices.Clone(ds)
	done := map[string]bool{}
	for _, d := range ds {
		file := d.Pos.File
		if len(d.Fix) == 0 || done[file] {
			continue
		}
		done[file] = true
		if text := source(file); Fixable(file) && bytes.Equal(text, ReadSource(file)) {
			ds = autofix.Offered(CheckAs(lib, file), file, text, ds)
			continue
		}
		for i := range ds {
			if ds[i].Pos.File == file {
				ds[i].Fix = nil
			}
		}
	}
	return ds
}

// CheckAs returns a function that checks a text as if it were in that file.
func CheckAs(lib *library.Library, file string) autofix.Check {
	scope := tool.ScopeFile
	if def, _, err := lib.Lookup(file, nil); err == nil {
		scope = def.Scope
	}
	return func(text []byte) (*tool.Definition, tool.Diagnostics) {
		return toolfiles.Check(lib, file, scope, text, false)
	}
}

// Fixable reports whether diagnostics can be fixed by edits in a file of this type.
func Fixable(file string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".md"}, tool.Extension(file))
}
