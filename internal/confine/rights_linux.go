package confine

import (
	"fmt"
	"runtime"
	"syscall"
)

// WithRights calls f with no more rights to files than a run's reduced steps have that
// root starts. The thread that has given its rights up ends with the call; f must not
// leave the goroutine it is called in.
func WithRights(run string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked
		err := dropFileRights(RunUser(run))
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// dropFileRights has this thread, and no other, reach files as another user: the kernel
// takes root's capabilities for files away with it.
func dropFileRights(user int) error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("cannot leave the groups of root: %w", errno)
	}
	syscall.RawSyscall(syscall.SYS_SETFSGID, Nobody, 0, 0)
	syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(user), 0, 0)
	// Neither reports an error: what is in force comes back from the next call.
	group, _, _ := syscall.RawSyscall(syscall.SYS_SETFSGID, ^uintptr(0), 0, 0)
	now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0)
	if int(group) != Nobody || int(now) != user {
		return fmt.Errorf("cannot reach files as user %d: the system did not take it", user)
	}
	return nil
}
