package cli_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// TestInterruptedDiscovery: Ctrl-C during the discovery command stops the command with its child
// processes, and flowrun.
func TestInterruptedDiscovery(t *testing.T) {
	s := begin(t, "steps: [{name: x, use-tool: nowhere}]\n", func(s *session) {
		settings := "tools: {callCommand: x, discoveryCommand: \"sh -c 'sleep 600 & echo $! > new; mv new alive; touch ready; wait'\"}\n"
		if err := os.WriteFile(filepath.Join(s.dir, "config/flowrun/config.yaml"), []byte(settings), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	s.await("alive")
	s.cmd.Process.Signal(syscall.SIGINT)
	s.ends(130)
	if strings.Contains(s.stderr.String(), "cannot") {
		t.Error(s.stderr.String())
	}
	text, err := os.ReadFile(filepath.Join(s.dir, "alive"))
	if err != nil {
		t.Fatal(err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err != nil || syscall.Kill(pid, 0) == nil && stateOf(pid) != "Z" {
		t.Errorf("what the command has started lives on: %q, %v", text, err)
	}
}
