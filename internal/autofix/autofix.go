// Package autofix applies the edits that diagnostics contain (validate --fix).
//
// It works in rounds. Each round checks the text and applies edits, until no edit is left. An edit is kept only if it
// helps: its problem is gone afterwards, and a definition without errors means the same as before. All other bytes of
// the file stay the same.
package autofix

import (
	"github.com/flowrun/flowrun/internal/lint"
	"github.com/flowrun/flowrun/tool"
)

// Result is the text after all rounds.
type Result struct {
	Text  []byte
	Fixed tool.Diagnostics // the problems whose edits were applied, with their positions at that time
}

// maxRounds limits the number of rounds. Every round applies at least one edit.
const maxRounds = 200

// Check decodes and compiles the text of a definition file and returns all problems in it.
type Check func(text []byte) (*tool.Definition, tool.Diagnostics)

// Text applies the fixes to the text of the named definition file, which is not opened. The returned text is a new
// slice, or src if there was nothing to do.
func Text(check Check, file string, src []byte) Result {
	m := fixer{checkText: check, file: file}
	r := Result{Text: src}
	for range maxRounds {
		next, fixed := m.round(r.Text)
		if len(fixed) == 0 {
			break
		}
		r.Text, r.Fixed = next, append(r.Fixed, fixed...)
	}
	return r
}

type fixer struct {
	checkText Check
	file      string
}

// state is the result of checking one text.
type state struct {
	def   *tool.Definition
	found tool.Diagnostics
	valid bool // it has no errors
}

// check adds the notes of package lint, which may contain edits too, if there are no errors.
func (m *fixer) check(src []byte) state {
	def, found := m.checkText(src)
	valid := found.Err() == nil
	if valid {
		found = append(found, lint.Of(def)...)
	}
	return state{def, found, valid}
}

// round applies all edits of a text at once if that helps, otherwise the first one that helps.
func (m *fixer) round(src []byte) ([]byte, tool.Diagnostics) {
	before := m.check(src)
	var fixable tool.Diagnostics
	var edits []tool.Edit
	for _, d := range before.found {
		if len(d.Fix) > 0 && d.Pos.File == m.file {
			fixable, edits = append(fixable, d), append(edits, d.Fix...)
		}
	}
	if len(fixable) == 0 {
		return src, nil
	}
	if next, ok := tool.Apply(src, edits); ok && len(fixable) > 1 && m.helps(before, fixable, m.check(next)) {
		return next, fixable
	}
	for _, d := range fixable {
		if next, ok := tool.Apply(src, d.Fix); ok && m.helps(before, tool.Diagnostics{d}, m.check(next)) {
			return next, tool.Diagnostics{d}
		}
	}
	return src, nil
}

// helps reports whether a text is better after edits: none of the fixed problems is left, a definition without errors
// means the same, and one with errors has not lost steps.
func (m *fixer) helps(before state, fixed tool.Diagnostics, after state) bool {
	if before.valid {
		return after.valid && before.def.Same(after.def)
	}
	left := map[string]int{}
	for _, d := range after.found {
		left[d.Code+d.Path+d.Message]++
	}
	for _, d := range before.found {
		left[d.Code+d.Path+d.Message]--
	}
	for _, d := range fixed {
		if left[d.Code+d.Path+d.Message] >= 0 {
			return false
		}
	}
	return len(before.def.Steps) == 0 || len(after.def.Steps) >= len(before.def.Steps)
}
