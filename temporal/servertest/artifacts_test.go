package servertest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// TestArtifactsOfWorkers: a step on one worker reads the files that were kept of a step on another one, whose folder is gone,
// and a command on a third machine lists and copies them.
func TestArtifactsOfWorkers(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	startWorker(t, s, s.address, "artifacts", "--pool", "two=1")
	first := startWorker(t, s, s.address, "artifacts", "--pool", "one=1")
	c := &testCase{name: "kept", text: "steps:\n" +
		"  - {name: make, pool: one, bash: 'mkdir d; echo a > d/a; echo b > d/b', artifacts: [d]}\n" +
		"  - {name: gate, pool: two, bash: 'touch " + dirMark + "/made; until [ -e " + dirMark + "/gate ]; do sleep 0.1; done'}\n" +
		"  - {name: read, pool: two, bash: 'cat {make.artifacts.d}/*; echo read > r', artifacts: [r]}\n"}
	r, dir := newRemote(t, s, "artifacts"), t.TempDir()
	p, err := r.start(t.Context(), c, dir)
	if err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "the end of make", func() bool {
		_, err := os.Stat(filepath.Join(dir, "made"))
		return err == nil
	})
	first.kill()
	if err := os.WriteFile(filepath.Join(dir, "gate"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	d := finish(t, r, p)
	if d["status"] != "succeeded" || d["output"] != "a\nb\n" {
		t.Errorf("%v: %v, output %q", d["status"], d["message"], d["output"])
	}
	to := filepath.Join(t.TempDir(), "to")
	command := func(args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), program(t, "..", "cmd/flowrun-temporal"), append(args, "--address", s.address, "--task-queue", "artifacts", "--store", s.storeDir())...)
		cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+t.TempDir())
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v: %v: %s", args, err, text)
		}
		return string(text)
	}
	if text := command("artifacts", p.id()); !strings.Contains(text, "make") || !strings.Contains(text, "read") {
		t.Errorf("the list is\n%s", text)
	}
	if text := command("show", p.id()); !strings.Contains(text, "make/d") {
		t.Errorf("show prints\n%s", text)
	}
	if text := command("artifacts", p.id(), "read/r", "--to", "-"); text != "read\n" {
		t.Errorf("r is %q", text)
	}
	command("artifacts", p.id(), "--to", to)
	for name, want := range map[string]string{"make/d/a": "a\n", "make/d/b": "b\n", "read/r/r": "read\n"} {
		if text, err := os.ReadFile(filepath.Join(to, name)); err != nil || string(text) != want {
			t.Errorf("%s: %v, %q", name, err, text)
		}
	}
	if text := command("artifacts", p.id(), "d"); strings.Count(text, "2 B   sha256:") != 2 {
		t.Errorf("the files are\n%s", text)
	}
}
