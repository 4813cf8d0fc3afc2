//go:build unix

package steps

import "syscall"

// openNoFollow makes opening a symbolic link fail, and opening a pipe not wait.
const openNoFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK
