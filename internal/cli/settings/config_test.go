package settings

import (
	"strings"
	"testing"
)

// TestIsKey: a word names a setting or a section of them.
func TestIsKey(t *testing.T) {
	for word, want := range map[string]bool{"limits": true, "limits.cleanup": true, "limits.clean": false, "limit": false, "limits.": false, "": false} {
		if got := isKey(word); got != want {
			t.Errorf("%q: got %v", word, got)
		}
	}
	for _, c := range [][2]string{{"limits.cleanp", "did you mean limits.cleanup"}, {"something", "; the settings are "}} {
		if got := suggestKey(c[0]); !strings.Contains(got, c[1]) {
			t.Errorf("%s: got %q, want %q", c[0], got, c[1])
		}
	}
}

// TestMoreThanOne counts flags.
func TestMoreThanOne(t *testing.T) {
	for _, c := range []struct {
		flags []bool
		want  bool
	}{{nil, false}, {[]bool{false, true}, false}, {[]bool{true, false, true}, true}} {
		if got := moreThanOne(c.flags...); got != c.want {
			t.Errorf("%v: got %v", c.flags, got)
		}
	}
}
