package attack

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/os/confine"
)

// victimOf is the process that the calls are tried on.
func victimOf() uintptr {
	pid, _ := strconv.Atoi(os.Getenv("OTHER"))
	return uintptr(pid)
}

// callEscapes are system calls with which a process could leave its sandbox, look into others or
// reach parts of the kernel that no step needs. Their arguments do nothing where they are allowed.
var callEscapes = map[string]func() syscall.Errno{
	"ptrace attach":     func() syscall.Errno { return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, victimOf()) },
	"ptrace traceme":    func() syscall.Errno { return call(unix.SYS_PTRACE, unix.PTRACE_TRACEME) },
	"process_vm_readv":  func() syscall.Errno { return call(unix.SYS_PROCESS_VM_READV, victimOf()) },
	"process_vm_writev": func() syscall.Errno { return call(unix.SYS_PROCESS_VM_WRITEV, victimOf()) },
	"process_madvise":   func() syscall.Errno { return call(unix.SYS_PROCESS_MADVISE, badFD) },
	"pidfd_getfd":       func() syscall.Errno { return call(unix.SYS_PIDFD_GETFD, badFD) },
	"kcmp":              func() syscall.Errno { return call(unix.SYS_KCMP, victimOf(), victimOf()) },
	"prlimit":           func() syscall.Errno { return call(unix.SYS_PRLIMIT64, victimOf(), unix.RLIMIT_NOFILE) },
	"kill":              func() syscall.Errno { return call(unix.SYS_KILL, victimOf(), 0) },
	"tgkill":            func() syscall.Errno { return call(unix.SYS_TGKILL, victimOf(), victimOf(), 0) },
	"sigqueue":          func() syscall.Errno { return call(unix.SYS_RT_SIGQUEUEINFO, victimOf(), 0, siginfo()) },
	"pidfd_send_signal": signalByPidfd,
	"mount":             func() syscall.Errno { return call(unix.SYS_MOUNT, 0, text("/"), 0, unix.MS_BIND|unix.MS_REMOUNT) },
	"umount":            func() syscall.Errno { return call(unix.SYS_UMOUNT2, text("/nowhere")) },
	"pivot_root":        func() syscall.Errno { return call(unix.SYS_PIVOT_ROOT, text("/nowhere"), text("/nowhere")) },
	"chroot":            func() syscall.Errno { return call(unix.SYS_CHROOT, text("/")) },
	"open_tree":         func() syscall.Errno { return call(unix.SYS_OPEN_TREE, badFD) },
	"move_mount":        func() syscall.Errno { return call(unix.SYS_MOVE_MOUNT, badFD) },
	"fsopen":            func() syscall.Errno { return call(unix.SYS_FSOPEN, text("tmpfs")) },
	"fsmount":           func() syscall.Errno { return call(unix.SYS_FSMOUNT, badFD) },
	"fspick":            func() syscall.Errno { return call(unix.SYS_FSPICK, badFD) },
	"mount_setattr":     func() syscall.Errno { return call(unix.SYS_MOUNT_SETATTR, badFD) },
	"setns":             func() syscall.Errno { return call(unix.SYS_SETNS, badFD) },
	"unshare user":      func() syscall.Errno { return call(unix.SYS_UNSHARE, unix.CLONE_NEWUSER) },
	"unshare network":   func() syscall.Errno { return call(unix.SYS_UNSHARE, unix.CLONE_NEWNET) },
	"unshare mounts":    func() syscall.Errno { return call(unix.SYS_UNSHARE, unix.CLONE_NEWNS) },
	"unshare time":      func() syscall.Errno { return call(unix.SYS_UNSHARE, unix.CLONE_NEWTIME) },
	"clone user":        func() syscall.Errno { return call(unix.SYS_CLONE, unix.CLONE_NEWUSER|unix.CLONE_FS) }, // EINVAL where it is allowed
	"clone3":            func() syscall.Errno { return call(unix.SYS_CLONE3) },
	"bpf":               func() syscall.Errno { return call(unix.SYS_BPF, 1<<20) },
	"add_key":           func() syscall.Errno { return call(unix.SYS_ADD_KEY) },
	"request_key":       func() syscall.Errno { return call(unix.SYS_REQUEST_KEY) },
	"keyctl":            func() syscall.Errno { return call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2)) },
	"userfaultfd":       func() syscall.Errno { return call(unix.SYS_USERFAULTFD, 1) }, // UFFD_USER_MODE_ONLY
	"io_uring_setup":    func() syscall.Errno { return call(unix.SYS_IO_URING_SETUP, 1, uintptr(unsafe.Pointer(new([120]byte)))) },
	"io_uring_enter":    func() syscall.Errno { return call(unix.SYS_IO_URING_ENTER, badFD) },
	"io_uring_register": func() syscall.Errno { return call(unix.SYS_IO_URING_REGISTER, badFD) },
	"perf_event_open":   func() syscall.Errno { return call(unix.SYS_PERF_EVENT_OPEN) },
	"kexec_load":        func() syscall.Errno { return call(unix.SYS_KEXEC_LOAD, 0, 99) },
	"init_module":       func() syscall.Errno { return call(unix.SYS_INIT_MODULE) },
	"finit_module":      func() syscall.Errno { return call(unix.SYS_FINIT_MODULE, badFD) },
	"delete_module":     func() syscall.Errno { return call(unix.SYS_DELETE_MODULE, text("no-such-module")) },
	"open_by_handle_at": func() syscall.Errno { return call(unix.SYS_OPEN_BY_HANDLE_AT, badFD) },
	"fanotify_init":     func() syscall.Errno { return call(unix.SYS_FANOTIFY_INIT, 1<<30) },
	"swapon":            func() syscall.Errno { return call(unix.SYS_SWAPON, text("/nowhere")) },
	"swapoff":           func() syscall.Errno { return call(unix.SYS_SWAPOFF, text("/nowhere")) },
	"reboot":            func() syscall.Errno { return call(unix.SYS_REBOOT) }, // without its magic number
	"sethostname":       func() syscall.Errno { return call(unix.SYS_SETHOSTNAME, 0, 1000) },
	"settimeofday":      func() syscall.Errno { return call(unix.SYS_SETTIMEOFDAY) },
	"clock_settime":     func() syscall.Errno { return call(unix.SYS_CLOCK_SETTIME, 99) },
	"acct":              func() syscall.Errno { return call(unix.SYS_ACCT, text("/nowhere")) },
	"quotactl":          func() syscall.Errno { return call(unix.SYS_QUOTACTL) },
	"syslog":            func() syscall.Errno { return call(unix.SYS_SYSLOG, 10) },
	"shmget":            func() syscall.Errno { return call(unix.SYS_SHMGET, 0x4242, 1<<40, 0) }, // ENOENT where it is allowed
	"shmat":             func() syscall.Errno { return call(unix.SYS_SHMAT, badFD) },
	"shmctl":            func() syscall.Errno { return call(unix.SYS_SHMCTL, badFD) },
	"msgget":            func() syscall.Errno { return call(unix.SYS_MSGGET, 0x4243) },
	"msgsnd":            func() syscall.Errno { return call(unix.SYS_MSGSND, badFD) },
	"msgrcv":            func() syscall.Errno { return call(unix.SYS_MSGRCV, badFD) },
	"msgctl":            func() syscall.Errno { return call(unix.SYS_MSGCTL, badFD) },
	"semget":            func() syscall.Errno { return call(unix.SYS_SEMGET, 0x4244) },
	"semop":             func() syscall.Errno { return call(unix.SYS_SEMTIMEDOP, badFD) },
	"semctl":            func() syscall.Errno { return call(unix.SYS_SEMCTL, badFD) },
	"mq_open":           func() syscall.Errno { return call(unix.SYS_MQ_OPEN, text("queue")) },
	"fanotify_mark":     func() syscall.Errno { return call(unix.SYS_FANOTIFY_MARK, badFD) },
	"statmount":         func() syscall.Errno { return call(unix.SYS_STATMOUNT) },
	"next kernel":       func() syscall.Errno { return call(600) },
	"vhangup":           func() syscall.Errno { return call(unix.SYS_VHANGUP, 1) },
	"mknod": func() syscall.Errno {
		return call(unix.SYS_MKNODAT, here, text("granted/device"), unix.S_IFBLK|0o600, 8<<8)
	},
	"type into terminal": func() syscall.Errno { return call(unix.SYS_IOCTL, 0, unix.TIOCSTI, text("x")) },
	"x32":                func() syscall.Errno { return call(0x40000000 + 39) },
	"socket internet":    func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_STREAM) },
	"socket datagrams":   func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_INET6, unix.SOCK_DGRAM) },
	"socket raw":         func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_INET, unix.SOCK_RAW, 1) },
	"socket packets":     func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_PACKET, unix.SOCK_RAW) },
	"socket netlink":     func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_NETLINK, unix.SOCK_RAW) },
	"socket unix":        func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_DGRAM) },
	"socket vm":          func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_VSOCK, unix.SOCK_STREAM) },
	"socket crypto":      func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_ALG, unix.SOCK_SEQPACKET) },
	"socket bluetooth":   func() syscall.Errno { return call(unix.SYS_SOCKET, unix.AF_BLUETOOTH, unix.SOCK_RAW) },
	"pair of datagrams": func() syscall.Errno {
		return call(unix.SYS_SOCKETPAIR, unix.AF_UNIX, unix.SOCK_DGRAM, 0, uintptr(unsafe.Pointer(new([2]int32))))
	},
}

