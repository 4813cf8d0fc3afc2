//go:build unix

package cli_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// conformingClient is the command that the suite starts with the URL of a server: flowrun, with that
// server in its settings. The person who signs in is curl, because the page redirects at once. The person
// at the terminal accepts each question with its defaults.
const conformingClient = `
set -e
export HOME=$(mktemp -d) FLOWRUN_STATE_DIR= FLOWRUN_GLOBAL_CONFIG= XDG_STATE_HOME= XDG_CONFIG_HOME=
cd "$HOME"
flowrun mcp add s "$1"
login() { flowrun mcp login s | xargs -n 1 curl -sSL; }
call() { flowrun mcp call "s__$1" "$2" --auto-approve '*'; }
case $MCP_CONFORMANCE_SCENARIO in
tools_call) call add_numbers '{"a": 5, "b": 3}' ;;
elicitation*)
	unset CI
	while sleep 1; do printf 'a\n\n\n\n\n\n'; done |
		script -qec "flowrun mcp call s__test_client_elicitation_defaults '{}' --auto-approve '*'" /dev/null ;;
sse-retry) call test_reconnection '{}' ;;
auth/pre-registration)
	export CLIENT_SECRET=$(echo "$MCP_CONFORMANCE_CONTEXT" | jq -r .client_secret)
	echo "    oauth: {clientId: $(echo "$MCP_CONFORMANCE_CONTEXT" | jq .client_id), clientSecret: \$CLIENT_SECRET}" >> .config/flowrun/config.yaml
	login; call test-tool '{}' ;;
auth/*) login; call test-tool '{}' || { login; call test-tool '{}'; } ;;
*) flowrun mcp test s ;;
esac
`

// clientNotConforming is the scenario that fails, with a warning: flowrun has no page with metadata at an
// address of its own, so it registers.
const clientNotConforming = "auth/basic-cimd"

// TestClientConformance runs the client part of the official conformance suite of MCP against flowrun.
// The suite needs Node.js 22 and comes from npm, so this is a long test.
func TestClientConformance(t *testing.T) {
	sizetest.Need(t, sizetest.Long, "downloads the conformance suite")
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
		} else if m[2] != clientNotConforming {
			t.Errorf("the scenario %s fails:\n%s", m[2], out)
		}
	}
	if want := 17; len(passed) != want {
		t.Errorf("%d scenarios pass, want %d: %q", len(passed), want, passed)
	}
}
