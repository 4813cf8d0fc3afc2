package ui

import (
	"os"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"
)

// TestIsTerminal: the descriptor counts, not its name.
func TestIsTerminal(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	zero, err := os.Open("/dev/zero")
	if err != nil {
		t.Fatal(err)
	}
	defer zero.Close()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer master.Close()
	defer tty.Close()
	called := func(f *os.File, name string) *os.File {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0) // or two files would close one descriptor
		if err != nil {
			t.Fatal(err)
		}
		return os.NewFile(uintptr(fd), name)
	}
	for _, c := range []struct {
		f    *os.File
		want bool
	}{{null, false}, {called(null, "/dev/stdin"), false}, {zero, false}, {tty, true}, {called(tty, "/dev/null"), true}} {
		defer c.f.Close()
		if got := IsTerminal(c.f); got != c.want {
			t.Errorf("%s: %v, want %v", c.f.Name(), got, c.want)
		}
	}
	if name := TerminalName(tty); name != tty.Name() {
		t.Errorf("the terminal is called %q, want %q", name, tty.Name())
	}
}
