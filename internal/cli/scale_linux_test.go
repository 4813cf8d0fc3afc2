package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestLoopScale runs a loop over very many commands, recorded and narrated: flowrun
// stays small, and so does what it says.
func TestLoopScale(t *testing.T) {
	many := sizetest.Of(500, 2000, 100_000)
	dir := t.TempDir()
	file := filepath.Join(dir, "big.yaml")
	text := fmt.Sprintf("name: big\ndescription: Very many items.\nsteps: [{name: t, for-each: {items: 1..%d}, run: \"true\"}]\n", many)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, told bytes.Buffer
	flowrun := func(args ...string) *exec.Cmd {
		out.Reset()
		told.Reset()
		c := exec.Command("flowrun", args...) // see TestMain
		c.Dir, c.Stdout, c.Stderr = dir, &out, &told
		c.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "GORACE=atexit_sleep_ms=0")
		if err := c.Run(); err != nil {
			t.Fatalf("flowrun %v: %v\n%s", args, err, told.String())
		}
		return c
	}
	c := flowrun("run", file)
	most := c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
	t.Logf("%d items: %d MB, %v", many, most, c.ProcessState.UserTime()+c.ProcessState.SystemTime())
	const limit = 120 // MB; 100,000 items take 90 on a quiet machine and 103 beside other work, where garbage is collected later
	if most >= limit && !raced() {
		t.Errorf("flowrun took %d MB, want less than %d", most, limit)
	}
	if got := strings.Count(out.String(), `""`); got != many {
		t.Errorf("the output holds %d items", got)
	}
	if lines := strings.Count(told.String(), "\n"); lines > 20 {
		t.Errorf("the narration has %d lines:\n%.2000s", lines, told.String())
	}
	for _, args := range [][]string{{"show", "latest"}, {"timeline", "latest"}, {"graph", file, "latest"}} {
		if flowrun(args...); strings.Count(out.String(), "\n") > 15 {
			t.Errorf("%v prints\n%.2000s", args, out.String())
		}
	}
}
