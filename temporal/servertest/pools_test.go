package servertest

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
	shown "github.com/flowrun/flowrun/temporal/internal/remote"
)

// pooled is a run of six steps with a pool. Each writes to a file when it begins and when it ends.
var pooled = &testCase{name: "pooled", text: "steps:\n  - {name: first, run: echo first}\n" +
	"  - {name: l, for-each: {items: 1..6}, pool: gpu, on-interrupt: retry, bash: 'echo + {item} $PPID >> " + dirMark + "/effects; sleep 0.5; echo - {item} $PPID >> " + dirMark + "/effects'}\n"}

// mostAtOnce returns how many steps of pooled ran at once at most, by what they wrote.
func mostAtOnce(t *testing.T, dir string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "effects"))
	if err != nil {
		t.Fatal(err)
	}
	most, now := 0, 0
	for line := range strings.Lines(string(text)) {
		if line[0] == '+' {
			now++
		} else {
			now--
		}
		most = max(most, now)
	}
	return most
}

// TestPoolWithoutWorker: the steps of a pool wait until a worker has slots of it, and commands say so.
func TestPoolWithoutWorker(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "pools")
	r, dir := newRemote(t, s, "pools"), t.TempDir()
	p, err := r.start(t.Context(), pooled, dir)
	if err != nil {
		t.Fatal(err)
	}
	waits := func() string {
		list, err := shown.PoolWaits(t.Context(), s.client, p.id())
		if err != nil || len(list) != 1 {
			return ""
		}
		return list[0].String()
	}
	const nobody = "step l and 3 more wait for slots of pool gpu, which no worker serves; start one: flowrun-temporal worker --pool gpu=1"
	waittest.Until(t, "the wait for a worker", func() bool { return waits() == nobody })
	cmd := exec.CommandContext(t.Context(), program(t, "..", "cmd/flowrun-temporal"), "show", p.id(), "--address", s.address, "--task-queue", "pools", "--store", s.storeDir())
	cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir)
	if text, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(text, []byte(nobody)) {
		t.Errorf("%v: show does not say what the run waits for:\n%s", err, text)
	}
	startWorker(t, s, s.address, "pools", "--pool", "gpu=1")
	if d := finish(t, r, p); d["status"] != "succeeded" {
		t.Errorf("%v: %v", d["status"], d["message"])
	}
	if n := mostAtOnce(t, dir); n != 1 {
		t.Errorf("%d steps ran at once in a pool with one slot", n)
	}
}

// TestPoolOfWorkers: a pool has the slots of all its workers, for all runs.
func TestPoolOfWorkers(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "pools", "--pool", "gpu=1", "--pool", "other=5")
	startWorker(t, s, s.address, "pools", "--pool", "gpu=1")
	r, dir := newRemote(t, s, "pools"), t.TempDir()
	var runs []*progress
	for range 3 {
		p, err := r.start(t.Context(), pooled, dir)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, p)
	}
	for _, p := range runs {
		if d := finish(t, r, p); d["status"] != "succeeded" {
			t.Errorf("%v: %v", d["status"], d["message"])
		}
	}
	if n := mostAtOnce(t, dir); n > 2 {
		t.Errorf("%d steps ran at once in a pool with two slots", n)
	}
}

// TestCancelledInPool: a step that waits for a slot can be cancelled, also if no worker serves its pool.
func TestCancelledInPool(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "pools")
	r, dir := newRemote(t, s, "pools"), t.TempDir()
	p, err := r.start(t.Context(), &testCase{name: "waits", text: "steps:\n  - {name: a, pool: gpu, run: echo a}\n  - {name: c, run-condition: always(), run: 'echo {a.status}'}\n"}, dir)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the wait for a worker", func() bool {
		list, err := shown.PoolWaits(t.Context(), s.client, p.id())
		return err == nil && len(list) == 1
	})
	if err := s.client.CancelWorkflow(context.WithoutCancel(t.Context()), p.id(), ""); err != nil {
		t.Fatal(err)
	}
	d := finish(t, r, p)
	steps := d["steps"].([]any)
	if first := steps[0].(map[string]any); d["status"] != "cancelled" || first["status"] != "cancelled" {
		t.Errorf("the run ends %v, its step %v", d["status"], first)
	}
	if last := steps[1].(map[string]any); last["output"] != "cancelled\n" {
		t.Errorf("the cleanup printed %q", last["output"])
	}
}

// TestKilledInPool: a step of a pool whose worker is killed runs on another worker of the pool.
func TestKilledInPool(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "pools")
	lost := startWorker(t, s, s.address, "pools", "--pool", "gpu=1")
	r, dir := newRemote(t, s, "pools"), t.TempDir()
	p, err := r.start(t.Context(), pooled, dir)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "an effect", func() bool {
		_, err := os.Stat(filepath.Join(dir, "effects"))
		return err == nil
	})
	lost.kill()
	startWorker(t, s, s.address, "pools", "--pool", "gpu=1")
	if d := finish(t, r, p); d["status"] != "succeeded" {
		t.Errorf("%v: %v", d["status"], d["message"])
	}
}
