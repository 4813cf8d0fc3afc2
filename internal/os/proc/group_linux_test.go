package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

func TestExit(t *testing.T) {
	g := Open("exit", 0)
	defer g.Close(context.Background(), 0)
	for script, want := range map[string]Exit{
		"exit 0":        {},
		"exit 7":        {Code: 7},
		"kill -TERM $$": {Code: 143, Signal: syscall.SIGTERM},
		"kill -KILL $$": {Code: 137, Signal: syscall.SIGKILL},
	} {
		got, err := start(t, g, "exit", "s", script).Wait(context.Background())
		got.Usage = Usage{}
		if err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", script, got, err, want)
		}
	}
}

// The CPU time of a process and of those that it waited for is counted. Peak memory is known if it is
// more than this process has used.
func TestUsage(t *testing.T) {
	g := Open("usage", 0)
	defer g.Close(context.Background(), 0)
	for script, check := range map[string]func(Usage) bool{
		"exit 0": func(u Usage) bool { return u.MaxRSS == 0 },
		"dd if=/dev/zero of=/dev/null bs=200M count=1 2>/dev/null; exit 0":  func(u Usage) bool { return u.MaxRSS >= 200<<20 && u.MaxRSS < 250<<20 && u.User+u.System > 0 },
		"i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done":                 func(u Usage) bool { return u.User+u.System > 20*time.Millisecond },
		"sh -c 'i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done'; exit 0": func(u Usage) bool { return u.User+u.System > 20*time.Millisecond },
	} {
		exit, err := start(t, g, "usage", "s", script).Wait(context.Background())
		if err != nil || exit.Code != 0 || !check(exit.Usage) {
			t.Errorf("%s: %+v, %v", script, exit, err)
		}
	}
}

