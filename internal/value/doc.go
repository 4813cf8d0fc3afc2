// Package value converts and checks single values: what a caller gave goes in, a value of
// the parameter's type comes out, or an error that says what was expected.
//
// A value is what JSON has: text, a number, a boolean, a list, an object or null. Numbers
// keep their digits: an int64 or a float64 where that is exact, else a json.Number. The
// package also rewrites paths and has the errors about parameters, since a form that a
// person fills in is checked like the parameters of a tool.
//
// It knows nothing of plans, calls and runs.
package value
