// Package steps is the hands: it runs a step's command as processes of the
// system and makes a dag.Result of what they did.
//
// # The model
//
// A [Session] is one run. It knows where log files go, which values are secret,
// and through which host processes start. A [Command] is one step's definition; it
// is immutable, is shared by every run, and implements dag.Runner. What differs
// from call to call comes through a [Frame], which the arguments of the graph
// implement.
//
// # Output
//
// A stream of a step is a file without a name in the log folder, and the step
// writes into it directly: however much a step prints, nothing is copied and
// nothing can block. When the step has ended, what references may read is read
// back, and a file that is worth keeping gets its name; that of a step that takes
// its time gets it while the step runs, so that others can read along and nothing
// is lost when this process is killed. Two kinds of step print
// into a pipe instead, from which a goroutine fills the file: those of a run with
// secrets, because a secret must not reach the disk; and those whose script
// mentions /dev/stdout or the like, because opening a file a second time would
// truncate it.
//
// # Questions
//
// An interactive command runs on a terminal of its own, a pty. A goroutine copies
// what comes out of it, to the log and to a person where there is one ([Terminal]);
// another, the responder, types what the person does, or the default response when
// the step seems to wait for one and nobody answers.
//
// # Failure is data
//
// A missing program, a folder that is not there, a value that may not stand where
// its hole does: all these are failed Results with a reason and a message that
// says the way out. An error is left for what no definition can cause.
package steps
