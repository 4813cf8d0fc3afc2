package call_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/steps"
)

// TestSecrets: what a call gets from the source of a secret, or why it does not begin.
func TestSecrets(t *testing.T) {
	workspace, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"token": "s3cret-1\n", "windows": "s3cret-1\r\n", "lines": "s3cret-1\n\n", "empty": "", "end": "\n", "nul": "s3cret\x00-1"} {
		for _, dir := range []string{workspace, outside} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	links := os.Symlink(filepath.Join(outside, "token"), filepath.Join(workspace, "link")) == nil
	const own, container = "", "security: {isolation: container, image: debian}\n"
	for _, c := range []struct{ security, source, want, why string }{
		{own, "env: TOKEN", "s3cret-2", ""},
		{container, "env: TOKEN", "s3cret-2", ""},
		{own, "env: NONE", "", "the environment variable NONE is not set"},
		{own, "env: EMPTY", "", "it is empty"},
		{own, "file: token", "s3cret-1", ""},
		{own, "file: windows", "s3cret-1", ""},
		{own, "file: lines", "s3cret-1\n", ""},
		{own, "file: empty", "", "it is empty"},
		{own, "file: end", "", "it is empty"},
		{own, "file: nul", "", "NUL byte"},
		{own, "file: none", "", "cannot read"},
		{own, "file: OUTSIDE/token", "s3cret-1", ""},
		{own, "file: link", "s3cret-1", ""},
		{container, "file: token", "s3cret-1", ""},
		{container, "file: OUTSIDE/token", "", "is outside the workspace"},
		{container, "file: link", "", "is outside the workspace"},
		{container, "file: none", "", "is outside the workspace"},
		{own, "command: echo s3cret-3", "s3cret-3", ""},
		{container, "command: echo s3cret-3", "", "outside the tool's container"},
	} {
		if !links && strings.HasSuffix(c.source, "link") || runtime.GOOS == "windows" && strings.HasPrefix(c.source, "command") {
			continue
		}
		p := planOf(t, c.security+"environment:\n  secrets: [{name: S, "+strings.ReplaceAll(c.source, "OUTSIDE", filepath.ToSlash(outside))+"}]\nbash: echo\n")
		w := &call.RunEnv{Workspace: workspace, Env: append(os.Environ(), "TOKEN=s3cret-2", "EMPTY=")}
		params, err := call.Bind(t.Context(), p, w.Filled(), nil)
		if err != nil {
			t.Fatal(err)
		}
		session, err := steps.Open(steps.Options{})
		if err != nil {
			t.Fatal(err)
		}
		a := params.Frame()
		err = a.Begin(t.Context(), session, "run", "")
		got := a.Secret(p.AllSources()[0].Key)
		if c.why == "" && (err != nil || got != c.want) || c.why != "" && (err == nil || !strings.Contains(err.Error(), c.why)) {
			t.Errorf("%s%s: %q, %v; want %q, %q", c.security, c.source, got, err, c.want, c.why)
		}
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
