package mcpclient_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/mcpclient"
)

// TestEnvironment checks that the settings of a server replace what it would get, but not what flowrun needs to
// recognize its own processes. Every variable must be there once: programs differ in which of two they use.
func TestEnvironment(t *testing.T) {
	t.Setenv("FLOWRUN_MCP_CHAIN", "outer")
	t.Setenv("PATH", "/inherited")
	got := mcpclient.Environment(mcpclient.ServerConfig{Name: "own", Dir: "/work", Env: map[string]string{
		"PATH": "/set", "EXTRA": "1", "FLOWRUN_MCP_CHAIN": "", "FLOWRUN_OWNER": "other", "FLOWRUN_STEP": "other", "PWD": "/other"}}, "mark")
	for _, want := range []string{"PATH=/set", "EXTRA=1", "FLOWRUN_MCP_CHAIN=outer,own", "FLOWRUN_OWNER=mark", "FLOWRUN_STEP=@mcp", "PWD=/work"} {
		name, _, _ := strings.Cut(want, "=")
		found := slices.DeleteFunc(slices.Clone(got), func(kv string) bool { return !strings.HasPrefix(kv, name+"=") })
		if !slices.Equal(found, []string{want}) {
			t.Errorf("%s: %q, want %q", name, found, want)
		}
	}
}
