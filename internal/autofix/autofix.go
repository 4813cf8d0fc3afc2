// Package autofix makes the edits that diagnostics carry (validate --fix).
//
// It works in rounds: it asks what is wrong with the text, makes the edits that can be
// made, and asks again, until no edit is left. An edit stands only when it is seen to
// help: its problem is gone afterwards, and a definition that was without errors means
// the same as before. What it does not touch stays byte for byte.
package autofix

import (
	"github.com/flowrun/flowrun/internal/lint"
	"github.com/flowrun/flowrun/tool"
)

// Result is what became of a text.
type Result struct {
	Text  []byte
	Fixed tool.Diagnostics // the problems whose edits were made, with places of the time
}

// maxRounds bounds the rounds: every one makes at least one edit.
const maxRounds = 200

// Check reads and compiles the text of a definition file, and answers all that is wrong
// with it.
type Check func(text []byte) (*tool.Definition, tool.Diagnostics)

// Text mends the text of the named definition file, which is not opened. The text it
// answers is its own slice, or src where there was nothing to do.
func Text(check Check, file string, src []byte) Result {
	m := mender{judge: check, file: file}
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

type mender struct {
	judge Check
	file  string
}

// state is what is known of one text.
type state struct {
	def   *tool.Definition
	found tool.Diagnostics
	sound bool // it has no errors
}

// check also hears of better practice, which may carry edits, too.
func (m *mender) check(src []byte) state {
	def, found := m.judge(src)
	sound := found.Err() == nil
	if sound {
		found = append(found, lint.Of(def)...)
	}
	return state{def, found, sound}
}

// round makes all the edits of a text at once, or as many of them as help, one by one.
func (m *mender) round(src []byte) ([]byte, tool.Diagnostics) {
	before := m.check(src)
	var with tool.Diagnostics
	var edits []tool.Edit
	for _, d := range before.found {
		if len(d.Fix) > 0 && d.Pos.File == m.file {
			with, edits = append(with, d), append(edits, d.Fix...)
		}
	}
	if len(with) == 0 {
		return src, nil
	}
	if next, ok := tool.Apply(src, edits); ok && len(with) > 1 && m.helps(before, with, m.check(next)) {
		return next, with
	}
	for _, d := range with {
		if next, ok := tool.Apply(src, d.Fix); ok && m.helps(before, tool.Diagnostics{d}, m.check(next)) {
			return next, tool.Diagnostics{d}
		}
	}
	return src, nil
}

// helps says whether a text after edits is better: nothing that was mended is still
// there, a definition without errors has stayed the same, and one with errors has not
// become unreadable.
func (m *mender) helps(before state, mended tool.Diagnostics, after state) bool {
	if before.sound {
		return after.sound && before.def.Same(after.def)
	}
	left := map[string]int{}
	for _, d := range after.found {
		left[d.Code+d.Path+d.Message]++
	}
	for _, d := range before.found {
		left[d.Code+d.Path+d.Message]--
	}
	for _, d := range mended {
		if left[d.Code+d.Path+d.Message] >= 0 {
			return false
		}
	}
	return len(before.def.Steps) == 0 || len(after.def.Steps) >= len(before.def.Steps)
}
