package confine

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"unsafe"
)

// inBubblewrap has the program run in bubblewrap, which makes a file system of its own with the files
// of the Sandbox, in a namespace of processes of its own, and installs the filter. Unlike Landlock it
// cannot keep a process from reading what it may write, or from executing what it may read.
func (s *Sandbox) inBubblewrap(k *Calls) error {
	argv := []string{s.Bubblewrap, "--unshare-pid", "--unshare-ipc", "--dev", "/dev", "--proc", "/proc", "--remount-ro", "/proc"}
	if os.Geteuid() == 0 {
		argv = append(argv, "--cap-drop", "ALL")
		for _, name := range []string{"chown", "dac_override", "fowner", "fsetid", "kill", "setgid", "setuid", "net_bind_service"} {
			argv = append(argv, "--cap-add", "cap_"+name)
		}
	}
	mounts, err := s.mounts()
	if err != nil {
		return err
	}
	argv = append(argv, mounts...)
	if dir, err := filepath.Abs(k.Program.Dir); err == nil {
		argv = append(argv, "--dir", dir, "--chdir", dir)
	}
	filter, err := pipeOf(thisMachine().filter(s))
	if err != nil {
		return fmt.Errorf("cannot pass the filter: %w", err)
	}
	k.files = append(k.files, filter)
	k.must(syscall.SYS_FCNTL, uintptr(filter), syscall.F_SETFD, 0) // bubblewrap inherits it
	argv = append(argv, "--seccomp", strconv.Itoa(filter), "--", k.Program.Path)
	k.Program.Path, k.Program.Args = s.Bubblewrap, append(argv, k.Program.Args[1:]...)
	return nil
}

// mounts returns the options of bubblewrap for the files, folders before what is in them.
func (s *Sandbox) mounts() (options []string, err error) {
	for _, r := range BaseFiles() {
		switch r.Path {
		case "/proc", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty", "/dev/random", "/dev/urandom": // it has its own
		default:
			options = append(options, "--ro-bind-try", r.Path, r.Path)
		}
	}
	files := slices.Clone(s.Files)
	slices.SortStableFunc(files, func(a, b FileRule) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Access&Write, b.Access&Write))
	})
	for _, r := range files {
		fd, err := openPath(r.Path, resolveNoLinks)
		if errors.Is(err, syscall.ELOOP) {
			return nil, errBecameLink(r.Path)
		}
		if err != nil {
			continue // nothing to grant
		}
		syscall.Close(fd)
		option := "--ro-bind-try"
		if r.Access&Write != 0 {
			option = "--bind-try"
		}
		options = append(options, option, r.Path, r.Path)
	}
	return options, nil
}

// pipeOf returns the end of a pipe from which a filter can be read.
func pipeOf(f []instruction) (int, error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return 0, err
	}
	_, err := syscall.Write(p[1], unsafe.Slice((*byte)(unsafe.Pointer(&f[0])), len(f)*int(unsafe.Sizeof(f[0]))))
	return p[0], errors.Join(err, syscall.Close(p[1]))
}
