package confine

import (
	"cmp"
	"fmt"
	"runtime"
	"syscall"
)

// WithRights calls f with the rights to files that a process with this Confinement has. It calls f in
// another goroutine, whose thread gives up the rights and ends with the call. f must not start
// goroutines that access files: those would have the rights of this process.
func (c Confinement) WithRights(f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
		err := c.giveUpFiles()
		if err == nil {
			err = f()
		}
		done <- err
	}()
	return <-done
}

// giveUpFiles gives up this thread's rights to files.
func (c *Confinement) giveUpFiles() error {
	if c.Sandbox != nil && !c.usesLandlock() {
		return fmt.Errorf("cannot restrict the access to files: flowrun itself needs Landlock for that: %w", checkLandlock())
	}
	k := &Calls{Program: Program{Files: [3]uintptr{0, 1, 2}}, purpose: "restrict the access to files"}
	defer k.Close()
	if err := c.restrictFiles(k); err != nil {
		return fmt.Errorf("cannot restrict the access to files: %w", err)
	}
	if err := k.run(0, len(k.List)); err != nil {
		return err
	}
	if c.changesUser() {
		return dropFileRights(cmp.Or(c.User, Nobody))
	}
	return nil
}

// dropFileRights makes this thread, and no other, access files as another user. The kernel then
// also removes root's capabilities for files.
func dropFileRights(user int) error {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_SETGROUPS, 0, 0, 0); errno != 0 {
		return fmt.Errorf("cannot drop the groups of root: %w", errno)
	}
	syscall.RawSyscall(syscall.SYS_SETFSGID, Nobody, 0, 0)
	syscall.RawSyscall(syscall.SYS_SETFSUID, uintptr(user), 0, 0)
	// Neither call reports an error. The next call returns the user and group that are in effect.
	group, _, _ := syscall.RawSyscall(syscall.SYS_SETFSGID, ^uintptr(0), 0, 0)
	now, _, _ := syscall.RawSyscall(syscall.SYS_SETFSUID, ^uintptr(0), 0, 0)
	if int(group) != Nobody || int(now) != user {
		return fmt.Errorf("cannot access files as user %d: the system did not accept the user", user)
	}
	return nil
}
