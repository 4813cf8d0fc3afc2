package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestServerQuestion: an MCP server asks the person at the terminal, field by field. The server is
// flowrun with a step that needs approval.
func TestServerQuestion(t *testing.T) {
	for name, words := range map[string][]string{"run": {"run", "s__it", "--progress", "tty"}, "call": {"mcp", "call", "s__it", "--auto-approve", "*"}} {
		t.Run(name, func(t *testing.T) {
			at := func(c *exec.Cmd) {
				c.Args = append(c.Args[:1], words...)
				tools, settings := filepath.Join(c.Dir, "served", ".flowrun", "tools"), filepath.Join(c.Dir, "config", "flowrun")
				for _, dir := range []string{tools, settings} {
					if err := os.MkdirAll(dir, 0o700); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Rename(filepath.Join(c.Dir, "it.yaml"), filepath.Join(tools, "it.yaml")); err != nil {
					t.Fatal(err)
				}
				server := "mcpServers:\n  s: {command: flowrun, cwd: served, args: [mcp, --auto-approve, '*', --directory, .], env: {FLOWRUN_STATE_DIR: state}}\n"
				if err := os.WriteFile(filepath.Join(settings, "config.yaml"), []byte(server), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := sit(t, gated, at)
			for _, step := range [][2]string{
				{"[a]ccept, [d]ecline, [c]ancel? ", "what\r"},
				{"[c]ancel? ", "a\r"},
				{"LOUD (yes or no)", "yes\r"},
				{"NOTE (text, optional)", "\r"},
				{"PERCENT [10]: ", "500\r"},
				{"PERCENT [10]: ", "\r"},
				{"REGION (text)", "2\r"},
			} {
				s.shows(step[0])
				s.types(step[1])
			}
			screen := s.ends(0)
			for _, want := range []string{"The MCP server s asks:", "Release built?", "It gets what you type.", "released us 10 true"} {
				if !strings.Contains(screen, want) {
					t.Errorf("the screen does not show %q, but\n%s", want, screen)
				}
			}
			if strings.Contains(screen, "\x1b[31m") {
				t.Errorf("the escape sequences of the server reached the terminal: %q", screen)
			}
		})
	}
}
