//go:build amd64 || arm64

package systrace

import "syscall"

// Numbers of system calls that are the same on every architecture.
const (
	sysIoUringSetup = 425
	sysOpenat2      = 437
)

// atCwd is AT_FDCWD: a path is relative to the working directory.
const atCwd = -100

// observed returns what each observed system call does. Calls that read or change only metadata are not observed: no
// permission is needed for them.
func observed() map[int32]func(*stopped) {
	calls := map[int32]func(*stopped){
		syscall.SYS_OPENAT:    func(s *stopped) { s.open(s.pathAt(0, 1), s.args[2]) },
		sysOpenat2:            func(s *stopped) { s.open(s.pathAt(0, 1), s.word(s.args[2])) },
		syscall.SYS_TRUNCATE:  func(s *stopped) { s.open(s.path(0), syscall.O_WRONLY) },
		syscall.SYS_MKDIRAT:   func(s *stopped) { s.create(s.pathAt(0, 1)) },
		syscall.SYS_MKNODAT:   func(s *stopped) { s.create(s.pathAt(0, 1)) },
		syscall.SYS_SYMLINKAT: func(s *stopped) { s.create(s.pathAt(1, 2)) },
		syscall.SYS_UNLINKAT:  func(s *stopped) { s.remove(s.pathAt(0, 1)) },
		syscall.SYS_LINKAT:    func(s *stopped) { s.move(s.pathAt(0, 1), s.pathAt(2, 3)) },
		syscall.SYS_RENAMEAT:  func(s *stopped) { s.move(s.pathAt(0, 1), s.pathAt(2, 3)) },
		sysRenameat2:          func(s *stopped) { s.move(s.pathAt(0, 1), s.pathAt(2, 3)) },
		syscall.SYS_EXECVE:    func(s *stopped) { s.execute(s.path(0)) },
		sysExecveat:           func(s *stopped) { s.execute(s.pathAt(0, 1)) },
		syscall.SYS_CONNECT:   func(s *stopped) { s.connect() },
		syscall.SYS_BIND:      func(s *stopped) { s.bind() },
		syscall.SYS_LISTEN:    func(s *stopped) { s.listen() },
	}
	addOlder(calls)
	return calls
}
