//go:build amd64 || arm64

package systrace

import (
	"bytes"
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// stopped is a system call that waits until it has been reported.
type stopped struct {
	*notification
	report func(Access)
}

// open reports that a file is opened, or truncated.
func (s *stopped) open(path string, flags uint64) {
	const oPath, tmpFile = 0x200000, 0x400000
	if path == "" || flags&oPath != 0 { // the descriptor of a path gives no access to the content
		return
	}
	info, err := os.Stat(path)
	switch mode := flags & syscall.O_ACCMODE; {
	case err != nil && flags&syscall.O_CREAT != 0:
		s.create(followed(path))
	case err != nil || flags&(syscall.O_CREAT|syscall.O_EXCL) == syscall.O_CREAT|syscall.O_EXCL:
	case flags&tmpFile != 0:
		s.report(Access{Kind: Create, Target: path + "/#"})
	case info.IsDir():
		s.report(Access{Kind: Read, Target: path})
	default:
		if mode != syscall.O_WRONLY {
			s.report(Access{Kind: Read, Target: path})
		}
		if mode != syscall.O_RDONLY || flags&syscall.O_TRUNC != 0 {
			s.report(Access{Kind: Write, Target: path})
		}
	}
}

// followed returns the target of a path that is a symbolic link to a missing file.
func followed(path string) string {
	if target, err := os.Readlink(path); err == nil {
		if filepath.IsAbs(target) {
			return target
		}
		return parent(path) + target
	}
	return path
}

// create reports that an entry is made, unless there is one already.
func (s *stopped) create(path string) {
	if path == "" {
		return
	}
	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) && isFolder(parent(path)) {
		s.report(Access{Kind: Create, Target: path})
	}
}

// remove reports that an entry is removed.
func (s *stopped) remove(path string) {
	if path == "" {
		return
	}
	if _, err := os.Lstat(path); err == nil {
		s.report(Access{Kind: Remove, Target: path})
	}
}

