package netns

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestReceive: what the process of a namespace sends is its descriptors, or its problem with the errno of the system.
func TestReceive(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		files int
		errno syscall.Errno
		err   string
	}{
		"descriptors": {ready, 3, 0, ""},
		"none":        {ready, 0, 0, ""},
		"a problem":   {"1 cannot map its user: operation not permitted", 0, syscall.EPERM, "cannot map its user: operation not permitted"},
		"its end":     {"", 0, 0, "its process has ended"},
	} {
		ours, theirs, err := socketPair()
		if err != nil {
			t.Fatal(err)
		}
		var fds []int
		for range c.files {
			fds = append(fds, int(theirs.Fd()))
		}
		if c.text != "" {
			if err := syscall.Sendmsg(int(theirs.Fd()), []byte(c.text), syscall.UnixRights(fds...), nil, 0); err != nil {
				t.Fatal(err)
			}
		}
		theirs.Close()
		files, err := receive(ours)
		ours.Close()
		if len(files) != c.files || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err || c.errno != 0 && !errors.Is(err, c.errno) {
			t.Errorf("%s: %d files, %v", name, len(files), err)
		}
		for _, f := range files {
			if err := f.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestListen: the address of a namespace arrives in its process as it was given.
func TestListen(t *testing.T) {
	for name, c := range map[string]struct {
		address string
		err     string
	}{
		"IPv4":              {"0 7f000001", ""},
		"no port":           {"7f000001", "invalid syntax"},
		"port too large":    {"65536 7f000001", "out of range"},
		"not hexadecimal":   {"0 zz", "invalid byte"},
		"too short":         {"0 7f00", "4 or 16 bytes"},
		"not of this place": {"0 c0000201", "cannot assign"}, // 192.0.2.1
	} {
		f, err := listen(c.address)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil {
			continue
		}
		at, err := syscall.Getsockname(int(f.Fd()))
		if in, ok := at.(*syscall.SockaddrInet4); err != nil || !ok || in.Addr != [4]byte{127, 0, 0, 1} {
			t.Errorf("%s: it listens at %+v, %v", name, at, err)
		}
		if on, err := syscall.GetsockoptInt(int(f.Fd()), syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || on != 1 {
			t.Errorf("%s: it does not listen: %v", name, err)
		}
		f.Close()
	}
}

// TestClose: closing a namespace closes every descriptor, also after one has failed.
func TestClose(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	if err := (&Namespace{Files: []*os.File{r}, Sockets: []*os.File{w}}).Close(); !errors.Is(err, os.ErrClosed) {
		t.Error(err)
	}
	if err := w.Close(); !errors.Is(err, os.ErrClosed) {
		t.Error("the second one is open:", err)
	}
}
