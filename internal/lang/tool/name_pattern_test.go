package tool

import (
	"strings"
	"testing"
)

// ValidName agrees with the pattern that the schema shows to editors, except for device names of Windows.
func TestNamePattern(t *testing.T) {
	names := []string{"", "a", ".a", "-a", "a.b-c_9", "9", "_", strings.Repeat("x", 128), strings.Repeat("x", 129), "a\n", "a/b", "a b", "\u212a", "\u0131"}
	for r := rune(0); r < 0x180; r++ {
		names = append(names, string(r), "a"+string(r))
	}
	for _, name := range names {
		if got, want := ValidName(name), toolName().MatchString(name); got != want {
			t.Errorf("ValidName(%q) is %v", name, got)
		}
	}
	for _, name := range []string{"con", "NUL.txt", "Com1", "lpt9.x"} {
		if ValidName(name) {
			t.Errorf("%q names a device", name)
		}
	}
	for _, name := range []string{"console", "com", "com10", "nul_"} {
		if !ValidName(name) {
			t.Errorf("%q does not name a device", name)
		}
	}
}
