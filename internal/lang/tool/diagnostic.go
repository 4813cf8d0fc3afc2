package tool

import (
	"io"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
)

// Severity ranks a diagnostic. A definition with errors cannot run.
type Severity = diagnostic.Severity

// The severities, worst first.
const (
	Error   = diagnostic.Error
	Warning = diagnostic.Warning
	Note    = diagnostic.Note
)

// Diagnostic is one problem in a definition: what is wrong, where, what was expected, and how to fix it. Its Code is
// stable across releases.
type Diagnostic = diagnostic.Diagnostic

// Place is a further position that is part of a problem.
type Place = diagnostic.Place

// Diagnostics is a list of problems, sorted by position. It is an error if it contains at least one Diagnostic of
// severity Error; see Err.
type Diagnostics = diagnostic.Diagnostics

// MaxDiagnostics is the maximum number of problems reported for one file. If there are more, warnings are dropped
// first.
const MaxDiagnostics = diagnostic.MaxDiagnostics

// Style specifies what a terminal can show. The zero Style is plain text.
type Style = diagnostic.Style

// Render writes diagnostics for people: message, position, the line with a caret, related places, the hint, and where
// to read more. file returns the contents of a file named in d, or nil if they are not available; then the line is
// omitted.
//
// Text from the file is escaped: control characters and characters that change the writing direction appear as escapes,
// so that a file cannot control the terminal.
func Render(w io.Writer, d Diagnostics, file func(name string) []byte, style Style) {
	diagnostic.Render(w, d, file, style)
}
