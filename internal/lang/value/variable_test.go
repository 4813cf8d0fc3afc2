package value

import (
	"regexp"
	"testing"
)

// TestIsVariableName: the function and the pattern say the same.
func TestIsVariableName(t *testing.T) {
	form := regexp.MustCompile(VariablePattern)
	for s, want := range map[string]bool{"A": true, "_": true, "a_1": true, "": false, "1A": false, "A-B": false, "A=B": false, "Ä": false, "A\n": false, "A\x00": false, "A.B": false} {
		if IsVariableName(s) != want || form.MatchString(s) != want {
			t.Errorf("%q: got %v, the pattern %v, want %v", s, IsVariableName(s), form.MatchString(s), want)
		}
	}
}
