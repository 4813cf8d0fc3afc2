package diagnostic

import (
	"slices"
	"testing"
)

// TestReported: a file of warnings does not hide the error at its end, and nothing is left out without being counted.
func TestReported(t *testing.T) {
	var all Diagnostics
	add := func(file string, s Severity, n int) {
		for i := range n {
			all = append(all, Diagnostic{Code: "c", Severity: s, Pos: Pos{File: file, Line: i + 1, Col: 1}, Message: string(s)})
		}
	}
	add("few", Warning, MaxDiagnostics)
	add("many", Warning, 3*MaxDiagnostics)
	add("many", Note, 1)
	all = append(all, Diagnostic{Code: "e", Severity: Error, Pos: Pos{File: "many", Line: 1000, Col: 1}})
	reported := Reported(all.Sorted())
	if n := len(reported); n != 2*MaxDiagnostics+2 || reported[n-1].Code != "e" {
		t.Errorf("%d diagnostics, last: %v", n, reported[n-1])
	}
	for _, s := range severities {
		if got, want := Count(reported, s), Count(all, s); got != want {
			t.Errorf("%d of severity %s, want %d", got, s, want)
		}
	}
	var left []string
	for _, d := range reported {
		if d.Code == CodeMore {
			left = append(left, d.String())
		}
	}
	want := []string{"many:1:1: note[more-problems]: 1 more note here and below is left out; fix the others first",
		"many:100:1: warning[more-problems]: 201 more warnings here and below are left out; fix the others first"}
	if !slices.Equal(left, want) {
		t.Errorf("got %q, want %q", left, want)
	}
}
