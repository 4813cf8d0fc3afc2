// Package diskspace measures how much space a file system has.
//
// # The model
//
// A file system has a size and what is free of it for this user. Free asks the system for both, for the file system of a
// folder. It is known on Linux and macOS; elsewhere nothing is known, and nothing is guessed.
package diskspace
