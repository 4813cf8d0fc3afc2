package diagnostic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity ranks a diagnostic. Errors keep a definition from loading.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Diagnostic is one problem of a definition: what is wrong, where, what was
// expected and the way out. Code is stable across releases.
type Diagnostic struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Pos      Pos      `json:"-"`
	Len      int      `json:"-"`              // characters the caret spans; 0 = 1
	Path     string   `json:"path,omitempty"` // the key path, steps[2].run-condition
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`

	Related []Place `json:"-"` // where else to look: the first of two
	Fix     []Edit  `json:"-"` // what would mend it; none where that needs a person
}

// Place is a further place that a problem has to do with.
type Place struct {
	Pos     Pos
	Len     int // characters that are underlined; 0 = 1
	Message string
}

// String is the diagnostic on one line: file:line:col: severity[code]: message; hint.
func (d Diagnostic) String() string {
	var b strings.Builder
	if place := d.Pos.String(); place != "" {
		b.WriteString(place + ": ")
	}
	fmt.Fprintf(&b, "%s[%s]: %s", d.Severity, d.Code, d.Message)
	if d.Hint != "" {
		b.WriteString("; " + strings.ReplaceAll(d.Hint, "\n", " "))
	}
	return b.String()
}

// Diagnostics is every problem at once, sorted by place. It is an error when it
// holds at least one Diagnostic of severity Error; see Err.
type Diagnostics []Diagnostic

// Error is one line for every diagnostic.
func (d Diagnostics) Error() string {
	lines := make([]string, len(d))
	for i, one := range d {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Err is d as an error, or nil where no diagnostic is of severity Error.
func (d Diagnostics) Err() error {
	if slices.ContainsFunc(d, IsError) {
		return d
	}
	return nil
}

func IsError(d Diagnostic) bool { return d.Severity == Error }

// MaxDiagnostics is how many problems of one file are reported at most. What is
// over it is left out, warnings first.
const MaxDiagnostics = 100

// Sorted is d in order of place, each problem once, MaxDiagnostics at most. The
// root package uses it to join its own findings to those of this package.
func (d Diagnostics) Sorted() Diagnostics {
	d = slices.Clone(d)
	slices.SortStableFunc(d, byPlace)
	d = slices.CompactFunc(d, oneProblem)
	if len(d) <= MaxDiagnostics {
		return d
	}
	// An error must never give way to a warning, or a bad file would load.
	slices.SortStableFunc(d, func(a, b Diagnostic) int { return cmp.Compare(rank(a), rank(b)) })
	d = d[:MaxDiagnostics]
	slices.SortStableFunc(d, byPlace)
	return d
}

// oneProblem says whether two diagnostics report one problem.
func oneProblem(a, b Diagnostic) bool {
	return byPlace(a, b) == 0 && a.Severity == b.Severity && a.Len == b.Len && a.Hint == b.Hint
}

func rank(d Diagnostic) int { return slices.Index([]Severity{Error, Warning, Note}, d.Severity) }

func byPlace(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Pos.File, b.Pos.File),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Col, b.Pos.Col),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Path, b.Path),
	)
}
