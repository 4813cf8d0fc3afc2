package netns

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// self is this program, even if its file has been replaced or removed.
const self = "/proc/self/exe"

// Capabilities that a process needs in its user namespace to set it up.
const (
	capSetGID         = 6
	capSetUID         = 7
	capNetBindService = 10
	capNetAdmin       = 12
	capSysAdmin       = 21
)

// available is set once Open has succeeded.
var available struct {
	sync.Mutex
	yes bool
}

// Available returns nil if Open works here, and otherwise why not. binary is as for Open.
func Available(binary string) error {
	available.Lock()
	defer available.Unlock()
	if available.yes {
		return nil
	}
	n, err := Open(binary, nil)
	if err != nil {
		return err
	}
	available.yes = true
	return n.Close()
}

// Open makes a namespace, with sockets that listen in it. binary is a program with this package; ""
// means this program. Safe for concurrent use.
func Open(binary string, addresses []Address) (*Namespace, error) {
	if binary == "" {
		binary = self
	}
	n, err := open(binary, addresses, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET})
	if errors.Is(err, syscall.EPERM) {
		n, err = open(binary, addresses, &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
			AmbientCaps: []uintptr{capSetGID, capSetUID, capNetBindService, capNetAdmin, capSysAdmin}})
	}
	if err != nil {
		return nil, fmt.Errorf("cannot make a network namespace: %w%s", err, obstacle(err))
	}
	return n, nil
}

func open(binary string, addresses []Address, attr *syscall.SysProcAttr) (*Namespace, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	user, count := "", 1
	if attr.Cloneflags&syscall.CLONE_NEWUSER != 0 {
		user, count = strconv.Itoa(os.Geteuid())+":"+strconv.Itoa(os.Getegid()), 2
	}
	args := []string{childName, user}
	for _, a := range addresses {
		args = append(args, fmt.Sprintf("%d %x", a.Port, a.IP))
	}
	child, err := os.StartProcess(binary, args, &os.ProcAttr{Dir: "/", Env: []string{}, Files: []*os.File{nil, nil, nil, theirs}, Sys: attr})
	theirs.Close()
	if err != nil {
		var path *os.PathError // its text names the program, which says nothing to people
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, err
	}
	files, err := receive(ours)
	if _, ended := child.Wait(); err == nil {
		err = ended
	}
	if err == nil && len(files) != count+len(addresses) {
		err = errors.New("its process has sent too few descriptors")
	}
	if err != nil {
		return nil, errors.Join(err, (&Namespace{Files: files}).Close())
	}
	return &Namespace{Files: files[:count], Sockets: files[count:]}, nil
}

// socketPair makes the two ends of a connection that keeps the borders of messages.
func socketPair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_SEQPACKET|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create a socket pair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "socket"), os.NewFile(uintptr(fds[1]), "socket"), nil
}

// Sizes of the message that the child sends.
const (
	maxProblem = 1 << 10
	maxFiles   = 250 // the kernel sends at most 253 with one message
)

// receive reads the message of the child: its descriptors, or what went wrong.
func receive(socket *os.File) ([]*os.File, error) {
	text := make([]byte, maxProblem)
	rights := make([]byte, syscall.CmsgSpace(4*maxFiles))
	var n, got int
	err := error(syscall.EINTR)
	for err == syscall.EINTR {
		n, got, _, _, err = syscall.Recvmsg(int(socket.Fd()), text, rights, syscall.MSG_CMSG_CLOEXEC)
	}
	switch {
	case err != nil:
		return nil, err
	case n == 0:
		return nil, errors.New("its process has ended")
	case string(text[:n]) != ready:
		return nil, decodeProblem(string(text[:n]))
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:got])
	if err != nil {
		return nil, err
	}
	var files []*os.File
	for _, m := range messages {
		fds, err := syscall.ParseUnixRights(&m)
		if err != nil {
			return files, err
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "namespace"))
		}
	}
	return files, nil
}

// decodeProblem returns the error in a message of the child: an errno, a space, and its text.
func decodeProblem(s string) error {
	number, text, _ := strings.Cut(s, " ")
	errno, _ := strconv.Atoi(number)
	return &problem{text, syscall.Errno(errno)}
}

// problem is an error of the child together with the errno of the system.
type problem struct {
	text  string
	errno syscall.Errno
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.errno }

// obstacle returns which setting of the system is probably in the way, for the end of a message.
func obstacle(err error) string {
	for _, o := range []struct{ name, forbids string }{
		{"kernel/unprivileged_userns_clone", "0"}, // Debian
		{"kernel/apparmor_restrict_unprivileged_userns", "1"},
		{"user/max_user_namespaces", "0"},
		{"user/max_net_namespaces", "0"},
	} {
		value, readErr := os.ReadFile("/proc/sys/" + o.name)
		if readErr == nil && strings.TrimSpace(string(value)) == o.forbids {
			return fmt.Sprintf(" (%s = %s)", strings.ReplaceAll(o.name, "/", "."), o.forbids)
		}
	}
	switch {
	case errors.Is(err, syscall.EPERM):
		return " (neither this user nor a user namespace may make one; containers often forbid both)"
	case errors.Is(err, syscall.EINVAL):
		return " (this kernel has no network or no user namespaces)"
	}
	return ""
}
