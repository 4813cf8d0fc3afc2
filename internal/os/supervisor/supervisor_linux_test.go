package supervisor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/netns"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// asEngine in the environment makes the test program run steps through a supervisor until it is
// killed; the value tags its processes.
const asEngine = "HELPER_TEST_ENGINE"

func TestMain(m *testing.M) {
	Main()
	if tag := os.Getenv(asEngine); tag != "" {
		engine(tag)
	}
	goleak.VerifyTestMain(m)
}

// escapes are scripts whose processes try to outlive the run.
func escapes(tag string) []string {
	sleep := "sleep 300." + tag
	return []string{
		sleep,
		sleep + " & " + sleep,
		"trap '' TERM; " + sleep + " & " + sleep,
		"(setsid " + sleep + " &); " + sleep,
		"(env -i setsid " + sleep + " &); " + sleep,
		"(trap '' TERM HUP; env -i setsid sh -c '" + sleep + " & " + sleep + "' &); " + sleep,
		"kill -STOP $$; " + sleep,
		sleep + " | (setsid " + sleep + ")",
	}
}

func engine(tag string) {
	c := New("engine"+tag, "", 0)
	for i, script := range escapes(tag) {
		if _, err := startIn(c, "engine"+tag, fmt.Sprint("s", i), script, false); err != nil {
			fmt.Println("cannot start:", err)
			os.Exit(1)
		}
	}
	fmt.Println("ready")
	time.Sleep(time.Hour)
}

func startIn(h proc.Host, mark, step, script string, detach bool) (proc.Process, error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer null.Close()
	return h.Start(proc.Spec{Step: step, Path: "/bin/sh", Args: []string{"sh", "-c", script}, Detach: detach,
		Env: append(os.Environ(), procid.MarkOwner+"="+mark, procid.MarkStep+"="+step), Files: [3]*os.File{null, null, null}})
}

func living(tag string) map[int]string {
	found := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		text, _ := os.ReadFile(f)
		if bytes.Contains(text, []byte(tag)) {
			pid, _ := strconv.Atoi(strings.Split(f, "/")[2])
			found[pid] = strings.ReplaceAll(string(text), "\x00", " ")
		}
	}
	return found
}

// asleep counts the processes that sleep for exactly this long: they have executed their program.
func asleep(seconds string) (n int) {
	for _, cmd := range living(seconds) {
		if cmd == "sleep "+seconds+" " {
			n++
		}
	}
	return n
}

