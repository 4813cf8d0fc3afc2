// Package output keeps what a step prints, while it prints and afterwards.
//
// # The model
//
// Each [Stream] of an attempt is a file in the log folder, without a name at first. The step writes into it directly, so
// nothing is copied and nothing can block, however much a step prints. When the step has ended, the part that references may
// read is read back as a dag.Output, and a file worth keeping gets its name. If the step runs for longer, [Times] gives the
// file its name while it is running, so that others can follow it and nothing is lost if this process is killed. It also
// records when the file grew.
//
// Some steps print into a pipe or a terminal, from which a goroutine writes the file: those of a run with secrets, because a
// secret must not reach the disk; those whose script opens its own streams, because opening a file a second time would
// truncate it; and those with a limit of what they print, a [Counter].
//
// The [Keeper] of a run has the folder, and the files that were not written to, which the next streams use. It alone decides
// whether an output needs a file: a Result has short output completely. [Restore] reads an output again when the run is
// resumed. A [Relay] reads the file behind the step and passes it on line by line.
package output
