package proc

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/internal/os/procid"
)

// leave starts a step that leaves two processes behind and waits until both are running. One of
// them can be found only by its mark.
func leave(t *testing.T, g *Group, mark, step, tag string) {
	t.Helper()
	p := start(t, g, mark, step, "sleep 300."+tag+" & (setsid sleep 300."+tag+" &)")
	if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
		t.Fatal(e, err)
	}
	awaitAsleep(t, "300."+tag, 2)
}

func expectLiving(t *testing.T, want map[string]int) {
	t.Helper()
	for tag, n := range want {
		if got := living("300." + tag); len(got) != n {
			t.Errorf("%s: %v live, want %d", tag, got, n)
		}
	}
}

// An owner that has lost its run ends what it started, and nothing of the next owner.
func TestOwners(t *testing.T) {
	for i, noLeaf := range []bool{false, true} {
		run := fmt.Sprintf("owners%d-%d", os.Getpid(), i)
		first, second := fmt.Sprintf("81%d%d", i, os.Getpid()), fmt.Sprintf("82%d%d", i, os.Getpid())
		g1, g2 := Open(procid.Mark(run, 1), 0), Open(procid.Mark(run, 2), 0)
		g1.withoutLeaf, g2.withoutLeaf = noLeaf, noLeaf
		leave(t, g1, procid.Mark(run, 1), "s", first)
		leave(t, g2, procid.Mark(run, 2), "s", second)
		if _, err := g1.Close(context.Background(), time.Second); err != nil {
			t.Error(err)
		}
		expectLiving(t, map[string]int{first: 0, second: 2})
		if _, err := g2.Close(context.Background(), time.Second); err != nil {
			t.Error(err)
		}
		expectLiving(t, map[string]int{second: 0})
	}
}

// A new owner ends what every owner before it left, but nothing of detached steps or of other runs.
func TestRecover(t *testing.T) {
	run := fmt.Sprintf("recover%d", os.Getpid())
	tags := make([]string, 4)
	var open []*Group
	for i, c := range []struct{ run, mark, step string }{
		{run, procid.Mark(run, 1), "s"},
		{run, procid.Mark(run, 2), "s"},
		{run, procid.Mark(run, 2), "loose"},
		{run + ".1", procid.Mark(run+".1", 1), "s"},
	} {
		tags[i] = fmt.Sprintf("83%d%d", i, os.Getpid())
		g := Open(c.mark, 0)
		g.withoutLeaf = true
		leave(t, g, c.mark, c.step, tags[i])
		open = append(open, g)
	}
	report, err := Recover(run, 0, []string{"loose"}).Close(context.Background(), time.Second)
	if err != nil || len(report.Ended) != 4 || len(report.Escaped) > 0 {
		t.Error(report, err)
	}
	expectLiving(t, map[string]int{tags[0]: 0, tags[1]: 0, tags[2]: 2, tags[3]: 2})

	report, err = Reopen(procid.Mark(run, 1), 0, nil).Close(context.Background(), time.Second)
	if err != nil || len(report.Ended) > 0 {
		t.Error("there was nothing left:", report, err)
	}
	for _, mark := range []string{procid.Mark(run, 2), procid.Mark(run+".1", 1)} {
		report, err := Reopen(mark, 0, nil).Close(context.Background(), time.Second)
		if err != nil || len(report.Ended) != 2 {
			t.Error(mark, report, err)
		}
	}
	expectLiving(t, map[string]int{tags[2]: 0, tags[3]: 0})
	for _, g := range open {
		g.Close(context.Background(), 0)
	}
}

