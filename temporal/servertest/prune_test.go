package servertest

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestPrune: what neither a run that the service knows nor a Schedule uses is deleted from the store.
func TestPrune(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	dir := t.TempDir()
	long := strings.Repeat("x", 50000)
	for name, more := range map[string]string{"nightly": "schedule: {cron: '0 3 * * *'}\n", "now": ""} {
		text := fmt.Sprintf("name: %s\ndescription: d\n%ssteps: [{name: a, run: 'echo %s'}]\n", name, more, name+long)
		if err := os.MkdirAll(filepath.Join(dir, ".flowrun/tools"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".flowrun/tools", name+".yaml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), program(t, "..", "cmd/flowrun-temporal"), append(args, "--address", s.address, "--store", s.storeDir())...)
		cmd.Env, cmd.Dir = append(os.Environ(), "FLOWRUN_STATE_DIR="+t.TempDir(), "HOME="+dir), dir
		text, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, text)
		}
		return string(text)
	}
	values := func(age time.Duration) (count int) {
		err := filepath.WalkDir(s.storeDir(), func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			count++
			then := time.Now().Add(-age)
			return os.Chtimes(path, then, then)
		})
		if err != nil {
			t.Fatal(err)
		}
		return count
	}
	command("schedule", "sync")
	scheduled := values(1000 * time.Hour)
	if scheduled == 0 {
		t.Fatal("the store does not have the input of the schedule")
	}
	unused := filepath.Join(s.storeDir(), "ab", strings.Repeat("cd", 31))
	if err := os.MkdirAll(filepath.Dir(unused), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(unused, []byte("unused"), 0o600); err != nil {
		t.Fatal(err)
	}
	values(1000 * time.Hour)
	if text := command("prune"); !strings.HasPrefix(text, "deleted 1 values (6 bytes)") {
		t.Errorf("%s", text)
	}
	startWorker(t, s, s.address, "prune") // it puts a value into the store that a run needs
	command("run", "now", "--task-queue", "prune")
	before := values(1000 * time.Hour) // clocks lie: the run is younger than what it uses
	if text := command("prune", "--older-than", "10d"); !strings.HasPrefix(text, fmt.Sprintf("deleted %d values", before-scheduled)) {
		t.Errorf("of %d values, %d of a schedule: %s", before, scheduled, text)
	}
	if left := values(0); left != scheduled {
		t.Errorf("%d values are left, want %d", left, scheduled)
	}
}
