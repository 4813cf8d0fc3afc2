package systrace

import "syscall"

const (
	auditArch    = 0xc000003e
	sysSeccomp   = 317
	sysRenameat2 = 316
	sysExecveat  = 322
	sysVMRead    = 310
)

// addOlder adds the calls that newer architectures do not have: their paths are not relative to a descriptor.
func addOlder(observed map[int32]func(*stopped)) {
	observed[syscall.SYS_OPEN] = func(s *stopped) { s.open(s.path(0), s.args[1]) }
	observed[syscall.SYS_CREAT] = func(s *stopped) {
		s.open(s.path(0), syscall.O_CREAT|syscall.O_WRONLY|syscall.O_TRUNC)
	}
	observed[syscall.SYS_MKDIR] = func(s *stopped) { s.create(s.path(0)) }
	observed[syscall.SYS_MKNOD] = observed[syscall.SYS_MKDIR]
	observed[syscall.SYS_SYMLINK] = func(s *stopped) { s.create(s.path(1)) }
	observed[syscall.SYS_UNLINK] = func(s *stopped) { s.remove(s.path(0)) }
	observed[syscall.SYS_RMDIR] = observed[syscall.SYS_UNLINK]
	observed[syscall.SYS_LINK] = func(s *stopped) { s.move(s.path(0), s.path(1)) }
	observed[syscall.SYS_RENAME] = observed[syscall.SYS_LINK]
}
