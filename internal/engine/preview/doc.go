// Package preview shows what a run would do without doing it. From a plan and bound parameters it computes a Preview
// with commands, conditions and permissions, one sentence (Describe), what a person is asked to confirm (Confirm), or
// why a cached result would be used or not (ExplainCache).
//
// References to values that only a run can know are shown as they are written. No process is started, nothing is
// written, and the parameters are unchanged afterwards.
package preview
