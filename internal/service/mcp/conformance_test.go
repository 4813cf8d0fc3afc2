package mcp_test

import (
	"context"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/mcp"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/registry"
)

// freely allows every call.
type freely struct{ approver }

func (*freely) Decide(context.Context, *registry.Invocation, bool) registry.Decision {
	return registry.Decision{Action: registry.Proceed}
}

// pending are scenarios that the suite does not run by itself yet.
var pending = []string{"json-schema-2020-12", "server-sse-polling"}

// TestConformance runs the official conformance suite of the protocol against a Server. The suite
// needs Node.js 22 and comes from npm, so this is a long test.
func TestConformance(t *testing.T) {
	sizetest.Need(t, sizetest.Long, "downloads the conformance suite")
	suite := t.TempDir()
	run := func(name string, args ...string) string {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		c := exec.CommandContext(ctx, name, args...)
		c.Dir = suite
		c.Env = append(os.Environ(), "PATH="+filepath.Join(suite, "node_modules", "node", "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
		out, err := c.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "=== SUMMARY ===") {
			t.Fatalf("%s: %v\n%s", name, err, out)
		}
		return string(out)
	}
	run("npm", "install", "--no-audit", "--no-fund", "--prefix", suite, "node@22", "@modelcontextprotocol/conformance@0.1.16")
	lib := library.New(library.Config{WorkingDirectory: filepath.Join("testdata", "conformance"), Home: t.TempDir()})
	scripts := hooks.New(hooks.Config{InProcess: true})
	defer scripts.Close()
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Runtime: scripts}))
	server := mcp.New(mcp.Config{
		Library:    lib,
		Registry:   registry.Options{Engine: engine.New(engine.Config{Store: history.NewMemory(), StateDir: t.TempDir(), JavaScript: scripts})},
		Approver:   &freely{},
		Candidates: func(*tool.Parameter) []string { return []string{"a", "b"} },
		Store:      history.NewMemory(),
	})
	mcp.HangUp(server, "test_reconnection")
	s := httptest.NewServer(server.Handler(false))
	defer s.Close()
	conformance := filepath.Join(suite, "node_modules", ".bin", "conformance")
	for _, scenario := range pending {
		if out := run(conformance, "server", "--url", s.URL, "--scenario", scenario); !strings.Contains(out, ", 0 failed, 0 warnings") {
			t.Errorf("the scenario %s fails:\n%s", scenario, out)
		}
	}
	out := run(conformance, "server", "--url", s.URL)
	t.Log(out[strings.Index(out, "=== SUMMARY ==="):])
	for _, m := range regexp.MustCompile(`(?m)^✗ ([a-z0-9-]+):`).FindAllStringSubmatch(out, -1) {
		t.Errorf("the scenario %s fails", m[1])
	}
}
