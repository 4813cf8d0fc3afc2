package jscheck

import (
	"strings"
	"testing"
)

// TestNesting counts the brackets that are code, whatever lies around them.
func TestNesting(t *testing.T) {
	many := strings.Repeat("(", 50)
	for text, want := range map[string]int{
		"((((1))))":                        3,
		"[{(`${[1]}`)}]":                   6,
		"'" + many + "' + (1)":             -1,
		"\"" + many + "\"":                 -1,
		"`" + many + "`":                   -1,
		"`a${`" + many + "`}" + many + "`": -1,
		"// " + many + "\n(1)":             -1,
		"/*" + many + "\n*/":               -1,
		"x = /" + many + "/":               -1,
		"return /[/" + many + "]/.y":       -1,
		"a / b / (((":                      -1,
		"(a) / ((((":                       9,
		"'\\'" + many + "'":                -1,
		"it's ((((":                        8,
		"a / ((((":                         7,
		"()()()()()()":                     -1,
		"))))((((":                         7,
		"`":                                -1,
		"'":                                -1,
		"/":                                -1,
		"/*":                               -1,
		"`${":                              -1,
		"\\":                               -1,
		"'))))' + ((((":                    12,
	} {
		if got := deepest(text, 3); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
