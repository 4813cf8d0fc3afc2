package proc

import (
	"bytes"
	"context"
	"fmt"
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

	_ "github.com/flowrun/flowrun/internal/os/confine" // confines processes while the test program is initialized
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// asReaper in the environment makes the test program a subreaper. The tests run it again with it,
// so that the first process stays an ordinary one.
const asReaper = "PROC_TEST_REAPER"

func TestMain(m *testing.M) {
	if words := os.Getenv(asKept); words != "" || os.Args[0] == keeperName {
		KeeperMain() // does not return in a keeper
		beKept(words)
	}
	if os.Getenv(asReaper) != "" {
		if err := BecomeReaper(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	if step := os.Getenv(asOwner); step != "" {
		beOwner(step)
	}
	goleak.VerifyTestMain(m)
}

// tree writes a script whose processes sleep for a long time and try to escape in all known ways.
// tag is the fraction of the seconds that they sleep, by which the test finds them.
func tree(r *rand.Rand, tag string, depth int) string {
	sleep := "sleep 300." + tag
	branches := []string{
		sleep + " &",
		"(trap '' TERM; " + sleep + ") &",
		"setsid " + sleep + " &",
		"(setsid " + sleep + " &)",
		"(trap '' TERM HUP; setsid " + sleep + " &)",
		"(env -i setsid " + sleep + " &)",
		"(env -i " + sleep + " &)",
		sleep + " | " + sleep + " &",
		"{ " + sleep + " & kill -STOP $!; }",
		"(env -i setsid sh -c 'trap \"\" TERM; " + sleep + " & " + sleep + "' &)",
	}
	var b strings.Builder
	for range 1 + r.IntN(3) {
		if depth > 0 && r.IntN(3) == 0 {
			b.WriteString("( " + tree(r, tag, depth-1) + " wait ) &\n")
			continue
		}
		b.WriteString(branches[r.IntN(len(branches))] + "\n")
	}
	return b.String()
}

// living finds processes by the tag in their command line.
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
	delete(found, os.Getpid())
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

// awaitAsleep waits until n processes sleep for exactly this long.
func awaitAsleep(t *testing.T, seconds string, n int) {
	t.Helper()
	waittest.Until(t, fmt.Sprintf("%d that sleep", n), func() bool { return asleep(seconds) == n }, func() any { return living(seconds) })
}

func environ(mark, step string) []string {
	return append(os.Environ(), procid.MarkOwner+"="+mark, procid.MarkStep+"="+step)
}

func devNull(t testing.TB) *os.File {
	f, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

func start(t testing.TB, h Host, mark, step, script string) Process {
	t.Helper()
	null := devNull(t)
	p, err := h.Start(Spec{Step: step, Path: "/bin/sh", Args: []string{"sh", "-c", script},
		Env: environ(mark, step), Files: [3]*os.File{null, null, null}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Stop ends all processes that try to escape. If neither a leaf nor a reaper exists, survivors are
// at least reported.
func TestTrees(t *testing.T) {
	for _, noLeaf := range []bool{false, true} {
		t.Run(fmt.Sprintf("noLeaf=%t,reaper=%t", noLeaf, IsReaper()), func(t *testing.T) { testTrees(t, noLeaf) })
	}
}

func testTrees(t *testing.T, noLeaf bool) {
	const width, grace = 10, 100 * time.Millisecond
	rounds := sizetest.Of(1, 13, 50)
	for round := range rounds {
		run := fmt.Sprintf("run-%d-%d", os.Getpid(), round)
		g := Open(run, 0)
		g.withoutLeaf = noLeaf
		tag := fmt.Sprintf("%d%04d", os.Getpid(), round)
		var wg sync.WaitGroup
		for i := range width {
			r := rand.New(rand.NewPCG(uint64(round), uint64(i)))
			script := tree(r, tag, 2)
			if r.IntN(4) > 0 {
				script += "sleep 300." + tag
			}
			p := start(t, g, run, fmt.Sprint("step", i), script)
			wait := time.Duration(r.IntN(60)) * time.Millisecond
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), wait)
				defer cancel()
				if _, err := p.Wait(ctx); err == nil {
					return // a tree without its first process
				}
				began := time.Now()
				if _, survivors := p.Stop(grace, nil); len(survivors) > 0 {
					t.Errorf("survivors %v of\n%s", survivors, script)
				}
				if took := time.Since(began); took > waittest.Limit { // the processes sleep for 300 s
					t.Errorf("stopping took %v:\n%s", took, script)
				}
			})
		}
		wg.Wait()
		certain := g.leaf != nil || IsReaper() // this user may not be allowed a leaf
		report, err := g.Close(context.Background(), grace)
		if err != nil {
			t.Fatal(err)
		}
		known := map[int]bool{}
		for _, p := range report.Escaped {
			known[p.PID] = true
		}
		for pid, cmd := range living(tag) {
			if !certain && known[pid] {
				syscall.Kill(pid, syscall.SIGKILL)
				continue
			}
			t.Errorf("round %d: survivor %d %s (reported: %t)", round, pid, cmd, known[pid])
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if t.Failed() {
			return
		}
	}
}

func TestTreesAsReaper(t *testing.T) {
	if IsReaper() {
		t.Skip("this is the reaper")
	}
	args := []string{"-test.run=^(TestTrees|TestOrphansAreReaped|TestDetached|TestBackground|TestOwners|TestRecover|TestNoSignalAtExit)$", "-test.v"}
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asReaper+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("reaper=true")) {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestOrphansAreReaped(t *testing.T) {
	if !IsReaper() {
		t.Skip("runs again as a reaper")
	}
	g := Open("orphans", 0)
	for range 20 {
		p := start(t, g, "orphans", "s", "(setsid true &); (env -i setsid sleep 0.01 &)")
		if e, err := p.Wait(context.Background()); err != nil || e.Code != 0 {
			t.Fatal(e, err)
		}
	}
	if _, err := g.Close(context.Background(), time.Second); err != nil {
		t.Fatal(err)
	}
	if !hasNoChildren() {
		t.Error("children are left, dead or alive")
	}
}

// A reaper has no handler for SIGCHLD, which would wake a thread for each child that ends.
func TestNoSignalAtExit(t *testing.T) {
	if !IsReaper() {
		t.Skip("runs again as a reaper")
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(status), "SigCgt:")
	handled, err := strconv.ParseUint(strings.Fields(after)[0], 16, 64)
	if err != nil || handled&(1<<(syscall.SIGCHLD-1)) != 0 {
		t.Errorf("handled signals: %x, %v", handled, err)
	}
}

// A fork bomb whose processes leave every group cannot fork faster than kill ends them.
func TestForkBomb(t *testing.T) {
	tag := fmt.Sprintf("7%d", os.Getpid())
	run := "bomb" + tag
	g := Open(run, 0)
	p := start(t, g, run, "bomb", `f() { i=0; while [ $i -lt 400 ]; do i=$((i+1)); (setsid sleep 200.`+tag+` &) ; done; }; f & f & f & wait`)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if _, err := p.Wait(ctx); err == nil {
		t.Fatal("the bomb ended by itself")
	}
	if _, survivors := p.Stop(0, nil); len(survivors) > 0 {
		t.Errorf("%d survivors", len(survivors))
	}
	if _, err := g.Close(context.Background(), 0); err != nil {
		t.Fatal(err)
	}
	if n := len(living("200." + tag)); n > 0 {
		t.Errorf("%d are alive after Close", n)
	}
}
