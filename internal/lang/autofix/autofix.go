// Package autofix applies the edits that diagnostics contain (validate --fix).
//
// It works in rounds. Each round checks the text and tries the edits, until no edit is left that helps: afterwards the
// text has fewer problems and no new ones, and a definition without errors means the same as before. All other bytes
// of the file stay the same.
package autofix

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/lint"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Result is the text after all rounds.
type Result struct {
	Text  []byte
	Fixed tool.Diagnostics // the problems whose edits were applied, with their positions at that time
}

// maxChecks limits how often the text is checked: that takes as long as loading the definition. Edits that all help are
// found with two checks, each one that does not with a few more.
const maxChecks = 100

// Check decodes and compiles the text of a definition file and returns all problems in it.
type Check func(text []byte) (*tool.Definition, tool.Diagnostics)

// Text applies the fixes to the text of the named definition file, which is not opened. The returned text is a new
// slice, or src if there was nothing to do.
func Text(check Check, file string, src []byte) Result {
	return rounds(check, file, src, func(tool.Diagnostics) bool { return true })
}

// rounds applies fixes until no edit helps, or more returns false for those that a round has applied.
func rounds(check Check, file string, src []byte, more func(tool.Diagnostics) bool) Result {
	m := fixer{checkText: check, file: file, left: maxChecks}
	r := Result{Text: src}
	for now := m.check(src); ; {
		fixed, next := m.round(now)
		if len(fixed) == 0 {
			return r
		}
		r.Text, r.Fixed, now = next.text, append(r.Fixed, fixed...), next
		if !more(fixed) {
			return r
		}
	}
}

// Offered returns the problems without the edits that Text would not apply. found are the problems in src. Rounds that
// concern none of them are left out: a text can have many more problems.
func Offered(check Check, file string, src []byte, found tool.Diagnostics) tool.Diagnostics {
	open := map[string]int{} // edits not yet applied
	left := 0
	for _, d := range found {
		if len(d.Fix) > 0 && d.Pos.File == file {
			open[identity(d)]++
			left++
		}
	}
	if left > 0 {
		rounds(check, file, src, func(fixed tool.Diagnostics) bool {
			for _, d := range fixed {
				if id := identity(d); open[id] > 0 {
					open[id]--
					left--
				}
			}
			return left > 0
		})
	}
	found = slices.Clone(found)
	for i := len(found) - 1; i >= 0; i-- { // of problems that are the same, the first ones are applied
		if d := &found[i]; len(d.Fix) > 0 && d.Pos.File == file {
			if id := identity(*d); open[id] > 0 {
				open[id]--
				d.Fix = nil
			}
		}
	}
	return found
}

type fixer struct {
	checkText Check
	file      string
	left      int // checks that may still be made
}

// state is the result of checking one text.
type state struct {
	text  []byte
	def   *tool.Definition
	found tool.Diagnostics
	notes tool.Diagnostics // of package lint, which may contain edits too; only if the definition has no errors
}

func (m *fixer) check(src []byte) state {
	m.left--
	def, found := m.checkText(src)
	now := state{text: src, def: def, found: found}
	if now.valid() {
		now.notes = lint.Of(def)
	}
	return now
}

func (s state) valid() bool { return s.found.Err() == nil }

// unread reports whether nothing of the text could be read, as with invalid YAML. Then its other problems are not known
// yet. A text that was read has a description and steps, or an error for each of them.
func (s state) unread() bool {
	return len(s.found) == 1 && s.def.Description == "" && len(s.def.Steps) == 0
}

// round applies all edits of a text that help and do not overlap. It returns the problems that they fix, and the text
// afterwards.
func (m *fixer) round(before state) (tool.Diagnostics, state) {
	var together, others tool.Diagnostics
	var edits diagnostic.Edits
	for _, d := range slices.Concat(before.found, before.notes) {
		switch {
		case len(d.Fix) == 0 || d.Pos.File != m.file:
		case edits.Add(d.Fix):
			together = append(together, d)
		default:
			others = append(others, d)
		}
	}
	fixed, after := m.grow(before, nil, before, together)
	if len(fixed) == 0 {
		fixed, after = m.grow(before, nil, before, others)
	}
	return fixed, after
}

// grow returns what of more helps together with those that are known to help, and the text afterwards. If not all of them
// do, it asks for each half.
func (m *fixer) grow(before state, helpful tool.Diagnostics, after state, more tool.Diagnostics) (tool.Diagnostics, state) {
	if len(more) == 0 || m.left <= 0 {
		return helpful, after
	}
	all := slices.Concat(helpful, more)
	if next, ok := m.try(before, all); ok {
		return all, next
	}
	if half := len(more) / 2; half > 0 {
		helpful, after = m.grow(before, helpful, after, more[:half])
		helpful, after = m.grow(before, helpful, after, more[half:])
	}
	return helpful, after
}

// try applies the edits of some problems. It reports whether that helps.
func (m *fixer) try(before state, fixed tool.Diagnostics) (state, bool) {
	var edits []diagnostic.Edit
	for _, d := range fixed {
		edits = append(edits, d.Fix...)
	}
	text, ok := diagnostic.Apply(before.text, edits)
	if !ok {
		return state{}, false
	}
	after := m.check(text)
	return after, helps(before, fixed, after)
}

// helps reports whether a text is better after edits: all fixed problems are gone, there are no new ones (unless nothing
// could be read before), a definition without errors means the same, and one with errors has not lost steps.
func helps(before state, fixed tool.Diagnostics, after state) bool {
	if before.valid() && !(after.valid() && before.def.Same(after.def)) {
		return false
	}
	known, left := countsOf(before.found), countsOf(after.found)
	cut := len(before.found) >= diagnostic.MaxCollected // there may be more problems that are not known
	for problem, n := range left {
		if n > known[problem] && !before.unread() && !(cut && knownCode(before.found, problem)) {
			return false
		}
	}
	left = countsOf(slices.Concat(after.found, after.notes))
	known = countsOf(slices.Concat(before.found, before.notes))
	for problem, n := range countsOf(fixed) {
		if left[problem] > known[problem]-n {
			return false
		}
	}
	return len(before.def.Steps) == 0 || len(after.def.Steps) >= len(before.def.Steps)
}

// countsOf returns how often each problem occurs.
func countsOf(found tool.Diagnostics) map[string]int {
	counts := make(map[string]int, len(found))
	for _, d := range found {
		counts[identity(d)]++
	}
	return counts
}

var position = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b(\d+:\d+|line \d+)\b`) })

// identity returns what a problem is about, without positions, because edits move them.
func identity(d tool.Diagnostic) string {
	return d.Code + " " + d.Path + " " + position().ReplaceAllString(d.Message, "")
}

// knownCode reports whether one of the problems has the same code as the one with that identity.
func knownCode(found tool.Diagnostics, identity string) bool {
	code, _, _ := strings.Cut(identity, " ")
	return slices.ContainsFunc(found, func(d tool.Diagnostic) bool { return d.Code == code })
}
