// Package argparse parses the arguments that language models write for tools.
//
// Models often write almost-JSON. A refused call costs one more message, but a wrong call may do harm. A text is therefore
// accepted only if it has exactly one reading under the declared parameters. Values are never rewritten.
//
// A text is parsed in these steps, each in a package below:
//
//   - find finds the call in the text, with node for strict JSON and grammar for all other
//     values, and removes its envelopes: {"name": ..., "arguments": ...}, [one call], and up to
//     three levels of JSON in strings. A key that is a declared parameter is never part of an
//     envelope.
//   - bind resolves the names, adds defaults, and converts values to the declared types.
//
// The declared names and types determine where a value ends (lookahead, with token for single characters). Lookahead is
// limited by a budget, so the cost is linear in the length of the text.
//
// # Kinds of repairs
//
// In the text: empty (nothing, or null), prose, fence, thinking, tag, call, envelope, json-text (JSON in a string),
// repeated (the same object again), lines (no braces), bracket (missing, doubled or of another kind), quotes (missing,
// doubled, or not "), bare-key, bare-text, separator (=, =>, :: or := instead of a colon), missing-colon, literal (True,
// False, None), comma (one too many, or a semicolon), missing-comma, comment, tuple, raw-newline (or tab), escape (not
// valid in JSON), unescaped-quote, blank (spaces that are not valid in JSON).
//
// In values (Coercions): number, boolean and text (converted from another scalar), array (from a single value), list (from
// a, b, c), json-text, enum and name (another spelling: case, -, _, spaces, camelCase).
//
// # Codes of refusals
//
//	too-large      larger than 1 MiB
//	too-deep       nested more than 200 levels deep
//	encoding       not UTF-8, or half of a surrogate pair
//	truncated      ends inside an open value
//	not-arguments  contains no object
//	syntax         is malformed
//	ambiguous      has more than one reading
//	several-calls  contains different objects
//	wrong-tool     calls another tool
//	duplicate-key  has a name twice, with different values
//	undeclared     has an unknown name
//	missing        lacks a required parameter
//	type           has a value of another type
//	enum           has a value that is not in the enum
//	number         has a number with a unit, thousands separators or a decimal comma, NaN, or
//	               a number in another base
//	code           contains an expression
//	ellipsis       omits content with ...
//	positional     has a value without a name
package argparse
