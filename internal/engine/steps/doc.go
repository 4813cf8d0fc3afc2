// Package steps runs the command of a step as processes of the system, and returns what they did as
// a dag.Result.
//
// # The model
//
// A [Session] is one run. It knows where log files are written, which values are secret, and which
// host starts processes. A [Command] is the definition of one step; it is immutable, is shared by
// all runs, and implements dag.Runner. What differs between calls is in a [Frame], which the
// arguments of the graph implement.
//
// # Output
//
// Package output keeps what a step prints. A Session has one keeper, and a start the two streams of its process.
//
// # Questions
//
// An interactive command has a terminal of its own, a pty. One goroutine copies its output to the
// log, and to a person if there is one ([Terminal]). Another, the responder, types what the person
// types. If the step seems to wait for an answer and no person gives one, it types the default
// response.
//
// # Failures
//
// A missing program, a missing folder, a value that is not allowed at its place in the script: all
// these are failed Results with a reason and a message that says what to do. Errors are only for
// what no definition can cause.
package steps
