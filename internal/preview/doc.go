// Package preview says what a run would do without doing it: a plan and bound parameters go
// in; a Preview with commands, conditions and permissions comes out, or a sentence
// (Describe), what a person is asked to confirm (Confirm), or why a cached result would or
// would not be used (ExplainCache).
//
// What only a run can know stays as it is written. No process is started, nothing is
// written, and the parameters are unchanged afterwards.
package preview
