// Package tooltest runs the tests that stand in definitions.
//
// A Case is one test of one tool. Run gives each case a fresh folder, which is the
// tool's {WORKSPACE}, and another one, which is its {TEMP}; runs the tool there as a
// caller would, without history and without cache; holds what came of it against what
// the test expects; and runs the test's cleanup commands, however the rest went. What
// differs is a list of Mismatches, each with the lines that differ. Nothing stops at
// the first of them, and nothing here prints: outcomes are handed over in the order of
// the cases, and Report writes them for other programs.
//
// The holes in a test (in values of parameters, in paths, in cleanup commands) are
// filled by the engine itself: a helper definition with the tool's parameters holds
// them, so quoting, masking and limits are those of any other tool (stage.go).
package tooltest
