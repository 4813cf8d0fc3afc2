package confine

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"unsafe"

	"github.com/flowrun/flowrun/internal/os/systrace"
	"github.com/flowrun/flowrun/internal/os/vfork"
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
	if err := k.run(0, k.asRoot); err != nil {
		return err
	}
	if c.changesUser() {
		user := cmp.Or(c.User, Nobody)
		if err := dropRoot(user); err != nil {
			return fmt.Errorf("cannot reduce its privileges: cannot switch from root to user %d: %w", user, err)
		}
	}
	last := len(k.List)
	if c.AddressSpace > 0 {
		last-- // it is limited when nothing needs memory any more
	}
	if err := k.run(k.asRoot, last); err != nil {
		return err
	}
	if c.OpenFiles > 0 {
		keepOpenFiles()
	}
	if err := tracer.Start(); err != nil {
		return err
	}
	if c.AddressSpace > 0 {
		return k.executeLimited(last, c.OpenFiles == 0)
	}
	return execute(k.Program.Path, k.Program.Args)
}

// execute executes the program. Root may have found a program along PATH that this user may not
// execute; then it tries the next one along PATH, as a shell does.
func execute(file string, args []string) error {
	env := os.Environ()
	err := syscall.Exec(file, args, env)
	if err != syscall.EACCES {
		return err
	}
	for _, other := range alongPath(args[0]) {
		_ = syscall.Exec(other, args, env)
	}
	return notExecutable(file, err)
}

// executeLimited is execute for a process that limits its address space, by the last call. Nothing between that
// call and the exec may need memory, because the runtime then ends the process: its own address space is larger
// than most limits. syscall.Exec copies the arguments and the environment.
func (k *Calls) executeLimited(last int, restoreFiles bool) error {
	argv, err := syscall.SlicePtrFromStrings(k.Program.Args)
	if err != nil {
		return err
	}
	env, err := syscall.SlicePtrFromStrings(os.Environ())
	if err != nil {
		return err
	}
	files, err := syscall.SlicePtrFromStrings(append([]string{k.Program.Path}, alongPath(k.Program.Args[0])...))
	if err != nil {
		return err
	}
	if err := syscall.Access(k.Program.Path, 0); err == syscall.ENOENT {
		return err // a report afterwards might need more memory than there is
	}
	if restoreFiles { // as syscall.Exec does
		vfork.RestoreFiles()
	}
	reserveMemory()
	if err := k.run(last, len(k.List)); err != nil {
		return err
	}
	var first syscall.Errno
	for i, file := range files[:len(files)-1] {
		_, _, errno := syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(file)), uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&env[0])))
		if i == 0 {
			first = errno
		}
		if first != syscall.EACCES {
			return first
		}
	}
	return notExecutable(k.Program.Path, first)
}

// alongPath returns the files along PATH of a program that was given without a folder.
func alongPath(name string) (files []string) {
	if strings.Contains(name, "/") {
		return nil
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) {
			files = append(files, filepath.Join(dir, name))
		}
	}
	return files
}

func notExecutable(file string, err error) error {
	return fmt.Errorf("user %d cannot execute %s: %w", os.Geteuid(), file, err)
}

// keepOpenFiles keeps syscall.Exec from restoring the limit of open files that this program began with.
func keepOpenFiles() {
	var now syscall.Rlimit
	_ = syscall.Getrlimit(syscall.RLIMIT_NOFILE, &now)
	_ = syscall.Setrlimit(syscall.RLIMIT_NOFILE, &now) // Exec restores what was not set
}
