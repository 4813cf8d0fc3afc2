// Package argparse reads the arguments that a language model wrote for a tool, however
// sloppily, and refuses what has no single meaning (specification 003).
//
// A wrong call that runs is the worst that can happen; a refusal costs one more message. So
// a text has exactly one valid reading under the declared parameters, or it is refused.
// Nothing is rewritten and read again, and nothing inside a text is replaced.
//
// The way of a text through the package:
//
//   - JSON is read in one pass (strict.go) and stands as it is, digit by digit.
//   - What is around a call is taken off (unwrap.go): prose (braces.go), code fences
//     (fence.go), thoughts and tags (tags.go), the parentheses of a call (calls.go), quotes
//     around it all (quoted_whole.go). What is left must be one object; equal ones are one.
//   - It is read by one descent over a grammar above JSON (descent.go): names (keys.go), other
//     quotes (quotes.go) and texts with quotes of their own (inner.go), escapes (escape.go), text
//     without quotes (bare.go), comments (space.go), lines of names and values (lines.go).
//     The declared names and types say where a value ends.
//   - Envelopes are opened (envelope.go): {"name": ..., "arguments": ...}, [one call], and
//     JSON in strings, up to three of them. None of it where a parameter has such a name.
//   - Names find their parameters and defaults are filled in (bind.go, names.go), values are
//     fitted to their types (fit.go, coerce.go) from the characters they were written with.
//
// What may be looked at more than once is counted (reading.budget), so that the cost is
// linear in the length of the text, whatever stands in it.
//
// # Kinds of repairs
//
// Of the text: empty (nothing or null, for no arguments), prose, fence, thinking, tag, call,
// envelope, json-text (a string with JSON in it), repeated (the same object again), lines
// (no braces), quotes (others than "), bare-key, bare-text, separator (= or => for :),
// literal (True, False, None), comma (one too many), missing-comma, comment, tuple,
// raw-newline (or tab), escape (that JSON has not), unescaped-quote, blank (others than
// JSON's).
//
// Of values (Coercions): number, boolean and text (from one another, by their characters),
// array (one value for a list), list (a, b, c), json-text, enum and name (by their one fold
// of case, -, _, blanks and camelCase).
//
// # Codes of refusals
//
//	too-large      more than 1 MiB
//	too-deep       more than 200 levels
//	encoding       not UTF-8, or half of a surrogate pair
//	truncated      something is still open at the end
//	not-arguments  there is no object in the text
//	syntax         it cannot be read
//	ambiguous      it can be read in several ways
//	several-calls  there are several different objects
//	wrong-tool     it calls another tool
//	duplicate-key  a name is given twice, with different values
//	undeclared     there is no such parameter
//	missing        a required parameter is not given
//	type           a value is of another type
//	enum           a value is none of the declared ones
//	number         units, thousands, decimal commas, NaN, other bases
//	code           something would have to be evaluated
//	ellipsis       ... stands for what was left out
//	positional     a value without its name
package argparse
