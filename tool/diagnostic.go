package tool

import (
	"io"

	"github.com/flowrun/flowrun/internal/diagnostic"
)

// Severity ranks a diagnostic. Errors keep a definition from loading.
type Severity = diagnostic.Severity

// The severities, worst first.
const (
	Error   = diagnostic.Error
	Warning = diagnostic.Warning
	Note    = diagnostic.Note
)

// Diagnostic is one problem of a definition: what is wrong, where, what was
// expected and the way out. Code is stable across releases.
type Diagnostic = diagnostic.Diagnostic

// Place is a further place that a problem has to do with.
type Place = diagnostic.Place

// Diagnostics is every problem at once, sorted by place. It is an error when it
// holds at least one Diagnostic of severity Error; see Err.
type Diagnostics = diagnostic.Diagnostics

// MaxDiagnostics is how many problems of one file are reported at most. What is
// over it is left out, warnings first.
const MaxDiagnostics = diagnostic.MaxDiagnostics

// Style says what a terminal can show. The zero Style is plain text.
type Style = diagnostic.Style

// Render draws diagnostics for people: message, place, the line with a caret, the
// further places that matter, the way out, and how to read more. source returns the
// bytes of a file named in d, or nil where they are not to be had; then the line is
// left out.
//
// Text of the file is never written as it is: control and direction-changing
// characters appear as escapes, so that a file cannot draw on the terminal.
func Render(w io.Writer, d Diagnostics, file func(name string) []byte, style Style) {
	diagnostic.Render(w, d, file, style)
}
