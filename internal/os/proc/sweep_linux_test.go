package proc

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/os/cgroup"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// asOwner in the environment makes the test program start processes until it is killed: "PLACE
// NOLEAF DETACH SECONDS".
const asOwner = "PROC_TEST_OWNER"

func beOwner(words string) {
	var dir, seconds string
	var noLeaf, detach bool
	if _, err := fmt.Sscan(words, &dir, &noLeaf, &detach, &seconds); err != nil {
		panic(err)
	}
	if err := BecomeReaper(); err != nil {
		panic(err)
	}
	g := Open(procid.Mark("swept", 1), procid.DomainOf(dir))
	g.withoutLeaf = noLeaf
	null, _ := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	script := "(env -i setsid sh -c 'sleep " + seconds + " & exec sleep " + seconds + "' &)"
	if _, err := g.Start(Spec{Path: "/bin/sh", Args: []string{"sh", "-c", script}, Env: []string{"PATH=" + os.Getenv("PATH")},
		Files: [3]*os.File{null, null, null}, Detach: detach}); err != nil {
		panic(err)
	}
	fmt.Println("started")
	select {}
}

// own starts an owner, waits until its processes are running, and returns a function that kills it.
func own(t *testing.T, dir string, noLeaf, detach bool, tag string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), fmt.Sprintf("%s=%s %t %t 300.%s", asOwner, dir, noLeaf, detach, tag))
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	dead := false
	kill = func() {
		if !dead {
			dead = true
			c.Process.Kill()
			c.Wait()
		}
	}
	t.Cleanup(func() {
		kill()
		exec.Command("pkill", "-KILL", "-f", "sleep 300."+tag).Run()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatalf("%q %v", line, err)
	}
	awaitAsleep(t, "300."+tag, 2)
	return kill
}

// Sweep ends what a killed owner left, even without its environment, its session and its parent. It
// does not touch processes of a living owner, of a detached step, or of another domain.
func TestSweep(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	domain := procid.DomainOf(dir)
	for i, c := range []struct {
		what           string
		dir            string
		noLeaf, detach bool
		lives          bool
		left           int
	}{
		{"in a leaf", dir, false, false, false, 0},
		{"without a leaf", dir, true, false, false, 0},
		{"of a living owner", dir, false, false, true, 2},
		{"of a living owner, without a leaf", dir, true, false, true, 2},
		{"of a detached step", dir, false, true, false, 2},
		{"of another domain", elsewhere, false, false, false, 2},
		{"of another domain, without a leaf", elsewhere, true, false, false, 2},
	} {
		tag := fmt.Sprintf("85%d%d", i, os.Getpid())
		kill := own(t, c.dir, c.noLeaf, c.detach, tag)
		if !c.lives {
			kill()
		}
		report, err := Sweep(context.Background(), domain, time.Second)
		if err != nil || len(report.Escaped) > 0 || len(report.Ended) != 2-c.left {
			t.Errorf("%s: %+v, %v", c.what, report, err)
		}
		if n := len(living("300." + tag)); n != c.left {
			t.Errorf("%s: %d live, want %d", c.what, n, c.left)
		}
		if c.left == 0 && abandonedLeaf(domain) {
			t.Errorf("%s: its leaf is still there", c.what)
		}
		if c.dir != dir { // the next owner of the run still ends it, if it can find it
			Recover("swept", domain, nil).Close(context.Background(), time.Second)
			if n := len(living("300." + tag)); !c.noLeaf && cgroup.OwnCgroup() != "" && n > 0 {
				t.Errorf("%s: %d live when the run was taken over", c.what, n)
			}
		}
	}
}

