// Package confine takes rights away from a process before it executes its program. A [Confinement]
// lists what is taken: capabilities, the user, memory, files, sockets, system calls, the ability to
// type into terminals. The process does it itself: this program is started again, gives up the rights
// while it is initialized, and then executes the other program. [Seal] and [ForgetEnv] keep what this
// program knows from the programs that it starts.
//
// The package starts no processes and knows nothing of runs or steps.
package confine
