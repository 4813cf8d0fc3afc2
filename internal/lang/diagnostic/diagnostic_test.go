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

// TestCapKeepsErrors: a file of warnings does not hide the error at its end.
func TestCapKeepsErrors(t *testing.T) {
	var all Diagnostics
	for i := range 3 * MaxDiagnostics {
		all = append(all, Diagnostic{Code: "w", Severity: Warning, Pos: Pos{File: "f", Line: i + 1, Col: 1}})
	}
	all = append(all, Diagnostic{Code: "e", Severity: Error, Pos: Pos{File: "f", Line: 1000, Col: 1}}).Sorted()
	if len(all) != MaxDiagnostics || all.Err() == nil || all[len(all)-1].Code != "e" {
		t.Errorf("%d diagnostics, error: %v", len(all), all.Err())
	}
}
