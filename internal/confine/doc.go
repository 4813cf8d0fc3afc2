// Package confine takes away what a process has to do without. A [Confinement] says what:
// rights, a folder, memory, the terminal of somebody else. The process does it itself on its
// way to becoming the program, by [Main] in this same program started again. [Seal] and
// [ForgetEnv] keep what this program knows from the programs that it starts.
//
// The package starts nothing and does not know runs or steps.
package confine
