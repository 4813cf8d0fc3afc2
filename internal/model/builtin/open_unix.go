//go:build unix

package builtin

import "syscall"

// nonblocking is the flags that open a file such as a pipe without waiting, and without making it the controlling
// terminal.
const nonblocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
