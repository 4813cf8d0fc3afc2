package diagnostic_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

func TestMisspelt(t *testing.T) {
	for _, c := range []struct{ word, names, want string }{
		{"TARGT", "TARGET", "TARGET"},
		{"TRAGET", "TARGET", "TARGET"},
		{"NAEM", "NAME OTHER", "NAME"},
		{"TARRGTE", "TARGET", "TARGET"},         // distance 2
		{"NEMA", "NAME", ""},                    // distance 2 in a short word
		{"TARRGGTE", "TARGET", ""},              // distance 3
		{"TARGET_FOLDRES", "TARGET_FILES", ""},  // another name
		{"FILEX", "FILE_X FILE", "FILE FILE_X"}, // both are as near
		{"FILES", "FILE FOLES FILET", "FILE FILET FOLES"},
		{"FILESX", "FILES FILE", "FILES"}, // one is nearer
		{"targt", "TARGET", ""},           // written differently
		{"targt", "target", "target"},
		{"userNam", "userName", "userName"},
		{"userNam", "username USERNAME", ""},
		{"OK", "OS", ""},           // too short
		{"NAME", "NAME NAMES", ""}, // not misspelled
		{"STEP2", "STEP1 STEP3", "STEP1 STEP3"},
		{"", "A", ""},
	} {
		got := diagnostic.Misspelt(c.word, slices.Values(strings.Fields(c.names)))
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q among %q: %q, want %q", c.word, c.names, got, c.want)
		}
	}
}
