// Package value converts and checks single values. It turns what a caller gave into a value of the
// parameter's type, or returns an error that says what was expected.
//
// A value has a type of JSON: text, a number, a boolean, a list, an object or null. Numbers keep their
// digits: they are an int64 or a float64 if that is exact, otherwise a json.Number. The package has the
// errors about parameters too, because a form that a person fills in is checked like the parameters of
// a tool.
//
// The package knows nothing of plans, calls and runs.
package value
