package servertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// faultLimit limits a run in which something is lost. A worker counts as lost after 15 s.
const faultLimit = 5 * time.Minute

// chains is a definition with two chains of steps: those of one may run again when they are interrupted, those of
// the other must not. Each step writes to a file when it begins and when it ends.
func chains(length int) *testCase {
	var b strings.Builder
	b.WriteString("steps:\n")
	for _, rule := range []string{"retry", "fail"} {
		for i := range length {
			waits := "[]"
			if i > 0 {
				waits = fmt.Sprintf("[%s%d]", rule, i-1)
			}
			name := fmt.Sprintf("%s%d", rule, i)
			fmt.Fprintf(&b, "  - {name: %s, wait-for: %s, on-interrupt: %s, run-condition: always(), bash: 'echo + %s >> %s/effects; sleep 0.3; echo - %s >> %s/effects; echo made %s'}\n",
				name, waits, rule, name, dirMark, name, dirMark, name)
		}
	}
	return &testCase{name: "chains", text: b.String()}
}

// effects returns how often each step of chains began and ended.
func effects(dir string) (began, ended map[string]int) {
	began, ended = map[string]int{}, map[string]int{}
	text, _ := os.ReadFile(filepath.Join(dir, "effects"))
	for line := range strings.Lines(string(text)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "+ "); ok {
			began[name]++
		} else if name, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok {
			ended[name]++
		}
	}
	return began, ended
}

// checkEffects checks the end of a run of chains: nothing was lost, nothing that must not run twice did. It returns
// how many steps count as interrupted.
func checkEffects(t *testing.T, d document, dir string, length int) (interrupted int) {
	t.Helper()
	began, ended := effects(dir)
	for _, s := range d["steps"].([]any) {
		s := s.(map[string]any)
		name, status := s["id"].(string), s["status"]
		retried := strings.HasPrefix(name, "retry")
		switch {
		case !retried && status == "interrupted" && began[name] <= 1:
			interrupted++ // 0 if the worker was lost with the step, before it could begin
		case began[name] == 0:
			t.Errorf("%s never began: %v", name, s)
		case retried && (status != "succeeded" || ended[name] == 0):
			t.Errorf("%s may run again, and ended %v, %d times", name, status, ended[name])
		case !retried && began[name] > 1:
			t.Errorf("%s must not run twice, and began %d times", name, began[name])
		case status != "succeeded":
			t.Errorf("%s ended %v: %v", name, status, s["message"])
		case s["output"] != "made "+name+"\n":
			t.Errorf("the output of %s is %q", name, s["output"])
		}
	}
	if len(d["steps"].([]any)) != 2*length {
		t.Errorf("%d steps, want %d", len(d["steps"].([]any)), 2*length)
	}
	return interrupted
}

// startChains starts a run of chains and waits until so many steps have begun.
func startChains(t *testing.T, r *remote, dir string, length, steps int) *progress {
	t.Helper()
	p, err := r.start(t.Context(), chains(length), dir)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, fmt.Sprint(steps, " steps"), func() bool {
		began, _ := effects(dir)
		return len(began) >= steps
	})
	return p
}

