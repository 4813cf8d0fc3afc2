//go:build unix

package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// conformingClient is the command that the suite starts with the URL of a server: flowrun, with that
// server in its settings.
const conformingClient = `
set -e
export HOME=$(mktemp -d) FLOWRUN_STATE_DIR= FLOWRUN_GLOBAL_CONFIG= XDG_STATE_HOME= XDG_CONFIG_HOME=
cd "$HOME"
flowrun mcp add s "$1"
case $MCP_CONFORMANCE_SCENARIO in
tools_call) flowrun mcp call s__add_numbers '{"a": 5, "b": 3}' --auto-approve '*' ;;
elicitation*) flowrun mcp call s__test_client_elicitation_defaults '{}' --auto-approve '*' ;;
sse-retry) flowrun mcp call s__test_reconnection '{}' --auto-approve '*' ;;
*) flowrun mcp test s ;;
esac
`

// clientNotConforming are the scenarios that fail: flowrun has nobody to ask when a server asks the
// user something, and it does not sign in to servers.
var clientNotConforming = regexp.MustCompile(`^(auth/|elicitation-)`)

// TestClientConformance runs the client part of the official conformance suite of MCP against flowrun.
// The suite needs Node.js 22 and comes from npm, so this is a long test.
func TestClientConformance(t *testing.T) {
	if os.Getenv("FLOWRUN_LONG") == "" {
		t.Skip("set FLOWRUN_LONG=1 to download the conformance suite and run it")
	}
	suite := t.TempDir()
	run := func(name string, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = suite
		c.Env = append(os.Environ(), "TMPDIR="+suite, "PATH="+filepath.Join(suite, "node_modules", "node", "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "=== SUITE SUMMARY ===") {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run("npm", "install", "--no-audit", "--no-fund", "--prefix", suite, "node@22", "@modelcontextprotocol/conformance@0.1.16")
	script := filepath.Join(suite, "client.sh")
	if err := os.WriteFile(script, []byte(conformingClient), 0o600); err != nil {
		t.Fatal(err)
	}
	out := run(filepath.Join(suite, "node_modules", ".bin", "conformance"), "client", "--command", "sh "+script, "--suite", "core")
	summary := out[strings.Index(out, "=== SUITE SUMMARY ==="):]
	t.Log(summary)
	var passed []string
	for _, m := range regexp.MustCompile(`(?m)^([✓✗]) (\S+):`).FindAllStringSubmatch(summary, -1) {
		if m[1] == "✓" {
			passed = append(passed, m[2])
		} else if !clientNotConforming.MatchString(m[2]) {
			t.Errorf("the scenario %s fails:\n%s", m[2], out)
		}
	}
	if want := []string{"initialize", "tools_call", "sse-retry"}; !slices.Equal(passed, want) {
		t.Errorf("scenarios that pass: %q, want %q", passed, want)
	}
}
