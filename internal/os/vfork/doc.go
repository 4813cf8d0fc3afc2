// Package vfork starts processes on Linux with less work than syscall.ForkExec. The child borrows
// the memory of its parent until it executes its program, as with ForkExec, and also:
//
//   - It writes the error of a failed start into that memory. ForkExec reads it from a pipe, which
//     costs four system calls and two switches of threads for each process.
//   - The kernel resets the signal handlers of the child (CLONE_CLEAR_SIGHAND). ForkExec does so
//     with one system call for each of 60 signals.
//   - It makes a list of system calls before it executes the program. ForkExec has a field for each thing
//     that it knows.
//
// It uses functions of the runtime that are for package syscall alone, but that Go promises to keep
// because gVisor uses them, too (go.dev/issue/67401).
//
// The package imports nothing that has to be initialized. So it is initialized before package
// syscall raises the limit of open files, and knows the limit that children must get.
package vfork
