package diagnostic

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Severity ranks a diagnostic. A definition with errors cannot run.
type Severity string

// The severities, worst first.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Diagnostic is one problem in a file: what is wrong, where, what was expected, and how to fix it. Its Code is stable
// across releases.
type Diagnostic struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Pos      Pos      `json:"-"`
	Len      int      `json:"-"`              // number of characters to underline; 0 = 1
	Path     string   `json:"path,omitempty"` // the key path, such as steps[2].run-condition
	Message  string   `json:"message"`
	Hint     string   `json:"hint,omitempty"`

	More    int     `json:"-"` // how many further problems of its severity this one stands for; 0 for all others
	Related []Place `json:"-"` // further positions, such as the first of two duplicates
	Fix     []Edit  `json:"-"` // edits that fix the problem; none if it needs a decision by a person
}

// Place is a further position that is part of a problem.
type Place struct {
	Pos     Pos
	Len     int // number of characters to underline; 0 = 1
	Message string
}

// String returns the diagnostic on one line: file:line:col: severity[code]: message; hint.
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

// Diagnostics is a list of problems, sorted by position. It is an error if it contains at least one Diagnostic of
// severity Error; see Err.
type Diagnostics []Diagnostic

// Error returns one line for each diagnostic of a report: see Reported.
func (d Diagnostics) Error() string {
	var lines []string
	for _, one := range Reported(d) {
		lines = append(lines, one.String())
	}
	return strings.Join(lines, "\n")
}

// Err returns d as an error, or nil if no diagnostic has severity Error.
func (d Diagnostics) Err() error {
	if slices.ContainsFunc(d, IsError) {
		return d
	}
	return nil
}

func IsError(d Diagnostic) bool { return d.Severity == Error }

// MaxCollected is the maximum number of problems of each severity that are looked for in one file. It bounds what a file
// of nothing but problems costs; Reported bounds what a reader gets.
const MaxCollected = 100_000

// Sorted returns d sorted by position and without duplicates. Package compile uses it to combine its diagnostics with
// those of this package.
func (d Diagnostics) Sorted() Diagnostics {
	d = slices.Clone(d)
	slices.SortStableFunc(d, byPos)
	return slices.CompactFunc(d, sameProblem)
}

// sameProblem reports whether two diagnostics report the same problem.
func sameProblem(a, b Diagnostic) bool {
	return byPos(a, b) == 0 && a.Severity == b.Severity && a.Len == b.Len && a.Hint == b.Hint
}

func byPos(a, b Diagnostic) int {
	return cmp.Or(
		cmp.Compare(a.Pos.File, b.Pos.File),
		cmp.Compare(a.Pos.Line, b.Pos.Line),
		cmp.Compare(a.Pos.Col, b.Pos.Col),
		cmp.Compare(a.Code, b.Code),
		cmp.Compare(a.Message, b.Message),
		cmp.Compare(a.Path, b.Path),
	)
}
