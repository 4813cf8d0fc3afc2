package servertest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestLatest: latest is the run of the task queue that began last, also beside one that has waited for long, and an act means
// the latest run that it can do something with.
func TestLatest(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "latest")
	startWorker(t, s, s.address, "others")
	r, others, dir := newRemote(t, s, "latest"), newRemote(t, s, "others"), t.TempDir()
	start := func(r *remote, c *testCase) *progress {
		t.Helper()
		p, err := r.start(t.Context(), c, dir)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Millisecond) // ids and the order of runs have that precision
		return p
	}
	asks := &testCase{name: "asks", text: "steps:\n  - {name: gate, approve: {prompt: 'Go on?'}}\n"}
	quick := &testCase{name: "quick", text: "steps: [{name: a, run: echo hi}]\n"}
	waits := start(r, asks)
	last := start(r, quick)
	finish(t, r, last)
	finish(t, others, start(others, quick))
	command := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), program(t, "..", "cmd/flowrun-temporal"), append(args, "--address", s.address, "--task-queue", "latest", "--store", s.storeDir())...)
		cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir)
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return string(text)
	}
	waittest.Until(t, "both runs in the list", func() bool {
		list := command("runs")
		return strings.Contains(list, waits.id()) && strings.Contains(list, last.id()) && strings.Index(list, last.id()) < strings.Index(list, waits.id())
	})
	if text := command("show", "latest"); !strings.Contains(text, last.id()) {
		t.Errorf("show latest shows another run than %s:\n%s", last.id(), text)
	}
	if text := command("cancel", "latest"); !strings.Contains(text, waits.id()) {
		t.Errorf("cancel latest cancels another run than %s: %s", waits.id(), text)
	}
}