func finish(t *testing.T, r *remote, p *progress) document {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), faultLimit)
	defer cancel()
	d, err := r.wait(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestKilledWorker: a worker is killed amid two steps. Another one continues: nothing is lost, and nothing runs twice
// that must not.
func TestKilledWorker(t *testing.T) {
	t.Parallel()
	rounds := sizetest.Of(2, 2, 50)
	s := startServer(t)
	program(t, "..", "cmd/flowrun-temporal")
	const length = 6
	atOnce := make(chan struct{}, 5)
	t.Run("rounds", func(t *testing.T) {
		for round := range rounds {
			t.Run(fmt.Sprint(round), func(t *testing.T) {
				t.Parallel()
				atOnce <- struct{}{}
				defer func() { <-atOnce }()
				queue, dir := fmt.Sprint("killed-", round), t.TempDir()
				w := startWorker(t, s, s.address, queue)
				r := newRemote(t, s, queue)
				random := rand.New(rand.NewPCG(22, uint64(round)))
				p := startChains(t, r, dir, length, 1+random.IntN(2*length-2))
				time.Sleep(time.Duration(random.IntN(300)) * time.Millisecond) // any moment in a step, or between two
				w.kill()
				startWorker(t, s, s.address, queue)
				n := checkEffects(t, finish(t, r, p), dir, length)
				if n > 1 {
					t.Errorf("%d steps were interrupted, at most one that must not run twice was running", n)
				}
				t.Logf("%d interrupted", n)
			})
		}
	})
}

// TestDrainedWorker: a worker that is stopped with TERM first lets its steps end, so that a new release of the worker
// interrupts nothing.
func TestDrainedWorker(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	w, r, dir := startWorker(t, s, s.address, "drained"), newRemote(t, s, "drained"), t.TempDir()
	p := startChains(t, r, dir, 6, 3)
	startWorker(t, s, s.address, "drained")
	w.drain()
	if n := checkEffects(t, finish(t, r, p), dir, 6); n > 0 {
		t.Errorf("%d steps were interrupted", n)
	}
}

// TestKilledServer: the server is killed and started again on its database while steps run.
func TestKilledServer(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "server")
	r, dir := newRemote(t, s, "server"), t.TempDir()
	p := startChains(t, r, dir, 6, 3)
	s.kill()
	time.Sleep(time.Second) // the steps that ran end meanwhile
	s.start()
	if n := checkEffects(t, finish(t, r, p), dir, 6); n > 1 { // one if the machine is so slow that the worker counts as lost
		t.Errorf("%d steps were interrupted, at most one that must not run twice was running", n)
	}
}

// TestCutNetwork: the worker cannot reach the server for a while. What it was doing follows on-interrupt.
func TestCutNetwork(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	line := startProxy(t, s.address)
	startWorker(t, s, line.address, "cut")
	r, dir := newRemote(t, s, "cut"), t.TempDir()
	p := startChains(t, r, dir, 6, 3)
	line.set(cut)
	time.Sleep(sizetest.Of(20*time.Second, 20*time.Second, time.Minute)) // longer than a worker may be silent
	line.set(carries)
	if n := checkEffects(t, finish(t, r, p), dir, 6); n > 1 {
		t.Errorf("%d steps were interrupted, at most one that must not run twice was running", n)
	}
}

// TestUnreachableServer: a worker cannot reach the server. If that is short, its step continues. Otherwise the worker ends
// the step before the server lets another worker run it again, although the step ignores TERM, and later starts none
// that the server has given to it in vain.
func TestUnreachableServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name      string
		line      lineState
		time      time.Duration
		processes int
	}{
		{"short", cut, 6 * time.Second, 1},
		{"cut", cut, 25 * time.Second, 2},
		{"silent", silent, 25 * time.Second, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t)
			line := startProxy(t, s.address)
			startWorker(t, s, line.address, "lost")
			r, dir := newRemote(t, s, "lost"), t.TempDir()
			p, err := r.start(t.Context(), &testCase{name: "lost", text: "steps:\n  - name: a\n    on-interrupt: retry\n    bash: |\n      trap '' TERM\n" +
				"      for i in {1..150}; do echo $$ >> " + dirMark + "/effects; sleep 0.2; done\n"}, dir)
			if err != nil {
				t.Fatal(err)
			}
			effects := func() []string {
				text, _ := os.ReadFile(filepath.Join(dir, "effects"))
				return strings.Fields(string(text))
			}
			waittest.Until(t, "an effect", func() bool { return len(effects()) > 0 })
			startWorker(t, s, s.address, "lost")
			line.set(c.line)
			time.Sleep(c.time)
			line.set(carries)
			if d := finish(t, r, p); d["status"] != "succeeded" {
				t.Errorf("%v: %v", d["status"], d["message"])
			}
			var seen []string
			for _, process := range slices.Compact(effects()) {
				if slices.Contains(seen, process) {
					t.Fatalf("process %s had effects after those of another had begun", process)
				}
				seen = append(seen, process)
			}
			if len(seen) != c.processes {
				t.Errorf("the step ran in %d processes, want %d", len(seen), c.processes)
			}
		})
	}
}
