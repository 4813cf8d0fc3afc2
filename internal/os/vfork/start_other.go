//go:build linux && !amd64 && !arm64

package vfork

// Spec describes a process to start.
type Spec struct {
	Path, Dir *byte
	Args, Env **byte
	Files     [3]uintptr
	TTY       bool
	Cgroup    int
	UserNS    int
	NetNS     int
	NoCore    bool
	Calls     []Call
	Failed    int
}

// Start starts nothing here: forked is false, and errno is ENOSYS.
func Start(*Spec) (pid, pidfd int, forked bool, errno uintptr) { return 0, -1, false, 38 }

// RestoreFiles does nothing here.
func RestoreFiles() {}