// move reports that a file gets a new name, or one more.
func (s *stopped) move(from, to string) {
	if from == "" || to == "" {
		return
	}
	if _, err := os.Lstat(from); err == nil && isFolder(parent(to)) {
		s.report(Access{Kind: Remove, Target: from})
		s.report(Access{Kind: Create, Target: to})
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// parent returns the folder of an absolute path. Unlike filepath.Dir it keeps "..", which may follow a link.
func parent(path string) string {
	path = strings.TrimRight(path, "/")
	return path[:strings.LastIndexByte(path, '/')+1]
}

// maxInterpreters limits how many scripts may be the interpreter of each other, as the kernel does.
const maxInterpreters = 5

// execute reports that a program is executed, and with a script its interpreters.
func (s *stopped) execute(path string) {
	for range maxInterpreters {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			return
		}
		s.report(Access{Kind: Execute, Target: path})
		if path = interpreter(path); path == "" {
			return
		}
	}
}

// interpreter returns the interpreter in the first line of a script, "" if there is none.
func interpreter(script string) string {
	f, err := os.Open(script)
	if err != nil {
		return ""
	}
	defer f.Close()
	line := make([]byte, 256) // what the kernel reads
	n, _ := f.Read(line)
	rest, ok := bytes.CutPrefix(line[:n], []byte("#!"))
	if !ok {
		return ""
	}
	rest, _, _ = bytes.Cut(rest, []byte("\n"))
	if words := bytes.Fields(rest); len(words) > 0 && filepath.IsAbs(string(words[0])) {
		return string(words[0])
	}
	return ""
}

// connect reports a connection over TCP, or to a Unix socket that exists. There is no permission for others.
func (s *stopped) connect() {
	raw := s.memory(s.args[1], int(min(s.args[2], maxAddress)))
	if len(raw) < 2 {
		return
	}
	switch family := binary.NativeEndian.Uint16(raw); {
	case family == syscall.AF_UNIX:
		s.connectUnix(raw[2:])
	case family == syscall.AF_INET && len(raw) >= 8:
		s.connectTo(netip.AddrFrom4([4]byte(raw[4:8])), binary.BigEndian.Uint16(raw[2:]))
	case family == syscall.AF_INET6 && len(raw) >= 24:
		s.connectTo(netip.AddrFrom16([16]byte(raw[8:24])).Unmap(), binary.BigEndian.Uint16(raw[2:]))
	}
}

func (s *stopped) connectTo(addr netip.Addr, port uint16) {
	if s.isStream() {
		s.report(Access{Kind: Connect, Target: netip.AddrPortFrom(addr, port).String()})
	}
}

func (s *stopped) connectUnix(name []byte) {
	path := s.socketPath(name)
	if path == "" { // an abstract name, which begins with a zero byte
		s.report(Access{Kind: UnixSocket})
	} else if _, err := os.Stat(path); err == nil {
		s.report(Access{Kind: UnixSocket, Target: path})
	}
}

// bind reports that a socket in the file system is made.
func (s *stopped) bind() {
	raw := s.memory(s.args[1], int(min(s.args[2], maxAddress)))
	if len(raw) > 2 && binary.NativeEndian.Uint16(raw) == syscall.AF_UNIX {
		s.create(s.socketPath(raw[2:]))
	}
}

// maxAddress is the size of struct sockaddr_storage.
const maxAddress = 128

// socketPath returns the path in the address of a Unix socket, "" if it has none.
func (s *stopped) socketPath(name []byte) string {
	name, _, _ = bytes.Cut(name, []byte{0})
	return s.absolute(atCwd, string(name))
}

// listen reports that a TCP socket accepts connections.
func (s *stopped) listen() {
	own := s.descriptor(0)
	if own < 0 {
		return
	}
	defer syscall.Close(own)
	var at netip.AddrPort
	switch name, _ := syscall.Getsockname(own); a := name.(type) {
	case *syscall.SockaddrInet4:
		at = netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		at = netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	default:
		return
	}
	s.report(Access{Kind: Accept, Target: at.String()})
}

// isStream reports whether the descriptor in the first argument is a TCP socket. Resolvers connect UDP sockets to find
// out which of several addresses can be reached, and send nothing.
func (s *stopped) isStream() bool {
	own := s.descriptor(0)
	if own < 0 {
		return true
	}
	defer syscall.Close(own)
	kind, err := syscall.GetsockoptInt(own, syscall.SOL_SOCKET, syscall.SO_TYPE)
	return err != nil || kind == syscall.SOCK_STREAM
}

// descriptor returns a copy of the descriptor in an argument, -1 if there is none.
func (s *stopped) descriptor(arg int) int {
	const pidfdOpen, pidfdGetFD = 434, 438
	process, _, errno := syscall.RawSyscall(pidfdOpen, uintptr(s.process()), 0, 0)
	if errno != 0 {
		return -1
	}
	defer syscall.Close(int(process))
	own, _, errno := syscall.RawSyscall(pidfdGetFD, process, uintptr(s.args[arg]), 0)
	if errno != 0 {
		return -1
	}
	return int(own)
}

// process returns the process of the thread.
func (s *stopped) process() int {
	text, _ := os.ReadFile(s.proc("status"))
	_, rest, _ := strings.Cut(string(text), "\nTgid:")
	line, _, _ := strings.Cut(rest, "\n")
	pid, _ := strconv.Atoi(strings.TrimSpace(line))
	return pid
}

// proc returns the path of a file about the thread.
func (s *stopped) proc(file string) string { return "/proc/" + strconv.Itoa(int(s.tid)) + "/" + file }

// path returns the path in an argument, "" if there is none.
func (s *stopped) path(arg int) string { return s.absolute(atCwd, s.text(s.args[arg])) }

// pathAt returns the path in an argument, relative to the folder whose descriptor is in another.
func (s *stopped) pathAt(dir, arg int) string {
	return s.absolute(int32(s.args[dir]), s.text(s.args[arg]))
}

// absolute returns an absolute path, "" if it is not known. Links are not resolved, except the ones that are different
// for every process.
func (s *stopped) absolute(dir int32, path string) string {
	switch {
	case path == "" && dir == atCwd:
		return ""
	case filepath.IsAbs(path):
		return s.ownLinks(path)
	}
	base := s.proc("cwd")
	if dir != atCwd {
		base = s.proc("fd/" + strconv.Itoa(int(dir)))
	}
	base, err := os.Readlink(base)
	if err != nil || !filepath.IsAbs(base) {
		return ""
	}
	return s.ownLinks(base + "/" + path) // not filepath.Join: .. after a link is relative to its target
}

// ownLinks replaces the links that mean the process itself.
func (s *stopped) ownLinks(path string) string {
	switch path {
	case "/dev/stdin":
		path = "/dev/fd/0"
	case "/dev/stdout":
		path = "/dev/fd/1"
	case "/dev/stderr":
		path = "/dev/fd/2"
	}
	for link, own := range map[string]string{"/dev/fd/": "fd/", "/proc/self/": "", "/proc/thread-self/": ""} {
		if rest, ok := strings.CutPrefix(path, link); ok {
			return s.proc(own + rest)
		}
	}
	return path
}

// text returns the text at an address of the process, "" if it cannot be read.
func (s *stopped) text(address uint64) string {
	const maxPath = 4096
	text := s.memory(address, maxPath)
	end := bytes.IndexByte(text, 0)
	if end < 0 {
		return ""
	}
	return string(text[:end])
}

// word returns the 64-bit number at an address of the process.
func (s *stopped) word(address uint64) uint64 {
	raw := s.memory(address, 8)
	if len(raw) < 8 {
		return 0
	}
	return binary.NativeEndian.Uint64(raw)
}

// memory returns the memory at an address of the process, or the beginning of it that can be read.
func (s *stopped) memory(address uint64, size int) []byte {
	const page = 4096 // of the smallest pages: a read ends where the process has no memory
	if address == 0 || size == 0 {
		return nil
	}
	type vector struct{ base, size uint64 }
	first := min(size, page-int(address%page))
	from := [2]vector{{address, uint64(first)}, {address + uint64(first), uint64(size - first)}}
	text := make([]byte, size)
	to := struct {
		base *byte
		size uint64
	}{&text[0], uint64(size)}
	n, _, errno := syscall.Syscall6(sysVMRead, uintptr(s.tid), uintptr(unsafe.Pointer(&to)), 1, uintptr(unsafe.Pointer(&from)), 2, 0)
	if errno != 0 {
		return nil
	}
	return text[:n]
}
