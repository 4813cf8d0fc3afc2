//go:build linux && (amd64 || arm64)

package vfork

import "unsafe"

// Spec describes a process to start. All texts end with a zero byte, and the lists with nil.
type Spec struct {
	Path   *byte
	Args   **byte
	Env    **byte
	Dir    *byte      // nil: the directory of this process
	Files  [3]uintptr // stdin, stdout and stderr
	TTY    bool       // stdin becomes the controlling terminal
	Cgroup int        // descriptor of the cgroup that the process starts in; 0: that of this process
	NoCore bool       // the process leaves no core dump
	// Descriptors of the user namespace and of the network namespace that the process enters; 0: those of this process.
	UserNS, NetNS int
	// Calls are made last before the program is executed, and Failed is the number of the one that failed, from 1.
	Calls  []Call
	Failed int

	pidfd   int32
	failure uintptr // why the child could not execute the program; 0 if it could
}

// cloneArgs is struct clone_args of the kernel.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

const (
	cloneVM           = 0x100
	clonePidfd        = 0x1000
	cloneVfork        = 0x4000
	cloneClearSighand = 0x1_0000_0000
	cloneIntoCgroup   = 0x2_0000_0000
	cloneNewUser      = 0x1000_0000
	cloneNewNet       = 0x4000_0000

	sigChild       = 17
	sigBlock       = 0
	sigSetMask     = 2
	dupCloexec     = 1030
	setControlling = 0x540e
	limitFiles     = 7
	limitCore      = 4
)

//go:linkname beforeFork syscall.runtime_BeforeFork
func beforeFork()

//go:linkname afterFork syscall.runtime_AfterFork
func afterFork()

// rawSyscall is a system call of which the runtime knows nothing. The call may be one that makes a
// child on the same stack: rawSyscall returns twice then, in the child first.
func rawSyscall(number, a, b, c, d uintptr) (result, errno uintptr)

// Start starts a process as the leader of a session of its own. If forked is false, there is no
// process, and errno is why the system could not make one. If forked is true and errno is not 0,
// the child could not execute the program; the caller must wait for it.
//
// The caller must hold syscall.ForkLock.
func Start(s *Spec) (pid, pidfd int, forked bool, errno uintptr) {
	id, errno := start(s)
	afterFork()
	if errno != 0 {
		return 0, -1, false, errno
	}
	return int(id), int(s.pidfd), true, s.failure
}

