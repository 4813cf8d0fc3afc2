package commandline

import (
	"strings"
	"testing"
)

// TestEnviron: the last value of a variable wins, and an environ does not change.
func TestEnviron(t *testing.T) {
	e := NewEnviron([]string{"A=1", "B=2", "A=3"})
	got := strings.Join(e.With([]string{"C=1", "B=x"}, []string{"C=2"}), " ")
	if got != "A=3 B=x C=2" {
		t.Error(got)
	}
	if got := strings.Join(e.With(), " "); got != "A=3 B=2" {
		t.Error("it changed:", got)
	}
	if got := strings.Join(e.Without("A").List, " "); got != "B=2" {
		t.Error(got)
	}
}
