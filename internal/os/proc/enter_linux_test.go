package proc_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/os/netns"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// asUser in the environment makes the test program run one test as another user.
const asUser = "PROC_TEST_AS_USER"

// TestEnter checks that a process in a network namespace has a loopback interface and nothing else, and
// that this process gets what connects to a listener there.
func TestEnter(t *testing.T) {
	n, err := netns.Open("", []netns.Address{{IP: net.IPv6loopback}, {IP: make([]byte, 4)}})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	if want := 1 + min(os.Getuid(), 1); len(n.Files) != want {
		t.Errorf("%d namespaces, want %d", len(n.Files), want)
	}
	l, err := net.FileListener(n.Sockets[1])
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan string, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			accepted <- err.Error()
			return
		}
		defer c.Close()
		fmt.Fprintln(c, "from outside")
		accepted <- c.LocalAddr().(*net.TCPAddr).IP.String()
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	out, code := runIn(t, n, `cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '
id -u
grep CapEff /proc/self/status | cut -f2
read -r line </dev/tcp/127.7.8.9/`+port+` && echo "$line"
: 2>/dev/null </dev/tcp/192.0.2.1/80 || echo unreachable`)
	want := fmt.Sprintf("lo\n%d\nCAPS\nfrom outside\nunreachable\n", os.Getuid())
	lines := strings.Split(out, "\n")
	if len(lines) > 2 {
		if os.Getuid() != 0 && lines[2] != "0000000000000000" {
			t.Errorf("it has the capabilities %s", lines[2])
		}
		lines[2] = "CAPS"
	}
	if got := strings.Join(lines, "\n"); code != 0 || got != want {
		t.Errorf("exit code %d, printed %q, want %q", code, got, want)
	}
	if a := <-accepted; a != "127.7.8.9" {
		t.Errorf("connected to %s", a)
	}
}

// runIn runs a bash script in a namespace and returns what it prints.
func runIn(t *testing.T, n *netns.Namespace, script string) (string, int) {
	t.Helper()
	g := proc.Open("enter", 0)
	defer g.Close(t.Context(), 0)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	p, err := g.Start(proc.Spec{Step: "s", Path: "/bin/bash", Args: []string{"bash", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/",
		Files: [3]*os.File{null, w, w}, Enter: n.Files})
	w.Close()
	if err != nil {
		t.Fatal(err)
	}
	out, _ := io.ReadAll(r)
	exit, err := p.Wait(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return string(out), exit.Code
}

// TestEnterAsUser is TestEnter for a user without rights.
func TestEnterAsUser(t *testing.T) {
	if os.Getuid() != 0 || os.Getenv(asUser) != "" {
		t.Skip("only root can become another user; run the tests as root")
	}
	c := exec.Command("/proc/self/exe", "-test.run", "^TestEnter$", "-test.v")
	c.Env, c.Dir = append(os.Environ(), asUser+"=1"), "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestEnter") {
		t.Errorf("%v\n%s", err, out)
	}
}
