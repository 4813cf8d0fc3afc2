//go:build linux && (amd64 || arm64)

package vfork_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"github.com/flowrun/flowrun/internal/os/vfork"
)

// spec returns a Spec that runs a shell script.
func spec(t *testing.T, script string, files [3]uintptr) *vfork.Spec {
	t.Helper()
	return &vfork.Spec{Path: text(t, "/bin/sh"), Args: list(t, "sh", "-c", script), Env: list(t, "A=1", "PATH="+os.Getenv("PATH")), Dir: text(t, "/"), Files: files}
}

func text(t *testing.T, s string) *byte {
	t.Helper()
	p, err := syscall.BytePtrFromString(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func list(t *testing.T, l ...string) **byte {
	t.Helper()
	p, err := syscall.SlicePtrFromStrings(l)
	if err != nil {
		t.Fatal(err)
	}
	return &p[0]
}

// startAndWait starts a process, waits for it, and checks that the kernel could make it.
func startAndWait(t *testing.T, s *vfork.Spec) (syscall.Errno, syscall.WaitStatus) {
	t.Helper()
	syscall.ForkLock.Lock()
	pid, pidfd, forked, errno := vfork.Start(s)
	syscall.ForkLock.Unlock()
	if !forked {
		t.Fatalf("the kernel cannot make a process: %v", syscall.Errno(errno))
	}
	syscall.Close(pidfd)
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	return syscall.Errno(errno), status
}

// pipe returns a pipe whose content is read by the function.
func pipe(t *testing.T) (w *os.File, content func() string) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	return w, func() string {
		w.Close()
		defer r.Close()
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
}

// A process gets the same from Start as from syscall.ForkExec.
func TestLikeForkExec(t *testing.T) {
	const script = `echo "$A"; pwd; ulimit -n; ulimit -Hn; grep -E '^(Sig[^Q]|Shd)' /proc/self/status; ls /proc/self/fd
		read pid comm state parent group session rest < /proc/$$/stat; test $pid = $group && test $pid = $session && echo leads; exit 7`
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()

	w, want := pipe(t)
	pid, err := syscall.ForkExec("/bin/sh", []string{"sh", "-c", script}, &syscall.ProcAttr{Dir: "/", Env: []string{"A=1", "PATH=" + os.Getenv("PATH")},
		Files: []uintptr{null.Fd(), w.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true}})
	if err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &status, 0, nil); err != nil {
		t.Fatal(err)
	}
	expected := want()
	if !strings.Contains(expected, "leads") || status.ExitStatus() != 7 {
		t.Fatal(expected, status)
	}

	w, got := pipe(t)
	errno, status := startAndWait(t, spec(t, script, [3]uintptr{null.Fd(), w.Fd(), null.Fd()}))
	if text := got(); errno != 0 || status.ExitStatus() != 7 || text != expected {
		t.Errorf("errno %v, status %v, printed\n%s\nwith syscall.ForkExec\n%s", errno, status, text, expected)
	}
}

// The limit of open files is the one that this process was started with, not the one to which Go
// raises it.
func TestFileLimit(t *testing.T) {
	if os.Getenv("FILE_LIMIT") != "" {
		w, got := pipe(t)
		errno, _ := startAndWait(t, spec(t, "ulimit -n", [3]uintptr{0, w.Fd(), 2}))
		if limit := got(); errno != 0 || limit != os.Getenv("FILE_LIMIT")+"\n" {
			t.Errorf("errno %v, limit %q", errno, limit)
		}
		return
	}
	c := exec.Command("sh", "-c", `ulimit -Sn 123 && exec "$0" -test.run='^TestFileLimit$'`, os.Args[0])
	c.Env = append(os.Environ(), "FILE_LIMIT=123")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// Descriptors below 3 are copied before they are replaced.
func TestStandardFiles(t *testing.T) {
	in, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w, content := pipe(t)
	// stdin of this process becomes stdout, its stdout becomes stderr.
	saved, err := syscall.Dup(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Dup3(int(w.Fd()), 0, syscall.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	errno, status := startAndWait(t, spec(t, "readlink /proc/self/fd/2; cat", [3]uintptr{in.Fd(), 0, 1}))
	if err := syscall.Dup3(saved, 0, 0); err != nil {
		t.Fatal(err)
	}
	syscall.Close(saved)
	stdout, err := os.Readlink("/proc/self/fd/1")
	if err != nil {
		t.Fatal(err)
	}
	if got := content(); errno != 0 || status != 0 || got != stdout+"\n" {
		t.Errorf("errno %v, status %v: stderr is %q, want %q", errno, status, got, stdout)
	}
}

func TestFailures(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	fd := null.Fd()
	for _, c := range []struct {
		change func(*vfork.Spec)
		want   syscall.Errno
	}{
		{func(s *vfork.Spec) { s.Path = text(t, "/missing") }, syscall.ENOENT},
		{func(s *vfork.Spec) { s.Dir = text(t, "/missing") }, syscall.ENOENT},
		{func(s *vfork.Spec) { s.Path = text(t, "/") }, syscall.EACCES},
		{func(s *vfork.Spec) { s.Files[1] = 1 << 20 }, syscall.EBADF},
		{func(s *vfork.Spec) { s.TTY = true }, syscall.ENOTTY},
	} {
		s := spec(t, "true", [3]uintptr{fd, fd, fd})
		c.change(s)
		if errno, status := startAndWait(t, s); errno != c.want || status.ExitStatus() != 127 {
			t.Errorf("errno %v, status %v, want %v", errno, status, c.want)
		}
	}

	s := spec(t, "true", [3]uintptr{fd, fd, fd})
	s.Cgroup = int(fd)
	if _, _, forked, errno := vfork.Start(s); forked || errno == 0 {
		t.Errorf("a descriptor that is not a cgroup: forked %v, errno %v", forked, syscall.Errno(errno))
	}
}

// Calls are made in order before the program is executed, and the first one that must not fail ends the start.
func TestCalls(t *testing.T) {
	w, content := pipe(t)
	s := spec(t, "ulimit -n", [3]uintptr{w.Fd(), w.Fd(), w.Fd()})
	limit := &syscall.Rlimit{Cur: 33, Max: 33}
	s.Calls = []vfork.Call{{Number: 1 << 20, Optional: true}, {Number: syscall.SYS_PRLIMIT64, Args: [4]uintptr{0, syscall.RLIMIT_NOFILE, uintptr(unsafe.Pointer(limit))}}}
	errno, _ := startAndWait(t, s)
	if got := content(); errno != 0 || s.Failed != 0 || got != "33\n" {
		t.Errorf("errno %v, failed %d, printed %q", errno, s.Failed, got)
	}
	runtime.KeepAlive(limit)

	w, content = pipe(t)
	s = spec(t, "echo started", [3]uintptr{w.Fd(), w.Fd(), w.Fd()})
	s.Calls = []vfork.Call{{Number: syscall.SYS_GETPID}, {Number: 1 << 20}, {Number: syscall.SYS_GETPID}}
	errno, status := startAndWait(t, s)
	if got := content(); errno != syscall.ENOSYS || s.Failed != 2 || status.ExitStatus() != 127 || got != "" {
		t.Errorf("errno %v, failed %d, status %v, printed %q", errno, s.Failed, status, got)
	}
}

// Many goroutines start processes while the heap and the stacks of others change.
func TestConcurrentStarts(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	var workers sync.WaitGroup
	var garbage atomic.Value
	for i := range 8 {
		workers.Go(func() {
			for n := range 50 {
				w, content := pipe(t)
				errno, status := startAndWait(t, spec(t, fmt.Sprintf("echo %d; exit %d", n, i), [3]uintptr{null.Fd(), w.Fd(), null.Fd()}))
				if got := content(); errno != 0 || status.ExitStatus() != i || got != fmt.Sprintln(n) {
					t.Errorf("errno %v, status %v, printed %q", errno, status, got)
				}
				garbage.Store(bytes.Repeat([]byte{1}, 64<<10))
			}
		})
	}
	workers.Wait()
}
