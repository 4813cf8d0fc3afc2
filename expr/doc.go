// Package expr resolves names: it reads the two small languages in which a
// definition mentions parameters, steps and variables, and decides how a value
// may enter a command.
//
// # Templates
//
// A [Template] is text with holes. A `{...}` is a hole only if it parses as a
// reference whose root is known (a parameter, a predefined variable, a step,
// env) and no `$` stands before it; every other brace is text and stays as
// written, so awk, jq, JSON and `${VAR}` need no escape. Reading is one pass
// over the text and rendering is one pass over the pieces: a value that happens
// to contain `{X}` is never read again.
//
// # A hole knows where it sits
//
// Values never enter the text of a shell script. At load time each hole is
// replaced by a placeholder name, the script is parsed as shell, and the tree
// tells what surrounds every hole (position.go). At run time the hole becomes a
// variable reference shaped for that place and the value travels in the
// variable:
//
//	cp {SRC} x        cp "${__FLOWRUN_1}" x
//	echo "a {SRC}"    echo "a ${__FLOWRUN_1}"
//	echo 'a {SRC}'    echo 'a '"${__FLOWRUN_1}"''
//
// Quoting alone is not enough. A shell evaluates the text of an arithmetic
// operand or of an array subscript even when it comes out of a quoted variable,
// so such places take a proven number or identifier only; places that are parsed
// a second time (eval, trap, back-ticks) take no hole at all. Whatever the tree
// walk does not recognise is refused at load: an oversight here costs a
// diagnostic, never an execution.
//
// # Other languages
//
// cmd and PowerShell have variables that are read after parsing too (cmd.go,
// powershell.go), so their holes become those, and what is read twice takes none.
// There is no parser for them here: a small reader follows quotes, blocks and
// statements, and refuses what it cannot tell. Python has none such; its holes
// become literals (python.go).
//
// # Conditions
//
// A [Condition] is an expr-lang expression. Its references become typed lookups
// before the expression is parsed, so a value can never turn into an operator.
// Comparisons are flowrun's own (compare.go): text meets numbers by parsing,
// nil equals nothing but nil and is neither smaller nor greater than anything.
//
// The package reports byte offsets; its caller knows files and lines. Parsed
// templates, formats and conditions are immutable and safe for concurrent use.
package expr
