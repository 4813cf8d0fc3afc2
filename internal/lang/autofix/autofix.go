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

// maxRounds limits the number of rounds. Every round applies at least one edit. maxTried limits the number of problems
// whose edits are tried one by one in a round, because each is a check of the whole text.
const (
	maxRounds = 200
	maxTried  = 50
)

// Check decodes and compiles the text of a definition file and returns all problems in it.
type Check func(text []byte) (*tool.Definition, tool.Diagnostics)

// Text applies the fixes to the text of the named definition file, which is not opened. The returned text is a new
// slice, or src if there was nothing to do.
func Text(check Check, file string, src []byte) Result {
	return rounds(check, file, src, func(tool.Diagnostics) bool { return true })
}

// rounds applies fixes until no edit helps, or more returns false for those that a round has applied.
func rounds(check Check, file string, src []byte, more func(tool.Diagnostics) bool) Result {
	m := fixer{checkText: check, file: file}
	r := Result{Text: src}
	for range maxRounds {
		next, fixed := m.round(r.Text)
		if len(fixed) == 0 {
			break
		}
		r.Text, r.Fixed = next, append(r.Fixed, fixed...)
		if !more(fixed) {
			break
		}
	}
	return r
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
}

// state is the result of checking one text.
type state struct {
	def   *tool.Definition
	found tool.Diagnostics
	notes tool.Diagnostics // of package lint, which may contain edits too; only if the definition has no errors
}

func (m *fixer) check(src []byte) state {
	def, found := m.checkText(src)
	now := state{def: def, found: found}
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

// round applies all edits of a text at once if that helps, otherwise those that help on their own.
func (m *fixer) round(src []byte) ([]byte, tool.Diagnostics) {
	before := m.check(src)
	var fixable tool.Diagnostics
	for _, d := range slices.Concat(before.found, before.notes) {
		if len(d.Fix) > 0 && d.Pos.File == m.file {
			fixable = append(fixable, d)
		}
	}
	if next, ok := m.try(src, before, fixable); ok {
		return next, fixable
	}
	var helpful tool.Diagnostics
	for _, d := range fixable[:min(len(fixable), maxTried)] {
		if _, ok := m.try(src, before, tool.Diagnostics{d}); ok {
			helpful = append(helpful, d)
		}
	}
	for ; len(helpful) > 0; helpful = helpful[:len(helpful)/2] { // edits that help alone may contradict each other
		if next, ok := m.try(src, before, helpful); ok {
			return next, helpful
		}
	}
	return src, nil
}

// try applies the edits of some problems. It reports whether that helps.
func (m *fixer) try(src []byte, before state, fixed tool.Diagnostics) ([]byte, bool) {
	var edits []tool.Edit
	for _, d := range fixed {
		edits = append(edits, d.Fix...)
	}
	if len(edits) == 0 {
		return nil, false
	}
	next, ok := diagnostic.Apply(src, edits)
	return next, ok && helps(before, fixed, m.check(next))
}

// helps reports whether a text is better after edits: all fixed problems are gone, there are no new ones (unless nothing
// could be read before), a definition without errors means the same, and one with errors has not lost steps.
func helps(before state, fixed tool.Diagnostics, after state) bool {
	if before.valid() && !(after.valid() && before.def.Same(after.def)) {
		return false
	}
	known, left := countsOf(before.found), countsOf(after.found)
	cut := len(before.found) >= diagnostic.MaxDiagnostics // there may be more problems that were not reported
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
