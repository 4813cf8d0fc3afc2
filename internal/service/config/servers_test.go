package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/os/editedfile"
	"github.com/flowrun/flowrun/internal/service/config"
)

// TestEditServers adds and removes a server; everything else stays as it is written.
func TestEditServers(t *testing.T) {
	const added = "  new:\n    command: \"x\"\n    args: [\"-y\",\"a: b # c\"]\n"
	for name, c := range map[string]struct {
		before, with, without string // "" for without: as before
		fails                 string
	}{
		"no file":        {"", "mcpServers:\n" + added, "mcpServers: {}\n", ""},
		"no section":     {"# mine\ngrace: 1s # short\n\n", "# mine\ngrace: 1s # short\nmcpServers:\n" + added, "# mine\ngrace: 1s # short\nmcpServers: {}\n", ""},
		"empty section":  {"mcpServers: {} # none\ngrace: 1s\n", "mcpServers:  # none\n" + added + "grace: 1s\n", "mcpServers: {}  # none\ngrace: 1s\n", ""},
		"another server": {"mcpServers: # all\n  # the first\n  a: {url: http://x} # why\n\n# after\ngrace: 1s\n", "mcpServers: # all\n  # the first\n  a: {url: http://x} # why\n" + added + "\n# after\ngrace: 1s\n", "", ""},
		"wide":           {"mcpServers:\n    a:\n        url: http://x\n", "mcpServers:\n    a:\n        url: http://x\n    new:\n      command: \"x\"\n      args: [\"-y\",\"a: b # c\"]\n", "", ""},
		"flow":           {"mcpServers: {a: {url: http://x}}\n", "", "", "unusual form"},
		"exists":         {"mcpServers:\n  new: {url: http://x}\n", "", "", "already a server"},
		"invalid":        {"mcpServers: 3\n", "", "", "expected a mapping"},
		"JSON":           {"{\"mcpServers\": {\"a\": {\"url\": \"http://x\"}}}\n", "", "", "unusual form"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "deep", "config.yaml")
			if c.before != "" {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			file := func() *editedfile.File {
				f, err := editedfile.ReadUser(path)
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			read := func() string {
				text, _ := os.ReadFile(path)
				return string(text)
			}
			err := config.AddServer(file(), "new", []config.ServerKey{{"command", "x"}, {"args", []string{"-y", "a: b # c"}}})
			if c.fails != "" {
				if err == nil || !strings.Contains(err.Error(), c.fails) || read() != c.before {
					t.Errorf("%v, want %q; the file is %q", err, c.fails, read())
				}
				return
			}
			if err != nil || read() != c.with {
				t.Fatalf("%v\ngot  %q\nwant %q", err, read(), c.with)
			}
			without := c.without
			if without == "" {
				without = c.before
			}
			if err := config.RemoveServer(file(), "new"); err != nil || read() != without {
				t.Errorf("%v\ngot  %q\nwant %q", err, read(), without)
			}
			if err := config.RemoveServer(file(), "new"); !errors.Is(err, config.ErrNoServer) {
				t.Error(err)
			}
		})
	}
}