// gone waits until no process has the tag.
func gone(t *testing.T, tag string) {
	t.Helper()
	waittest.Holds(waittest.Limit, func() bool { return len(living(tag)) == 0 })
	for pid, cmd := range living(tag) {
		t.Errorf("survivor %d %s", pid, cmd)
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Close ends processes that nobody waits for.
func TestCloseWithoutWait(t *testing.T) {
	tag := fmt.Sprint(os.Getpid(), "6")
	c := New("unwaited"+tag, "", 0)
	for i := range 8 {
		if _, err := startIn(c, "unwaited"+tag, fmt.Sprint("s", i), "sleep 300."+tag, false); err != nil {
			t.Fatal(err)
		}
	}
	closed := make(chan error, 1)
	go func() {
		_, err := c.Close(context.Background(), 0)
		closed <- err
	}()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(waittest.Limit):
		t.Fatal("Close does not return")
	}
	gone(t, "300."+tag)
}

func TestExitAndOutput(t *testing.T) {
	c := New("exit", "", 0)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	p, err := c.Start(proc.Spec{Step: "s", Path: "/bin/sh", Args: []string{"sh", "-c", `printf %s "$X$PWD"; exit 7`},
		Env: []string{"X=\xff" + strings.Repeat("y", 100_000)}, Dir: "/", Files: [3]*os.File{null, w, w}})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	out, _ := io.ReadAll(r)
	if want := "\xff" + strings.Repeat("y", 100_000) + "/"; string(out) != want {
		t.Errorf("got %d bytes, want %d", len(out), len(want))
	}
	if e, err := p.Wait(context.Background()); err != nil || e.Code != 7 {
		t.Error(e, err)
	}
	if _, err := c.Start(proc.Spec{Path: "/no/such", Args: []string{"x"}, Files: [3]*os.File{null, null, null}}); !errors.Is(err, syscall.ENOENT) {
		t.Error("missing program:", err)
	}
	if report, err := c.Close(context.Background(), 0); err != nil || len(report.Ended)+len(report.Escaped) > 0 {
		t.Error(report, err)
	}
}

// The rights that a process gives up arrive.
func TestConfine(t *testing.T) {
	c := New("confine", "", 0)
	defer c.Close(context.Background(), 0)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	s := proc.Spec{Step: "s", Path: "/bin/sh", Args: []string{"sh", "-c", "ulimit -n; cat /root/x"}, Files: [3]*os.File{null, w, w},
		Confine: &confine.Confinement{OpenFiles: 33}}
	p, err := c.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	if out, _ := io.ReadAll(r); !strings.HasPrefix(string(out), "33\n") {
		t.Errorf("printed %q", out)
	}
	p.Wait(context.Background())
	s.Files = [3]*os.File{null, null, null}
	link := filepath.Join(t.TempDir(), "link")
	os.Symlink("/", link)
	if s.Confine.Sandbox = (&confine.Sandbox{Files: []confine.FileRule{{Path: link}}}); confine.CheckSandbox() != nil {
		return
	}
	if _, err := c.Start(s); err == nil || !strings.Contains(err.Error(), "cannot restrict its access to files: "+link+" has become a symbolic link") {
		t.Errorf("a path that became a link: %v", err)
	}
}

// TestEnter checks that the descriptors of namespaces arrive together with the files.
func TestEnter(t *testing.T) {
	n, err := netns.Open("", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	c := New("enter", "", 0)
	defer c.Close(context.Background(), 0)
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	null, _ := os.Open(os.DevNull)
	defer null.Close()
	p, err := c.Start(proc.Spec{Step: "s", Path: "/bin/sh", Args: []string{"sh", "-c", "readlink /proc/self/ns/net; ls /proc/self/fd"},
		Env: []string{"PATH=/usr/bin:/bin"}, Dir: "/", Files: [3]*os.File{null, w, w}, Enter: n.Files})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	out, _ := io.ReadAll(r)
	if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
		t.Error(e, err)
	}
	namespace, _ := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", n.Files[len(n.Files)-1].Fd()))
	if want := namespace + "\n0\n1\n2\n3\n"; string(out) != want { // 3 is the folder itself
		t.Errorf("printed %q, want %q", out, want)
	}
}

func TestNothingStarted(t *testing.T) {
	if _, err := New("none", "", 0).Close(context.Background(), 0); err != nil {
		t.Error(err)
	}
}

// Stop ends all processes of a step, whatever they do.
func TestTrees(t *testing.T) {
	rounds := sizetest.Of(2, 6, 6)
	const grace = 100 * time.Millisecond
	for round := range rounds {
		tag := fmt.Sprintf("4%d%03d", os.Getpid(), round)
		c := New("trees"+tag, "", 0)
		var wg sync.WaitGroup
		for i, script := range escapes(tag) {
			p, err := startIn(c, "trees"+tag, fmt.Sprint("s", i), script, false)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(context.Background(), time.Duration(rand.IntN(60))*time.Millisecond)
			defer cancel()
			wg.Go(func() {
				if _, err := p.Wait(ctx); err == nil {
					t.Errorf("%s ended by itself", script)
					return
				}
				began := time.Now()
				if _, left := p.Stop(grace, nil); len(left) > 0 {
					t.Errorf("left %v: %s", left, script)
				}
				if took := time.Since(began); took > waittest.Limit { // the processes sleep for 300 s
					t.Errorf("stopping took %v: %s", took, script)
				}
			})
		}
		wg.Wait()
		if report, err := c.Close(context.Background(), grace); err != nil || len(report.Escaped) > 0 {
			t.Error(report, err)
		}
		if left := living(tag); len(left) > 0 {
			t.Errorf("round %d: %v", round, left)
			gone(t, tag)
		}
	}
}

func TestForce(t *testing.T) {
	c := New("force", "", 0)
	ready := filepath.Join(t.TempDir(), "ready")
	p, err := startIn(c, "force", "s", "trap '' TERM; : >"+ready+"; while :; do sleep 0.01; done", false)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Exists(t, ready)
	const grace = 4 * time.Minute
	force := make(chan struct{})
	time.AfterFunc(50*time.Millisecond, func() { close(force) })
	began := time.Now()
	e, left := p.Stop(grace, force)
	if e.Signal != syscall.SIGKILL || len(left) > 0 || time.Since(began) >= grace {
		t.Error(e, left, time.Since(began))
	}
	c.Close(context.Background(), 0)
}

// Close ends background processes and reports them. Those of detached steps stay. When ctx is done,
// the grace period ends.
func TestCloseEndsBackground(t *testing.T) {
	tag := fmt.Sprintf("5%d", os.Getpid())
	c := New("bg"+tag, "", 0)
	for i, script := range []string{"(trap '' TERM; sleep 300." + tag + ") &", "(setsid sleep 400." + tag + " &)"} {
		p, err := startIn(c, "bg"+tag, fmt.Sprint("s", i), script, i == 1)
		if err != nil {
			t.Fatal(err)
		}
		if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
			t.Fatal(e, err)
		}
	}
	waittest.Until(t, "both that sleep", func() bool { return asleep("300."+tag) == 1 && asleep("400."+tag) == 1 })
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Close(ctx, time.Minute); err != nil {
		t.Error(err)
	}
	gone(t, "300."+tag)
	left := living("400." + tag)
	if len(left) != 1 {
		t.Errorf("detached: %v", left)
	}
	for pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// When the program is killed, nothing that it started survives.
func TestProgramKilled(t *testing.T) {
	tag := fmt.Sprintf("6%d", os.Getpid())
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asEngine+"="+tag)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line := make([]byte, 64)
	n, _ := out.Read(line)
	if string(line[:n]) != "ready\n" {
		t.Fatalf("engine said %q", line[:n])
	}
	n = len(escapes(tag)) - 1 // one process has stopped itself
	waittest.Until(t, fmt.Sprintf("%d scripts", n), func() bool { return asleep("300."+tag) >= n }, func() any { return living("300." + tag) })
	cmd.Process.Kill()
	cmd.Wait()
	gone(t, "300."+tag)
}

// When the supervisor is killed, steps report it, and Close ends everything that carries the mark
// of the run.
func TestSupervisorKilled(t *testing.T) {
	tag := fmt.Sprintf("7%d", os.Getpid())
	c := New("hk"+tag, "", 0)
	p, err := startIn(c, "hk"+tag, "s", "sleep 300."+tag+" & setsid sleep 300."+tag, false)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "both that sleep", func() bool { return asleep("300."+tag) == 2 })
	c.process.Kill()
	if _, err := p.Wait(context.Background()); !errors.Is(err, errSupervisorGone) {
		t.Error(err)
	}
	if _, err := c.Close(context.Background(), time.Second); err != nil {
		t.Error(err)
	}
	gone(t, "300."+tag)
}

func BenchmarkTrue(b *testing.B) {
	c := New("bench", "", 0)
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	defer null.Close()
	env := append(os.Environ(), procid.MarkOwner+"=bench")
	for b.Loop() {
		p, err := c.Start(proc.Spec{Step: "s", Path: "/bin/true", Args: []string{"true"}, Env: env, Files: [3]*os.File{null, null, null}})
		if err != nil {
			b.Fatal(err)
		}
		p.Wait(context.Background())
	}
	c.Close(context.Background(), 0)
}
