package confine

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"syscall"
	"unsafe"
)

// Landlock needs three system calls. The library go-landlock makes them in all threads of the
// process. Here only the thread that executes the program counts.
const (
	createRuleset = 444 // numbers of the system calls on every architecture
	addRule       = 445
	restrictSelf  = 446
	openat2       = 437
)

// rights are bits of LANDLOCK_ACCESS_FS.
type rights uint64

const (
	canExecute rights = 1 << iota
	canWriteFile
	canReadFile
	canReadFolder
	canRemoveFolder
	canRemoveFile
	canMakeCharDevice
	canMakeFolder
	canMakeFile
	canMakeSocket
	canMakePipe
	canMakeBlockDevice
	canMakeLink
	canMoveBetweenFolders
	canTruncate
	canControlDevice

	allRights = 1<<16 - 1
	ofFiles   = canExecute | canWriteFile | canReadFile | canTruncate | canControlDevice // what a rule for a file may contain
	toRead    = canReadFile | canReadFolder
	toWrite   = canWriteFile | canTruncate | canControlDevice | canRemoveFolder | canRemoveFile | canMakeFolder | canMakeFile |
		canMakeSocket | canMakePipe | canMakeLink | canMoveBetweenFolders
)

// rights returns the bits for an Access.
func (a Access) rights() (r rights) {
	if a&Read != 0 {
		r |= toRead
	}
	if a&Write != 0 {
		r |= toWrite
	}
	if a&Execute != 0 {
		r |= canExecute | toRead
	}
	return r
}

// neededABI is the version of Landlock that can hold every rule of a Sandbox. Earlier versions cannot
// keep a process from truncating files (3), from controlling devices (5), or from signals and
// abstract sockets (6, in Linux 6.12).
const neededABI = 6

// landlockABI returns the version of Landlock in this kernel.
var landlockABI = sync.OnceValues(func() (int, error) {
	const version = 1
	n, _, errno := syscall.RawSyscall(createRuleset, 0, 0, version)
	if errno != 0 {
		return 0, errno
	}
	return int(n), nil
})

// checkLandlock returns why Landlock cannot hold a Sandbox here.
func checkLandlock() error {
	abi, err := landlockABI()
	switch {
	case errors.Is(err, syscall.EOPNOTSUPP):
		return errors.New("this kernel has Landlock, but it is switched off; add landlock to the kernel parameter lsm")
	case err != nil:
		return errors.New("this kernel has no Landlock; it needs Linux 6.12")
	case abi < neededABI:
		return fmt.Errorf("this kernel has version %d of Landlock, but version %d is needed (Linux 6.12)", abi, neededABI)
	}
	if err := canOpenPaths(); err != nil {
		return fmt.Errorf("the system call openat2, by which rules of Landlock are made, is denied here: %w", err)
	}
	return nil
}

// canOpenPaths returns why openPath can open nothing. Profiles of containers that are older than openat2 deny it.
var canOpenPaths = sync.OnceValue(func() error {
	fd, err := openPath("/", resolveNoLinks)
	if err == nil {
		syscall.Close(fd)
	}
	return err
})

// Landlock returns the version of Landlock in words, and why it cannot hold a Sandbox.
func Landlock() (version string, err error) {
	abi, err := landlockABI()
	if err == nil {
		version = fmt.Sprintf("version %d", abi)
	}
	return version, checkLandlock()
}

// usesLandlock reports whether the kernel limits the files of the process, and not bubblewrap.
func (c *Confinement) usesLandlock() bool { return c.Sandbox != nil && c.Sandbox.Bubblewrap == "" }

// restrictFiles adds the calls that limit the process to the files of the Sandbox.
func (c *Confinement) restrictFiles(k *Calls) error {
	if !c.usesLandlock() {
		return nil
	}
	set, err := c.Sandbox.ruleset(k.Program.Files)
	if err != nil {
		return err
	}
	k.files = append(k.files, set)
	k.must(syscall.SYS_PRCTL, prSetNoNewPrivs, 1)
	k.must(restrictSelf, uintptr(set), 0)
	return nil
}

// ruleset returns a ruleset of Landlock that allows the files of the Sandbox, BaseFiles, and what the
// standard streams are. It also keeps a process from signals to processes outside and from abstract
// sockets.
func (s *Sandbox) ruleset(streams [3]uintptr) (set int, err error) {
	const (
		abstractSockets = 1 << iota
		signals
	)
	attr := struct{ files, network, scoped uint64 }{files: allRights, scoped: abstractSockets | signals}
	if s.Unix {
		attr.scoped = signals
	}
	fd, _, errno := syscall.RawSyscall(createRuleset, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0)
	if errno != 0 {
		return -1, errno
	}
	set = int(fd)
	defer func() {
		if err != nil {
			syscall.Close(set)
		}
	}()
	for _, r := range BaseFiles() {
		if err := allow(set, r, 0); err != nil {
			return -1, err
		}
	}
	for _, r := range s.Files {
		if err := allow(set, r, resolveNoLinks); err != nil {
			return -1, err
		}
	}
	for i, access := range []Access{Read, Write, Write} { // as /dev/stdin, /dev/stdout and /dev/stderr
		_ = addPath(set, int(streams[i]), access.rights()&ofFiles) // fails for pipes, which need no rule
	}
	return set, nil
}

// resolveNoLinks is RESOLVE_NO_SYMLINKS of openat2. The paths of rules were resolved before they were
// approved.
const resolveNoLinks = 4

func errBecameLink(path string) error {
	return fmt.Errorf("%s has become a symbolic link since it was approved", path)
}

// allow adds a rule to a ruleset.
func allow(set int, r FileRule, resolve uint64) error {
	fd, err := openPath(r.Path, resolve)
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.EACCES):
		return nil // nothing to grant
	case errors.Is(err, syscall.ELOOP):
		return errBecameLink(r.Path)
	case err != nil:
		return &os.PathError{Op: "open", Path: r.Path, Err: err}
	}
	defer syscall.Close(fd)
	err = addPath(set, fd, r.Access.rights())
	if errors.Is(err, syscall.EINVAL) { // a file, for which some rights have no meaning
		err = addPath(set, fd, r.Access.rights()&ofFiles)
	}
	if err != nil {
		return &os.PathError{Op: "grant", Path: r.Path, Err: err}
	}
	return nil
}

// addPath adds rights to the file or folder of a descriptor.
func addPath(set, fd int, r rights) error {
	const pathBeneath = 1
	attr := [3]uint32{uint32(r), 0, uint32(fd)} // struct landlock_path_beneath_attr, which is packed; little-endian
	if _, _, errno := syscall.RawSyscall6(addRule, uintptr(set), pathBeneath, uintptr(unsafe.Pointer(&attr)), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// openPath opens a file or folder only to name it.
func openPath(path string, resolve uint64) (int, error) {
	const pathOnly = 0o10000000
	name, err := syscall.BytePtrFromString(path)
	if err != nil {
		return -1, err
	}
	how := struct{ flags, mode, resolve uint64 }{pathOnly | syscall.O_CLOEXEC, 0, resolve}
	here := -100
	fd, _, errno := syscall.Syscall6(openat2, uintptr(here), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// CheckSandbox returns nil if the kernel can hold a Sandbox, and otherwise why not.
func CheckSandbox() error {
	if err := CheckFilter(); err != nil {
		return err
	}
	return checkLandlock()
}
