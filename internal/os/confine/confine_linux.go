package confine

import (
	"fmt"
	"os"
	"strings"
	"sync"
	"syscall"
)

// Available returns nil if this platform can confine processes, and otherwise why not.
func Available() error { return nil }

// changesUser reports whether the process becomes another user.
func (c *Confinement) changesUser() bool { return c.Reduced && os.Geteuid() == 0 }

// dropRoot changes the user, sets the group to Nobody and drops all other groups.
func dropRoot(user int) error {
	if err := syscall.Setgroups([]int{}); err != nil {
		return err
	}
	if err := syscall.Setresgid(Nobody, Nobody, Nobody); err != nil {
		return err
	}
	return syscall.Setresuid(user, user, user)
}

func prctl(option, a, b uintptr) error {
	if _, _, errno := syscall.RawSyscall6(syscall.SYS_PRCTL, option, a, b, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// hasRunUsers reports whether this user namespace has the numbers of RunUser.
var hasRunUsers = sync.OnceValue(func() bool {
	text, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(text)) {
		var inside, outside, count int64
		if _, err := fmt.Sscan(line, &inside, &outside, &count); err == nil && inside <= firstUser && firstUser+userCount <= inside+count {
			return true
		}
	}
	return false
})
