// Package expr puts values into texts, scripts and conditions. It parses the two small languages
// in which a definition refers to parameters, steps and variables, and decides how a value may
// enter a command.
//
// # Templates
//
// A [Template] is text with placeholders. A `{...}` is a placeholder only if it parses as a
// reference whose root is known (a parameter, a predefined variable, a step, env) and no `$`
// comes before it. All other braces are text and stay as they are written, so awk, jq, JSON and
// `${VAR}` need no escape. The text is read once when it is parsed, and the pieces are joined
// once when it is rendered. A value that happens to contain `{X}` is never read again.
//
// # Placeholders in shell scripts
//
// Values never become part of the text of a shell script. When a definition is loaded, each
// placeholder is replaced by a marker, a name that the script does not contain, and the script
// is parsed as shell. The syntax tree shows what surrounds each marker (package
// internal/lang/quoting/sh). When the step runs, the placeholder becomes a reference to a
// variable, written for that place, and the variable holds the value:
//
//	cp {SRC} x        cp "${__FLOWRUN_1}" x
//	echo "a {SRC}"    echo "a ${__FLOWRUN_1}"
//	echo 'a {SRC}'    echo 'a '"${__FLOWRUN_1}"''
//
// Quoting is not enough everywhere. A shell evaluates the text of an arithmetic operand or of
// an array subscript even if it comes from a quoted variable. Such places accept only a value
// that is proven to be a number or an identifier. Places that a shell parses a second time
// (eval, trap, backticks) accept no placeholder at all. A placeholder is also rejected if the
// walk through the tree does not recognize its place: a gap in this package then costs a
// diagnostic, and never runs code.
//
// # Other languages
//
// cmd and PowerShell also expand some variables after parsing, so placeholders become those
// variables (package internal/lang/quoting). Places whose text is read twice accept none. There is no
// full parser for these languages. A small reader follows quotes, blocks and statements, and
// rejects placeholders where it is not certain. Python has no such variables; placeholders
// become literals.
//
// # Conditions
//
// A [Condition] is an expr-lang expression. Its references become typed lookups before the
// expression is parsed, so a value can never become an operator. Comparisons are flowrun's own
// (compare.go): text is compared with a number by parsing it; nil equals only nil, and is
// neither smaller nor greater than anything.
//
// The package reports byte offsets; the caller knows files and lines. Parsed templates, formats
// and conditions do not change. Safe for concurrent use.
package expr
