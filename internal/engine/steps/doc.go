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
// Each stream of a step is a file in the log folder, without a name at first. The step writes into
// it directly, so nothing is copied and nothing can block, however much a step prints. When the
// step has ended, the part that references may read is read back, and a file worth keeping gets its
// name. If the step runs for longer, the file gets its name while the step is running, so that
// others can follow it and nothing is lost if this process is killed.
//
// Two kinds of steps print into a pipe, from which a goroutine writes the file: steps of a run with
// secrets, because a secret must not reach the disk; and steps whose script mentions /dev/stdout or
// the like, because opening a file a second time would truncate it.
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
