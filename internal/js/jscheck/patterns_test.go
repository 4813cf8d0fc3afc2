package jscheck

import "testing"

// TestPatterns: a literal with a mistake in a property or a class is a problem at its place, before the script runs.
func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		text string
		off  int // -1: no problem
		want string
	}{
		{`return /\p{Lu}[\p{L}--[a]]/v`, -1, ""},
		{`return 1 + /\p{Nope}/u`, 11, `Invalid regular expression: /\p{Nope}/u: Invalid property name`},
		{`return [a ? /[ab--c]/v : 1]`, 12, `Invalid regular expression: /[ab--c]/v: Invalid set operation in character class`},
		{`const f = (x = /\pL/u) => x`, 15, `Invalid regular expression: /\pL/u: Invalid property name`},
		{`return /\p{Nope}/`, -1, ""},
	} {
		tree, wrong := Source{Form: Body, Text: c.text}.Parse()
		if wrong == nil {
			_, wrong = tree.PreparedProgram()
		}
		if wrong == nil {
			wrong = &Problem{Off: -1}
		}
		if *wrong != (Problem{c.off, c.want}) {
			t.Errorf("%s: %+v", c.text, *wrong)
		}
	}
}
