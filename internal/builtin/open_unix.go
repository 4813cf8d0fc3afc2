//go:build unix

package builtin

import "syscall"

// nonblocking opens what could wait, such as a pipe, without waiting, and takes no terminal.
const nonblocking = syscall.O_NONBLOCK | syscall.O_NOCTTY
