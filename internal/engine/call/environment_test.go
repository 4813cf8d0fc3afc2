package call

import (
	"slices"
	"testing"
)

// TestEnvironment checks that the last of several variables with one name counts, before that of the process.
func TestEnvironment(t *testing.T) {
	process := map[string]string{"A": "process", "B": "process"}
	var e environment
	e.setOwn("A", "file")
	e.setOwn("A", "secret")
	e.setUnknown("S")
	for name, want := range map[string]string{"A": "secret", "B": "process", "C": "", "S": ""} {
		if v, ok := e.lookup(name, process); v != want || ok != (want != "") {
			t.Errorf("%s is %q, %v", name, v, ok)
		}
	}
	if !e.unknown["S"] || !slices.Equal(e.pairs, []string{"A=file", "A=secret"}) {
		t.Errorf("%v, %v", e.unknown, e.pairs)
	}
}
