package netns

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
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

// Open makes a namespace and listens in it on TCP addresses: 127.0.0.1:80, [::1]:80, 0.0.0.0:0.
// binary is a program with this package; "" means this program. Safe for concurrent use.
func Open(binary string, addresses []string) (*Namespace, error) {
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

func open(binary string, addresses []string, attr *syscall.SysProcAttr) (*Namespace, error) {
	ours, theirs, err := socketPair()
	if err != nil {
		return nil, err
	}
	defer ours.Close()
	user := ""
	if attr.Cloneflags&syscall.CLONE_NEWUSER != 0 {
		user = strconv.Itoa(os.Geteuid()) + ":" + strconv.Itoa(os.Getegid())
	}
	c := &exec.Cmd{Path: binary, Args: append([]string{childName, user}, addresses...), Env: []string{}, Dir: "/",
		ExtraFiles: []*os.File{theirs}, SysProcAttr: attr}
	err = c.Start()
	theirs.Close()
	if err != nil {
		var path *os.PathError // its text names the program, which says nothing to people
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, err
	}
	files, received := receive(ours)
	if err := c.Wait(); err != nil && received == nil {
		received = fmt.Errorf("its process failed: %w", err)
	}
	if received != nil {
		closeAll(files)
		return nil, received
	}
	return newNamespace(files, addresses, user != "")
}

// newNamespace turns the descriptors into what they are.
func newNamespace(files []*os.File, addresses []string, user bool) (*Namespace, error) {
	count := 1
	if user {
		count = 2
	}
	if len(files) < count {
		closeAll(files)
		return nil, errors.New("its process has sent too few descriptors")
	}
	n := &Namespace{Files: files[:count]}
	defer closeAll(files[count:])
	for _, f := range files[count:] {
		l, err := net.FileListener(f)
		if err != nil {
			return nil, errors.Join(err, n.Close())
		}
		n.Listeners = append(n.Listeners, l)
	}
	if len(n.Listeners) != len(addresses) {
		return nil, errors.Join(errors.New("its process has sent too few sockets"), n.Close())
	}
	return n, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		f.Close()
	}
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