// Recover waits until a process that a killed owner forked has executed its program, because it has
// no mark before. Forks of other programs may never execute anything.
func TestAwaitExec(t *testing.T) {
	self := procid.Entry{Info: procid.Info{PID: os.Getpid(), Name: "flowrun"}, Parent: 50, State: 'R'}
	shell := procid.Entry{Info: procid.Info{PID: 50, Name: "bash"}, Parent: 1, State: 'S'}
	for _, c := range []struct {
		what string
		e    procid.Entry
		want bool
	}{
		{"a fork of a dead engine", procid.Entry{Info: procid.Info{Name: "flowrun"}, Parent: 1, State: 'R', BeforeExec: true}, true},
		{"one that a process above inherited", procid.Entry{Info: procid.Info{Name: "flowrun"}, Parent: 50, State: 'R', BeforeExec: true}, true},
		{"a fork of a living engine", procid.Entry{Info: procid.Info{Name: "flowrun"}, Parent: 60, State: 'R', BeforeExec: true}, false},
		{"a dead fork", procid.Entry{Info: procid.Info{Name: "flowrun"}, Parent: 1, State: 'Z', BeforeExec: true}, false},
		{"another program's fork", procid.Entry{Info: procid.Info{Name: "postgres"}, Parent: 1, State: 'S', BeforeExec: true}, false},
		{"a program that begins", procid.Entry{Info: procid.Info{Name: "sh"}, Parent: 1, State: 'R', NoEnviron: true, Start: procid.Now()}, true},
		{"a program without an environment", procid.Entry{Info: procid.Info{Name: "sh"}, Parent: 1, State: 'S', NoEnviron: true}, false},
		{"a program", procid.Entry{Info: procid.Info{Name: "sh"}, Parent: 1, State: 'S', Start: procid.Now()}, false},
	} {
		c.e.PID = 70
		if got := anyBeforeExec(procid.Table{shell, self, c.e}); got != c.want {
			t.Errorf("%s: %t, want %t", c.what, got, c.want)
		}
	}
}

// A process that was forked just before its parent got TERM gets TERM too, if the parent has ended.
func TestTermLate(t *testing.T) {
	null := devNull(t)
	var pids [3]int
	for i := range pids {
		p, err := os.StartProcess("/bin/sleep", []string{"sleep", "600"}, &os.ProcAttr{Files: []*os.File{null, null, null}})
		if err != nil {
			t.Fatal(err)
		}
		pids[i] = p.Pid
		defer func() {
			p.Kill()
			p.Wait()
		}()
	}
	looks := 0
	h := &termination{find: func() (list []procid.Entry) {
		looks++
		for i, pid := range pids {
			e, ok := procid.ReadEntry(pid, make([]byte, 1024))
			if i > 0 && looks == 1 || !ok || e.Dead() {
				continue
			}
			if i == 2 { // reported as a child of the second
				e.Parent = pids[1]
			}
			list = append(list, e)
		}
		return list
	}}
	const grace = 2 * time.Minute
	began := time.Now()
	found, survivors := h.run(grace, nil)
	if len(found) != 1 || len(survivors) > 0 {
		t.Error(found, survivors)
	}
	if took := time.Since(began); took >= grace {
		t.Errorf("it took %v: nothing reported what was found late", took)
	}
	if looks < 3 {
		t.Errorf("%d looks", looks)
	}
}

// On a machine so busy that one read of the process table takes as long as ending may take, a
// process that was just killed is checked again before it counts as a survivor.
func TestSlowSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		h := &termination{find: func() []procid.Entry {
			time.Sleep(MaxKillTime)
			if looks++; looks > 3 {
				return nil
			}
			return []procid.Entry{{Info: procid.Info{PID: 1 << 30}, State: 'R'}} // a pid that nobody has
		}}
		if _, survivors := h.run(0, nil); len(survivors) > 0 {
			t.Errorf("%v survive after %d looks", survivors, looks)
		}
	})
}

// Without a mark, no process counts as one of a run.
func TestNoMark(t *testing.T) {
	tag := fmt.Sprintf("84%d", os.Getpid())
	g := Open("", 0)
	g.withoutLeaf = true
	null := devNull(t)
	p, err := g.Start(Spec{Path: "/bin/sleep", Args: []string{"sleep", "300." + tag}, Detach: true,
		Env: os.Environ(), Files: [3]*os.File{null, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	for _, foreign := range []*Group{Reopen("", 0, nil), Recover("", 0, nil)} {
		if report, err := foreign.Close(context.Background(), 0); err != nil || len(report.Ended) > 0 {
			t.Error(report, err)
		}
		if _, err := foreign.Start(Spec{Path: "/bin/true"}); err == nil {
			t.Error("a process was started in a group that only ends things")
		}
	}
	awaitAsleep(t, "300."+tag, 1) // a process has no command line for a moment while it executes its program
	syscall.Kill(p.PID(), syscall.SIGKILL)
	p.Wait(context.Background())
	g.Close(context.Background(), 0)
}

func BenchmarkRecoverNothing(b *testing.B) {
	for b.Loop() {
		if _, err := Recover("no-such-run", 0, nil).Close(context.Background(), time.Second); err != nil {
			b.Fatal(err)
		}
	}
}
