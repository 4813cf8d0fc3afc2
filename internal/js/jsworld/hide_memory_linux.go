package jsworld

import "golang.org/x/sys/unix"

// hideMemory prevents other processes of the same user from reading the memory of this process,
// which holds the values of scripts.
func hideMemory() { _ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) }
