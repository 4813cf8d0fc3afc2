package tool

import (
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
