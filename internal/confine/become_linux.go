package confine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/flowrun/flowrun/internal/systrace"
)

// selfFile is this program, even if its file has been replaced or removed.
const selfFile = "/proc/self/exe"

// become gives up the rights of this process and then executes the program. It returns only if that
// fails.
func become(c Confinement, file string, args []string) error {
	runtime.LockOSThread() // rights belong to a thread, and exec keeps those of the thread that calls it
	CloseFilesOnExec()
	tracer, err := systrace.Dial(c.Trace)
	if err != nil {
		return err
	}
	for _, procs := range c.Join {
		if err := os.WriteFile(procs, []byte("0"), 0); err != nil {
			return fmt.Errorf("cannot enter a cgroup that limits its resources: %w", err)
		}
	}
	k, err := c.Calls(Program{Path: file, Args: args, Files: [3]uintptr{0, 1, 2}})
	if err != nil {
		return err
	}
	if c.AddressSpace > 0 {
		reserveMemory()
	}
	if err := k.run(0, k.asRoot); err != nil {
		return err
	}
	if c.changesUser() {
		user := cmp.Or(c.User, Nobody)
		if err := dropRoot(user); err != nil {
			return fmt.Errorf("cannot reduce its privileges: cannot switch from root to user %d: %w", user, err)
		}
	}
	if err := k.run(k.asRoot, len(k.List)); err != nil {
		return err
	}
	if c.OpenFiles > 0 {
		keepOpenFiles()
	}
	if err := tracer.Start(); err != nil {
		return err
	}
	return execute(k.Program.Path, k.Program.Args)
}

// execute executes the program. Root may have found a program along PATH that this user may not
// execute; then it tries the next one along PATH, as a shell does.
func execute(file string, args []string) error {
	env := os.Environ()
	err := syscall.Exec(file, args, env)
	if err != syscall.EACCES || strings.Contains(args[0], "/") {
		return err
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			_ = syscall.Exec(filepath.Join(dir, args[0]), args, env)
		}
	}
	return fmt.Errorf("user %d cannot execute %s: %w", os.Geteuid(), file, err)
}

// keepOpenFiles keeps syscall.Exec from restoring the limit of open files that this program began with.
func keepOpenFiles() {
	var now syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now)
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now) // Exec restores what was not set
}
