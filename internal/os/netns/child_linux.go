package netns

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"unsafe"
)

// childName is argv[0] of a process that sets up its namespaces. The next arguments are the user and
// group to map, UID:GID, or "" if it has no user namespace of its own, and the addresses to listen
// on. Its socket is descriptor 3.
const childName = "flowrun-netns"

const childSocket = 3

// backlog is how many connections wait to be accepted.
const backlog = 1024

// ready is the message that carries the descriptors. Any other message is a problem.
const ready = "ready"

// A process that Open starts does its work before the packages are initialized that it does not need.
func init() { setUpSelf() }

// setUpSelf sets up a namespace and exits, if this process was started for that. Otherwise it does
// nothing.
func setUpSelf() {
	if len(os.Args) < 2 || os.Args[0] != childName {
		return
	}
	files, err := setUp(os.Args[1], os.Args[2:])
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	text, rights := ready, syscall.UnixRights(fds...)
	if err != nil {
		var errno syscall.Errno
		errors.As(err, &errno)
		text, rights = fmt.Sprintf("%d %v", int(errno), err), nil
	}
	if syscall.Sendmsg(childSocket, []byte(text[:min(len(text), maxProblem)]), rights, nil, 0) != nil {
		os.Exit(1)
	}
	runtime.KeepAlive(files)
	os.Exit(0)
}

// setUp returns the namespaces and the sockets.
func setUp(user string, addresses []string) (files []*os.File, err error) {
	kinds := []string{"net"}
	if uid, gid, own := strings.Cut(user, ":"); own {
		if err := mapUser(uid, gid); err != nil {
			return nil, err
		}
		kinds = []string{"user", "net"}
	}
	if err := activateLoopback(); err != nil {
		return nil, fmt.Errorf("cannot activate the loopback interface: %w", err)
	}
	for _, kind := range kinds {
		f, err := os.Open("/proc/self/ns/" + kind)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	for _, address := range addresses {
		f, err := listen(address)
		if err != nil {
			return nil, fmt.Errorf("cannot listen in it: %w", err)
		}
		files = append(files, f)
	}
	return files, nil
}

// listen returns a socket that listens on an address: its port, a space, and its IP in hexadecimal.
func listen(address string) (*os.File, error) {
	port, ip, _ := strings.Cut(address, " ")
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil {
		return nil, err
	}
	bytes, err := hex.DecodeString(ip)
	if err != nil {
		return nil, err
	}
	to, family, err := Address{bytes, uint16(number)}.sockaddr()
	if err != nil {
		return nil, err
	}
	fd, err := syscall.Socket(family, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "socket")
	if err := syscall.Bind(fd, to); err != nil {
		return nil, err
	}
	return f, syscall.Listen(fd, backlog)
}

// mapUser gives the user and the group the same numbers inside the user namespace. Everybody else is
// nobody there.
func mapUser(uid, gid string) error {
	for _, w := range [][2]string{{"setgroups", "deny"}, {"uid_map", uid + " " + uid + " 1"}, {"gid_map", gid + " " + gid + " 1"}} {
		if err := os.WriteFile("/proc/self/"+w[0], []byte(w[1]), 0); err != nil {
			return fmt.Errorf("cannot map its user: %w", err)
		}
	}
	return nil
}

// activateLoopback brings up the interface lo, and with it 127.0.0.0/8 and ::1.
func activateLoopback() error {
	s, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_DGRAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(s)
	request := struct {
		name  [16]byte
		flags uint16
		_     [22]byte
	}{name: [16]byte{'l', 'o'}, flags: syscall.IFF_UP}
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(s), syscall.SIOCSIFFLAGS, uintptr(unsafe.Pointer(&request))); errno != 0 {
		return errno
	}
	return nil
}