// A Tag identifies its process, and other texts are not tags.
func TestTag(t *testing.T) {
	if none := procid.Domain(0); none.Abandoned("4194304.5.0") {
		t.Error("without a domain nothing is abandoned")
	}
	domain := procid.DomainOf(t.TempDir())
	at := domain.Tag()[strings.LastIndexByte(domain.Tag(), '.')+1:]
	for tag, want := range map[string]bool{
		domain.Tag():             false,
		"1.1." + at:              true, // the pid was reused
		"4194304.5." + at:        true,
		"4194304.5.0":            false,
		"4194304.5.fffffff":      false,
		"4194304.5." + at + "x":  false,
		"4194304.5." + at + ".1": false,
		"+4194304.5." + at:       false,
		"4194304.5":              false,
		"":                       false,
	} {
		if got := domain.Abandoned(tag); got != want {
			t.Errorf("%q: %t, want %t", tag, got, want)
		}
	}
}

// The name of a leaf contains its run and its process.
func TestLeafName(t *testing.T) {
	for _, run := range []string{"1m80x8swekrvj", "a-b.c", "x/../y", strings.Repeat("long", 100)} {
		name := cgroup.LeafName(procid.Mark(run, 3), 7)
		mark, tag, ok := cgroup.ParseLeaf(name)
		if !ok || tag != procid.Domain(7).Tag() || len(name) > 250 || strings.Contains(name, "/") {
			t.Errorf("%q: %q %q %t", name, mark, tag, ok)
		}
		if g := Recover(run, 7, nil); !g.leafBelongs(name) {
			t.Errorf("%q is not found by its run", name)
		}
		if g := Recover(run+"x", 7, nil); g.leafBelongs(name) {
			t.Errorf("%q is found by another run", name)
		}
		if !Reopen(procid.Mark(run, 3), 7, nil).leafBelongs(name) || Reopen(procid.Mark(run, 4), 7, nil).leafBelongs(name) {
			t.Errorf("%q: the epoch does not count", name)
		}
	}
	if Recover("", 7, nil).leafBelongs(cgroup.LeafName("", 7)) {
		t.Error("what may outlive its run is found by it")
	}
	for _, name := range []string{"flowrun-17-1", "user.slice", "flowrun-"} {
		if Recover("17", 7, nil).leafBelongs(name) {
			t.Errorf("%q is taken for a leaf", name)
		}
	}
}

// A birthmark distinguishes a living owner from one that has ended, and from any other limit.
func TestBirthmark(t *testing.T) {
	if none := procid.Domain(0); none.Birthmark() != 0 || none.Orphaned(1) {
		t.Error("there is a birthmark without a domain")
	}
	domain := procid.DomainOf(t.TempDir())
	own := domain.Birthmark()
	for what, c := range map[string]struct {
		mark uint64
		want bool
	}{
		"own":            {own, false},
		"another start":  {own ^ 1<<procid.PidBits, true},
		"no such pid":    {own&^(1<<procid.PidBits-1) | 1<<procid.PidBits - 1, true},
		"another domain": {own ^ 1<<(procid.PidBits+procid.StartBits), false},
		"another magic":  {own ^ 1<<(procid.PidBits+procid.StartBits+procid.DomainBits), false},
		"none":           {1<<64 - 1, false},
		"short":          {200000, false},
		"zero":           {0, false},
	} {
		if got := domain.Orphaned(c.mark); got != c.want {
			t.Errorf("%s: %t, want %t", what, got, c.want)
		}
	}
	if own>>63 != 0 {
		t.Errorf("%x is a negative number to some programs", own)
	}
}

// Children may have fewer processes than their user may have in total.
func TestMaxStepProcesses(t *testing.T) {
	for limit, want := range map[uint64]uint64{1<<64 - 1: 1<<64 - 1, 96365: 96317, 200: 152, 60: 45, 3: 3, 0: 0} {
		if got := procid.MaxStepProcesses(limit); got != want {
			t.Errorf("%d: %d, want %d", limit, got, want)
		}
	}
}

func BenchmarkSweepNothing(b *testing.B) {
	domain := procid.DomainOf(b.TempDir())
	for b.Loop() {
		if _, err := Sweep(context.Background(), domain, time.Second); err != nil {
			b.Fatal(err)
		}
	}
}