// start makes the child and is the child. In the parent it returns at once: the child has used this
// part of the stack. In the child it must not grow the stack, allocate or call Go functions.
//
//go:noinline
//go:norace
//go:nocheckptr
func start(s *Spec) (pid, errno uintptr) {
	var (
		args   cloneArgs
		limit  rlimit
		number uintptr
		call   *Call
	)
	beforeFork() // from here on, the stack does not move
	args.flags = cloneVM | cloneVfork | clonePidfd | cloneClearSighand
	args.pidfd = uint64(uintptr(unsafe.Pointer(&s.pidfd)))
	args.exitSignal = sigChild
	if s.Cgroup != 0 {
		args.flags |= cloneIntoCgroup
		args.cgroup = uint64(s.Cgroup)
	}
	pid, errno = rawSyscall(sysClone3, uintptr(unsafe.Pointer(&args)), unsafe.Sizeof(args), 0, 0)
	if errno != 0 || pid != 0 {
		return pid, errno
	}

	// The user namespace first: it gives the right to enter the other one. A process with several threads could not enter
	// it.
	if s.UserNS != 0 {
		if _, s.failure = rawSyscall(sysSetns, uintptr(s.UserNS), cloneNewUser, 0, 0); s.failure != 0 {
			goto fail
		}
	}
	if s.NetNS != 0 {
		if _, s.failure = rawSyscall(sysSetns, uintptr(s.NetNS), cloneNewNet, 0, 0); s.failure != 0 {
			goto fail
		}
	}
	if _, s.failure = rawSyscall(sysSetsid, 0, 0, 0, 0); s.failure != 0 {
		goto fail
	}
	if _, s.failure = rawSyscall(sysSigprocmask, sigSetMask, uintptr(unsafe.Pointer(&blocked)), 0, unsafe.Sizeof(blocked)); s.failure != 0 {
		goto fail
	}
	if s.Dir != nil {
		if _, s.failure = rawSyscall(sysChdir, uintptr(unsafe.Pointer(s.Dir)), 0, 0, 0); s.failure != 0 {
			goto fail
		}
	}
	// Descriptors below 3 first move away, so that no file is closed before it is copied.
	for number = 0; number < 3; number++ {
		if s.Files[number] >= 3 {
			continue
		}
		if s.Files[number], s.failure = rawSyscall(sysFcntl, s.Files[number], dupCloexec, 3, 0); s.failure != 0 {
			goto fail
		}
	}
	for number = 0; number < 3; number++ {
		if _, s.failure = rawSyscall(sysDup3, s.Files[number], number, 0, 0); s.failure != 0 {
			goto fail
		}
	}
	if s.TTY {
		if _, s.failure = rawSyscall(sysIoctl, 0, setControlling, 1, 0); s.failure != 0 {
			goto fail
		}
	}
	if raised != 0 {
		rawSyscall(sysPrlimit, 0, limitFiles, 0, uintptr(unsafe.Pointer(&limit)))
		if limit.soft == raised && limit.hard == files.hard { // otherwise somebody has changed it since
			rawSyscall(sysPrlimit, 0, limitFiles, uintptr(unsafe.Pointer(&files)), 0)
		}
	}
	if s.NoCore {
		rawSyscall(sysPrlimit, 0, limitCore, uintptr(unsafe.Pointer(&noCore)), 0)
	}
	for number = 0; number < uintptr(len(s.Calls)); number++ {
		call = &s.Calls[number]
		if _, s.failure = rawSyscall(call.Number, call.Args[0], call.Args[1], call.Args[2], call.Args[3]); s.failure != 0 && !call.Optional {
			s.Failed = int(number) + 1
			goto fail
		}
	}
	_, s.failure = rawSyscall(sysExecve, uintptr(unsafe.Pointer(s.Path)), uintptr(unsafe.Pointer(s.Args)), uintptr(unsafe.Pointer(s.Env)), 0)
fail:
	for {
		rawSyscall(sysExit, 127, 0, 0, 0)
	}
}

// RestoreFiles gives this process the limit of open files that it was started with, unless somebody has changed
// it since. Programs that execute another one without package syscall need it, because that raises the limit.
func RestoreFiles() {
	var limit rlimit
	rawSyscall(sysPrlimit, 0, limitFiles, 0, uintptr(unsafe.Pointer(&limit)))
	if raised != 0 && limit.soft == raised && limit.hard == files.hard {
		rawSyscall(sysPrlimit, 0, limitFiles, uintptr(unsafe.Pointer(&files)), 0)
	}
}

// rlimit is struct rlimit64 of the kernel.
type rlimit struct{ soft, hard uint64 }

// noCore is the limit of a process that leaves no core dump. The kernel passes dumps to a program even
// with a limit of 0, but not with a limit of 1.
var noCore = rlimit{1, 1}

var (
	files  rlimit // the limit of open files that this process was started with
	raised uint64 // the soft limit that package syscall sets; 0 if it changes nothing

	// blocked are the signals that children block: those that this process was started with. The runtime gives all its
	// threads the same, except while they fork.
	blocked uint64
)

func init() {
	rawSyscall(sysSigprocmask, sigBlock, 0, uintptr(unsafe.Pointer(&blocked)), unsafe.Sizeof(blocked))
	_, errno := rawSyscall(sysPrlimit, 0, limitFiles, 0, uintptr(unsafe.Pointer(&files)))
	if errno == 0 && files.hard > 0 && files.soft < files.hard-1 {
		raised = files.hard - 1
	}
}
