// Package toolstate keeps what a tool in JavaScript keeps between runs: the variables in its
// own .env file, and the values of its storage, each in one file of the tool.
//
// Every change reads the file again and replaces it as a whole, so that runs at the same
// time, also of other processes, lose nothing. The package is given the file, the process's
// variables and the mask; it does not know the call that asks.
package toolstate
