package expr

import "fmt"

// Problem is one thing wrong, or worth a warning, in a template, format or
// condition. Off and Len are bytes in the text that was parsed. Code is stable.
type Problem struct {
	Code     string
	Off, Len int
	Message  string
	Hint     string // the way out; empty where the message says it all
	Warning  bool   // the text works, but probably not as meant
}

// Codes of problems.
const (
	CodeSyntax     = "expr-syntax"       // the text does not parse
	CodeUnknown    = "expr-unknown"      // a name that means nothing here
	CodeField      = "expr-field"        // a step or parameter has no such field
	CodeTransform  = "expr-transform"    // no such transform, or a bad pattern
	CodeRaw        = "expr-raw"          // RAW where it is not allowed
	CodeType       = "expr-type"         // a comparison that can never be right
	CodePosition   = "expr-position"     // a place in a script that can take no value
	CodeShell      = "expr-shell"        // the script does not parse as shell
	CodeUndeclared = "expr-undeclared"   // warning: looks like a reference but is text
	CodeUsedAsCode = "expr-used-as-code" // warning: another program reads the value as code
	CodeArithmetic = "expr-arithmetic"   // warning: a copy of the value is calculated with
)

// problemf makes a Problem about n bytes at off.
func problemf(code string, off, n int, hint, format string, args ...any) Problem {
	return Problem{Code: code, Off: off, Len: n, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// hasErrors reports whether any problem is more than a warning.
func hasErrors(ps []Problem) bool {
	for _, p := range ps {
		if !p.Warning {
			return true
		}
	}
	return false
}
