//go:build amd64 || arm64

package systrace

import (
	"fmt"
	"syscall"
	"unsafe"
)

// Available returns nil if this machine can observe processes, and otherwise why not.
func Available() error {
	const getActionAvailable = 2
	action := uint32(answerReport)
	if _, _, errno := syscall.RawSyscall(sysSeccomp, getActionAvailable, 0, uintptr(unsafe.Pointer(&action))); errno != 0 {
		return fmt.Errorf("the kernel cannot report system calls to another process (SECCOMP_RET_USER_NOTIF): %w", errno)
	}
	return nil
}