const (
	badFD = 1 << 20
	here  = ^uintptr(99) // AT_FDCWD
)

func text(s string) uintptr {
	p, _ := syscall.BytePtrFromString(s)
	kept = append(kept, p)
	return uintptr(unsafe.Pointer(p))
}

var kept []*byte // texts that the garbage collector must not take

func siginfo() uintptr {
	var info [128]byte
	info[8] = 0xff // SI_QUEUE is -1
	info[9], info[10], info[11] = 0xff, 0xff, 0xff
	kept = append(kept, &info[0])
	return uintptr(unsafe.Pointer(&info))
}

func signalByPidfd() syscall.Errno {
	fd, _, errno := syscall.RawSyscall(unix.SYS_PIDFD_OPEN, victimOf(), 0, 0)
	if errno != 0 {
		return errno
	}
	return call(unix.SYS_PIDFD_SEND_SIGNAL, fd, 0)
}

func call(number uintptr, args ...uintptr) syscall.Errno {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := syscall.RawSyscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return errno
}

// tryCalls prints what the system answers to each of the calls.
func tryCalls() {
	for _, name := range slices.Sorted(maps.Keys(callEscapes)) {
		fmt.Printf("%s: %d\n", name, callEscapes[name]())
	}
}

// TestEnforcedCalls: an enforced step makes none of these calls, whoever runs it.
func TestEnforcedCalls(t *testing.T) {
	if err := confine.CheckSandbox(); err != nil {
		t.Skip(err)
	}
	for _, uid := range users() {
		t.Run(fmt.Sprint(uid), func(t *testing.T) {
			t.Parallel()
			p := newPrey(t, uid)
			probe := filepath.Join(p.dir, "probe")
			if err := os.Link(self, probe); err != nil {
				t.Fatal(err)
			}
			p.write("t.yaml", fmt.Sprintf("name: t\ndescription: x\nsecurity: {enforce: true, required-permissions: [filesystem:write:granted]}\n"+
				"environment: {variables: {FLOWRUN_ATTACK_CALLS: \"1\", OTHER: \"%d\"}}\nrun: %s\n", p.process.Process.Pid, probe))
			out := p.run("run", "./t.yaml")
			if out.code != 0 {
				t.Fatal(out)
			}
			answers := map[string]string{}
			for line := range strings.Lines(out.stdout) {
				name, errno, _ := strings.Cut(strings.TrimSpace(line), ": ")
				answers[name] = errno
			}
			for name := range callEscapes {
				n, err := strconv.Atoi(answers[name])
				switch errno := syscall.Errno(n); {
				case name == "x32" && runtime.GOARCH != "amd64":
				case err != nil:
					t.Errorf("%s was not tried\n%s", name, out)
				case errno != syscall.EPERM && errno != syscall.EACCES && errno != syscall.ENOSYS:
					t.Errorf("%s: %v", name, errno)
				}
			}
		})
	}
}