func TestStartFails(t *testing.T) {
	g := Open("fails", 0)
	defer g.Close(context.Background(), 0)
	null := devNull(t)
	files := [3]*os.File{null, null, null}
	for path, want := range map[string]error{"/no/such": syscall.ENOENT, "/etc": syscall.EACCES} {
		if _, err := g.Start(Spec{Path: path, Args: []string{"x"}, Files: files}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
	}
}

// Waiting and stopping work the same without a pidfd.
func TestWithoutPidfd(t *testing.T) {
	g := Open("nopidfd", 0)
	g.setUpOnce.Do(func() {}) // so it has no exitQueue
	defer g.Close(context.Background(), 0)
	for _, script := range []string{"exit 3", "sleep 300"} {
		c := start(t, g, "nopidfd", "s", script).(*child)
		limit := waittest.Limit
		if script != "exit 3" {
			limit = 200 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		got, err := c.Wait(ctx)
		cancel()
		if script == "exit 3" {
			if err != nil || got.Code != 3 {
				t.Error(got, err)
			}
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if got, left := c.Stop(waittest.Limit, nil); got.Code != 143 || len(left) > 0 {
			t.Error(got, left)
		}
	}
}

// The grace period is over as soon as everything has ended, and force ends it early.
func TestGrace(t *testing.T) {
	g := Open("grace", 0)
	defer g.Close(context.Background(), 0)
	cancelled, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	cancel(cause)
	force := make(chan struct{})
	close(force)
	const grace = 4 * time.Minute
	for i, c := range []struct {
		script string
		force  chan struct{}
		want   int
	}{
		{"trap 'exit 5' TERM; : >READY; while :; do sleep 0.01; done", nil, 5},
		{"trap '' TERM; : >READY; while :; do sleep 0.01; done", force, 137},
		{"echo $$ >READY.new; mv READY.new READY; kill -STOP $$; exit 4", nil, 143},
	} {
		ready := filepath.Join(t.TempDir(), fmt.Sprint(i))
		p := start(t, g, "grace", "s", strings.ReplaceAll(c.script, "READY", ready))
		waittest.Exists(t, ready)
		if text, err := os.ReadFile(ready); err != nil {
			t.Fatal(err)
		} else if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil { // TERM must not come before it stops
			becomes(t, pid, 'T')
		}
		if _, err := p.Wait(cancelled); err != cause {
			t.Errorf("%s: Wait said %v", c.script, err)
		}
		began := time.Now()
		e, left := p.Stop(grace, c.force)
		if e.Code != c.want || len(left) > 0 || time.Since(began) >= grace {
			t.Errorf("%s: %v, %v after %v, want %d", c.script, e, left, time.Since(began), c.want)
		}
	}
}

// What a successful step leaves in the background lives until the run ends.
func TestBackground(t *testing.T) {
	tag := fmt.Sprintf("8%d", os.Getpid())
	for _, noLeaf := range []bool{false, true} {
		g := Open("bg"+tag, 0)
		g.withoutLeaf = noLeaf
		p := start(t, g, "bg"+tag, "s", "sleep 300."+tag+" & (setsid sleep 300."+tag+" &)")
		if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
			t.Fatal(e, err)
		}
		awaitAsleep(t, "300."+tag, 2)
		report, err := g.Close(context.Background(), time.Second)
		if err != nil || len(report.Escaped) > 0 {
			t.Error(report, err)
		}
		if len(report.Ended) != 2 || !strings.Contains(Names(report.Ended), "sleep (pid ") {
			t.Errorf("noLeaf %t: ended %v", noLeaf, report.Ended)
		}
		if left := living("300." + tag); len(left) > 0 {
			t.Errorf("noLeaf %t: %v live", noLeaf, left)
		}
	}
}

// What a detached step leaves in the background outlives the run.
func TestDetached(t *testing.T) {
	tag := fmt.Sprintf("9%d", os.Getpid())
	g := Open("detached"+tag, 0)
	null := devNull(t)
	p, err := g.Start(Spec{Step: "d", Path: "/bin/sh", Args: []string{"sh", "-c", "sleep 300." + tag + " & (env -i setsid sleep 300." + tag + " &)"},
		Env: environ("detached"+tag, "d"), Files: [3]*os.File{null, null, null}, Detach: true})
	if err != nil {
		t.Fatal(err)
	}
	other := start(t, g, "detached"+tag, "other", "sleep 299."+tag+" &")
	for _, p := range []Process{p, other} {
		if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
			t.Fatal(e, err)
		}
	}
	awaitAsleep(t, "300."+tag, 2)
	awaitAsleep(t, "299."+tag, 1)
	report, err := g.Close(context.Background(), 0)
	if err != nil || len(report.Ended) != 1 || len(report.Escaped) > 0 {
		t.Error(report, err)
	}
	left := living("300." + tag)
	if len(left) != 2 {
		t.Errorf("%v left, want both", left)
	}
	for pid := range left {
		syscall.Kill(pid, syscall.SIGKILL)
	}
}

// Many waiting children use no threads.
func TestThreads(t *testing.T) {
	g := Open("threads", 0)
	var ps []Process
	before := threads(t)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range 256 {
		p := start(t, g, "threads", "s", "exec sleep 300")
		ps = append(ps, p)
		wg.Go(func() { p.Wait(ctx) })
	}
	if now := threads(t); now > before+128 { // a thread beside each child would be 256
		t.Errorf("%d threads with 256 children, %d before", now, before)
	}
	cancel()
	wg.Wait()
	for _, p := range ps {
		wg.Go(func() { p.Stop(time.Second, nil) })
	}
	wg.Wait()
	if _, err := g.Close(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
}

func threads(t *testing.T) int {
	dirs, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	return len(dirs)
}

func TestParseStat(t *testing.T) {
	for _, c := range []struct {
		line string
		ok   bool
		name string
		ppid int
		fork bool
	}{
		{"12 (sleep) S 7 12 3 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0", true, "sleep", 7, false},
		{"12 (flowrun) S 7 12 3 0 -1 4194368 1 0 0 0 0 0 0 0 20 0 1 0 4711 0", true, "flowrun", 7, true},
		{"12 (a) b) (c) S 7 12 3 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0", true, "a) b) (c", 7, false},
		{"12 (x) S 7", false, "", 0, false},
		{"", false, "", 0, false},
		{")(", false, "", 0, false},
	} {
		e, ok := procid.ParseStat(c.line)
		if ok != c.ok || ok && (e.Name != c.name || e.Parent != c.ppid || e.BeforeExec != c.fork || e.Start != 4711) {
			t.Errorf("%q: %+v %t", c.line, e, ok)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add("12 (sleep) S 7 12 3 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 4711 0")
	f.Fuzz(func(t *testing.T, line string) {
		if e, ok := procid.ParseStat(line); ok && !strings.Contains(line, "("+e.Name+")") {
			t.Errorf("name %q is not in %q", e.Name, line)
		}
	})
}

func TestParseMarks(t *testing.T) {
	mark, step := procid.ParseMarks([]byte("A=1\x00FLOWRUN_STEP=a/b\x00XFLOWRUN_OWNER=no\x00FLOWRUN_RUN=r1\x00FLOWRUN_OWNER=r1.2\x00"))
	if mark != "r1.2" || step != "a/b" {
		t.Error(mark, step)
	}
}

// A process set follows descent, groups and marks, and is not confused by reused pids.
func TestProcessSet(t *testing.T) {
	none := func(*procid.Entry) bool { return false }
	at := func(pid, ppid, pgid, sid int, start uint64) procid.Entry {
		return procid.Entry{Info: procid.Info{PID: pid}, Parent: ppid, Group: pgid, Session: sid, Start: start, State: 'S'}
	}
	marked := at(50, 1, 50, 50, 9)
	marked.Mark, marked.Step = "r.1", "s"
	trail := newProcessSet(exactMark("r.1"), "s")
	root := at(10, 5, 10, 2, 5)
	trail.add(&root)
	pids := func(list []procid.Entry) (out []int) {
		for _, e := range list {
			out = append(out, e.PID)
		}
		return out
	}
	first := procid.Table{at(12, 11, 12, 12, 6), at(11, 10, 10, 2, 6), root, at(13, 1, 10, 2, 7), marked, at(60, 1, 60, 60, 9)}
	if d := cmp.Diff([]int{12, 11, 10, 13, 50}, pids(trail.update(first, none))); d != "" {
		t.Error(d)
	}
	// 12 has ended and its session still exists; pid 11 was reused.
	second := procid.Table{at(14, 1, 12, 12, 8), at(11, 3, 11, 11, 99), at(15, 11, 11, 11, 100)}
	if d := cmp.Diff([]int{14}, pids(trail.update(second, none))); d != "" {
		t.Error(d)
	}
}

func BenchmarkStart(b *testing.B) {
	null := devNull(b)
	env := environ("bench", "s")
	b.Run("group", func(b *testing.B) {
		g := Open("bench", 0)
		for b.Loop() {
			p, err := g.Start(Spec{Step: "s", Path: "/bin/true", Args: []string{"true"}, Env: env, Files: [3]*os.File{null, null, null}})
			if err != nil {
				b.Fatal(err)
			}
			p.Wait(context.Background())
		}
		g.Close(context.Background(), 0)
	})
	b.Run("bare", func(b *testing.B) {
		fd := null.Fd()
		for b.Loop() {
			pid, err := syscall.ForkExec("/bin/true", []string{"true"}, &syscall.ProcAttr{Env: env, Files: []uintptr{fd, fd, fd}})
			if err != nil {
				b.Fatal(err)
			}
			syscall.Wait4(pid, nil, 0, nil)
		}
	})
}
