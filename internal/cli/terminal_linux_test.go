package cli

import (
	"os"
	"testing"

	"github.com/creack/pty"
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
	for _, c := range []struct {
		f    *os.File
		want bool
	}{{null, false}, {os.NewFile(null.Fd(), "/dev/stdin"), false}, {zero, false}, {tty, true}, {os.NewFile(tty.Fd(), "/dev/null"), true}} {
		if got := isTerminal(c.f); got != c.want {
			t.Errorf("%s: %v, want %v", c.f.Name(), got, c.want)
		}
	}
	if name := terminalName(tty); name != tty.Name() {
		t.Errorf("the terminal is called %q, want %q", name, tty.Name())
	}
}
