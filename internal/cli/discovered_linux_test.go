package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptedDiscovery: Ctrl-C while a command tells of tools ends it, with what it has
// started, and flowrun.
func TestInterruptedDiscovery(t *testing.T) {
	s := begin(t, "steps: [{name: x, use-tool: nowhere}]\n", func(c *exec.Cmd) {
		settings := "tools: {callCommand: x, discoveryCommand: \"sh -c '(while :; do touch alive; sleep 0.05; done) & touch ready; wait'\"}\n"
		if err := os.WriteFile(filepath.Join(c.Dir, "config/flowrun/config.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	s.await("alive")
	s.cmd.Process.Signal(syscall.SIGINT)
	s.ends(130)
	if strings.Contains(s.stderr.String(), "cannot") {
		t.Error(s.stderr.String())
	}
	os.Remove(filepath.Join(s.dir, "alive"))
	time.Sleep(200 * time.Millisecond)
	if s.has("alive") {
		t.Error("what the command has started lives on")
	}
}
