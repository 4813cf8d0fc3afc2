package diagnostic

import "testing"

func TestDiagnosticsAsError(t *testing.T) {
	warning := Diagnostic{Code: "w", Severity: Warning, Pos: Pos{File: "f.yaml", Line: 2, Col: 1}, Message: "second"}
	wrong := Diagnostic{Code: "e", Severity: Error, Pos: Pos{File: "f.yaml", Line: 1, Col: 3}, Message: "first", Hint: "fix it"}
	if err := (Diagnostics{warning}).Err(); err != nil {
		t.Errorf("warnings are an error: %v", err)
	}
	all := Diagnostics{warning, wrong, warning}.Sorted()
	want := "f.yaml:1:3: error[e]: first; fix it\nf.yaml:2:1: warning[w]: second"
	if err := all.Err(); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}
