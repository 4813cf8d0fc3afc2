// Package toolstate stores what a tool in JavaScript keeps between runs: the variables in its own .env file, and the
// values of its storage, each in one file of the tool.
//
// Every change reads the file again and replaces it as a whole, so concurrent runs, also in other processes, lose
// nothing. The package gets the file, the process's variables and the mask as arguments; it does not know the calling
// step.
package toolstate
