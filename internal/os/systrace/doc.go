// Package systrace observes which files, folders, programs and addresses processes use. A process that calls
// [Sender.Start] reports its system calls, and those of everything that it starts, to the [Tracer] of another process.
// The kernel stops such a call until the Tracer has seen it, and then carries it out unchanged.
//
// This needs no rights: the kernel lets every process watch itself by a seccomp filter (SECCOMP_RET_USER_NOTIF), if it
// gives up gaining rights through setuid programs. All other system calls run at full speed. Nothing is refused: the
// package observes and protects from nothing.
package systrace
