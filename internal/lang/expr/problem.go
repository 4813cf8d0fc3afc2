package expr

import "fmt"

// Problem is an error or a warning about a template, format or condition. Off and Len are bytes in
// the text that was parsed. Code is stable.
type Problem struct {
	Code     string
	Off, Len int
	Message  string
	Hint     string // what to do; "" if the message says it
	Warning  bool   // the text works, but probably not as intended
}

// Codes of problems.
const (
	codeSyntax     = "expr-syntax"       // the text does not parse
	CodeUnknown    = "expr-unknown"      // the name is not known here
	codeField      = "expr-field"        // a step or parameter has no such field
	codeTransform  = "expr-transform"    // the transform is unknown, or its pattern is invalid
	codeRaw        = "expr-raw"          // RAW is not allowed here
	codeType       = "expr-type"         // the comparison can never be right
	codePosition   = "expr-position"     // this place in a script cannot take a value
	codeShell      = "expr-shell"        // the script does not parse as shell
	CodeUndeclared = "expr-undeclared"   // warning: the text looks like a reference
	CodeMisspelt   = "expr-misspelt"     // the text misspells a reference
	codeMalformed  = "expr-malformed"    // the braces begin with a name, but are no placeholder
	CodeUsedAsCode = "expr-used-as-code" // warning: another program reads the value as code
	codeBackslash  = "expr-backslash"    // run: takes a backslash away
	codeArithmetic = "expr-arithmetic"   // warning: the shell calculates with a copy of the value
)

// problemf returns a Problem about n bytes at off.
func problemf(code string, off, n int, hint, format string, args ...any) Problem {
	return Problem{Code: code, Off: off, Len: n, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// hasErrors reports whether any problem is an error, not a warning.
func hasErrors(ps []Problem) bool {
	for _, p := range ps {
		if !p.Warning {
			return true
		}
	}
	return false
}
