//go:build amd64 || arm64

package systrace

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// traced in the environment makes the test program execute its arguments and report to the Tracer in that folder.
const traced = "SYSTRACE_TEST_FOLDER"

func TestMain(m *testing.M) {
	if dir := os.Getenv(traced); dir != "" {
		os.Unsetenv(traced)
		runtime.LockOSThread()
		s, err := Dial(dir)
		if err == nil {
			err = s.Start()
		}
		if err == nil {
			err = syscall.Exec(os.Args[1], os.Args[1:], os.Environ())
		}
		panic(err)
	}
	os.Exit(m.Run())
}

// recorder collects accesses.
type recorder struct {
	mu   sync.Mutex
	list []Access
}

func (r *recorder) add(a Access) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, a)
}

// run runs a program in a folder and returns what it and its child processes accessed.
func run(t testing.TB, dir string, argv ...string) []Access {
	t.Helper()
	var r recorder
	private := t.TempDir()
	tracer, err := Listen(private, r.add)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/proc/self/exe", argv...)
	c.Dir, c.Env = dir, append(os.Environ(), traced+"="+private)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if err := tracer.Close(); err != nil {
		t.Error(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.list
}

// has reports whether there is an access of a kind to a path.
func has(list []Access, kind Kind, path string) bool {
	return slices.ContainsFunc(list, func(a Access) bool { return a.Kind == kind && strings.TrimSuffix(a.Target, "/") == path })
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"read", "written", "moved", "removed"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("text\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"list", "from", "to", "new", "links"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	list := run(t, dir, "/bin/sh", "-c", `cat read missing 2>/dev/null
		cd list; echo more >>../written; ls . >/dev/null; cd ..
		mv moved from/; mv from/moved to/; rm removed; : >new/file; mkdir list/sub; mkdir -p to; ln -s x links/y; (cat <read) >/dev/null`)
	for _, want := range []struct {
		kind Kind
		path string
	}{{Read, "read"}, {Write, "written"}, {Read, "list"}, {Remove, "moved"}, {Create, "from/moved"},
		{Remove, "from/moved"}, {Create, "to/moved"}, {Remove, "removed"}, {Create, "new/file"}, {Create, "list/sub"}, {Create, "links/y"}} {
		found := slices.ContainsFunc(list, func(a Access) bool {
			return a.Kind == want.kind && filepath.Clean(a.Target) == filepath.Join(dir, want.path)
		})
		if !found {
			t.Errorf("no access %d to %q", want.kind, want.path)
		}
	}
	for _, a := range list {
		if strings.HasSuffix(a.Target, "missing") || a.Kind == Write && strings.HasSuffix(a.Target, "read") {
			t.Errorf("unexpected: %v", a)
		}
	}
	if !has(list, Execute, "/bin/sh") || !slices.ContainsFunc(list, func(a Access) bool { return a.Kind == Execute && strings.HasSuffix(a.Target, "bin/mv") }) {
		t.Error("programs are missing")
	}
}

// A script is executed by its interpreter, which the kernel opens itself.
func TestInterpreter(t *testing.T) {
	dir := t.TempDir()
	script, interpreter := filepath.Join(dir, "script"), filepath.Join(dir, "interpreter")
	if err := os.Symlink("/bin/sh", interpreter); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(script, []byte("#!"+interpreter+" -e\n:\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	list := run(t, dir, "/bin/sh", "-c", "./script")
	if !slices.Contains(list, Access{Execute, interpreter}) || !has(list, Execute, dir+"/./script") {
		t.Errorf("%v", list)
	}
}

// The links that mean the process itself are those of the traced process.
func TestOwnLinks(t *testing.T) {
	dir := t.TempDir()
	list := run(t, dir, "/bin/sh", "-c", "cat /dev/stdin </dev/null; cat /proc/self/status >/dev/null")
	for _, a := range list {
		if strings.HasPrefix(a.Target, "/proc/self") || a.Target == "/dev/stdin" {
			t.Errorf("%v", a)
		}
	}
	if !slices.ContainsFunc(list, func(a Access) bool {
		return strings.HasPrefix(a.Target, "/proc/") && strings.HasSuffix(a.Target, "/fd/0")
	}) {
		t.Errorf("stdin is missing: %v", list)
	}
}

// TestSockets runs this program again, so that it connects.
func TestSockets(t *testing.T) {
	if to := os.Getenv("SYSTRACE_TEST_CONNECT"); to != "" {
		for _, network := range []string{"udp", "tcp"} {
			if c, err := net.Dial(network, to); err == nil {
				c.Close()
			}
		}
		if c, err := net.Dial("unix", os.Getenv("SYSTRACE_TEST_SOCKET")); err == nil {
			c.Close()
		}
		return
	}
	for _, address := range []string{"127.0.0.1:0", "[::1]:0"} {
		l, err := net.Listen("tcp", address)
		if err != nil {
			t.Skip(err)
		}
		defer l.Close()
		path := filepath.Join(t.TempDir(), "socket")
		u, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		t.Setenv("SYSTRACE_TEST_CONNECT", l.Addr().String())
		t.Setenv("SYSTRACE_TEST_SOCKET", path)
		list := run(t, "/", os.Args[0], "-test.run", "TestSockets")
		var connected []Access
		for _, a := range list {
			if a.Kind == Connect || a.Kind == UnixSocket {
				connected = append(connected, a)
			}
		}
		if want := []Access{{Connect, l.Addr().String()}, {UnixSocket, path}}; !slices.Equal(connected, want) {
			t.Errorf("%v, want %v", connected, want)
		}
	}
}

// start starts a traced shell and returns when it has printed a line.
func start(t *testing.T, script string) (*exec.Cmd, *Tracer) {
	t.Helper()
	private := t.TempDir()
	tracer, err := Listen(private, func(Access) {})
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command("/proc/self/exe", "/bin/sh", "-c", script)
	c.Env = append(os.Environ(), traced+"="+private)
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 10)); err != nil {
		t.Fatal(err)
	}
	return c, tracer
}

// Exit codes and signals stay as they are, and a killed process leaves nothing that waits.
func TestEnds(t *testing.T) {
	for script, want := range map[string]string{
		"echo x; exit 7":           "exit status 7",
		"echo x; kill -TERM $$":    "signal: terminated",
		"echo x; cat /proc/self/x": "exit status 1",
	} {
		c, tracer := start(t, script)
		if err := c.Wait(); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", script, err, want)
		}
		tracer.Close()
	}
	for range 20 {
		c, tracer := start(t, "echo x; while :; do : </etc/passwd; done")
		c.Process.Kill()
		if err := c.Wait(); err == nil || err.Error() != "signal: killed" {
			t.Error(err)
		}
		tracer.Close()
	}
}
