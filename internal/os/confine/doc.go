// Package confine takes rights away from a process before it executes its program. A [Confinement]
// lists what is taken: capabilities, the user, memory, files, sockets, system calls, the ability to
// type into terminals. The process does it itself, by a list of system calls that is prepared for it
// ([Calls]). A child of this process makes them just before it executes its program. Where that is not possible, this
// program is started again, makes the calls while it is initialized, and then executes the other program
// ([Confinement.Wrap]). [Seal] and [ForgetEnv] keep what this
// program knows from the programs that it starts.
//
// The package starts no processes and knows nothing of runs or steps.
package confine
