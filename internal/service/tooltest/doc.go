// Package tooltest runs the tests that definitions contain.
//
// A Case is one test of one tool. Run gives each case a new folder, which is the tool's
// {WORKSPACE}, and another one, which is its {TEMP}. It runs the tool there as a caller
// would, without history and without cache, compares the result with what the test expects,
// and runs the test's cleanup commands in any case. Every difference is a Mismatch, with
// the lines that differ. A mismatch does not stop the test, and nothing here prints:
// outcomes are passed on in the order of the cases, and the functions in report.go write
// them for other programs.
//
// The placeholders in a test (in parameter values, paths and cleanup commands) are filled
// by the engine itself: a helper definition with the tool's parameters contains them, so
// that quoting, masking and limits are those of any other tool (fixture.go).
package tooltest
