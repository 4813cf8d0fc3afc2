// Package check finds mistakes in definitions that no single text shows: settings without effect, steps that never run,
// schedules and triggers that cannot start a run, values that the used tool rejects.
//
// A check is a function of a definition, or of the plan that package compile has made of it, and returns what is wrong.
// It changes nothing and keeps nothing, and the order of the checks does not matter, because diagnostics are sorted. The
// plan may be incomplete: a text with errors is nil in it. What is wrong with a single text is found when it is parsed,
// in package compile.
//
// To add a check, write a function and add it to Definition or Plan.
package check

import (
	"fmt"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// MaxNesting is the maximum length of chains of tools that use, or start, each other.
const MaxNesting = 32

// Definition checks a definition as it was read. release is the version of flowrun; "" is newer than all versions.
func Definition(def *tool.Definition, release string) tool.Diagnostics {
	return slices.Concat(versions(def, release), filePaths(def), notifications(def))
}

// Plan checks the plan of a definition.
func Plan(p *plan.Plan) tool.Diagnostics {
	return slices.Concat(unused(p), defaults(p), defaultSizes(p), neverRuns(p), heldPlaces(p), sharedFiles(p), security(p), secrets(p), schedules(p), unattended(p))
}

// Errorf returns an error at the position of a text.
func Errorf(code string, at tool.Text, hint, format string, args ...any) tool.Diagnostic {
	return tool.Diagnostic{Code: code, Severity: tool.Error, Pos: at.Pos, Len: len([]rune(at.S)),
		Message: fmt.Sprintf(format, args...), Hint: hint}
}

// errorAt is Errorf for a text in the list that has the path.
func errorAt(code string, at tool.Text, path, message, hint string) tool.Diagnostic {
	return tool.Diagnostic{Code: code, Severity: tool.Error, Pos: at.Pos, Len: max(1, len([]rune(at.S))), Path: path, Message: message, Hint: hint}
}
