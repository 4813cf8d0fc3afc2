package check_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/buildinfo"
	"github.com/flowrun/flowrun/library"
)

// TestMinVersions: the compatibility level and flowrun's own version are told apart.
func TestMinVersions(t *testing.T) {
	for _, c := range []struct {
		release, key, needs string
		good                bool
	}{
		{"", "min-cycod-version", "1.2.0", true},
		{"", "min-cycod-version", "1.2", true},
		{"", "min-cycod-version", "1.2.1", false},
		{"9.0.0", "min-cycod-version", "2", false},
		{buildinfo.Next, "min-flowrun-version", buildinfo.Next, true},
		{buildinfo.Next, "min-flowrun-version", "99.0.0", false},
		{"0.4.0", "min-flowrun-version", "0.4.0", true},
		{"0.4.0", "min-flowrun-version", "0.3.9", true},
		{"0.4.0", "min-flowrun-version", "0.4.1", false},
		{"0.4.0-beta.1", "min-flowrun-version", "0.4.0", false},
		{"0.4.0", "min-flowrun-version", "1.2.0", false},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "t.yaml")
		if err := os.WriteFile(file, []byte("name: t\ndescription: d\nbash: echo\n"+c.key+": \""+c.needs+"\"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := compile.Tool(library.New(library.Config{WorkingDirectory: dir, Home: dir}), c.release, file)
		var ds tool.Diagnostics
		switch errors.As(err, &ds); {
		case c.good && err != nil, !c.good && (len(ds) != 1 || ds[0].Code != "min-version" || ds[0].Pos.Line != 4):
			t.Errorf("%s: %s with release %q: %v", c.key, c.needs, c.release, err)
		}
	}
}
