package denied

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/permission"
)

// A message names the permission for what a program could not use, and otherwise what the command can never do.
func TestMessage(t *testing.T) {
	dir := permission.RealPath(t.TempDir())
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, printed, script, want string
		withheld                    []string
	}{
		{name: "read", printed: "cat: file: Permission denied\n", want: `"filesystem:read:file"`},
		{name: "redirection", printed: "sh: file: Permission denied\n", script: "echo > file", want: `"filesystem:write:file"`},
		{name: "host", printed: "curl: (6) Could not resolve host: example.com\n", want: `"network:external:example.com"`},
		{name: "variable", withheld: []string{"TOKEN"}, want: `"environment:TOKEN"`},
		{name: "nothing printed", want: "it has no network"},
	} {
		command := Command{Workspace: dir, Dir: dir, Script: c.script, Withheld: c.withheld}
		if got := command.Message(c.printed); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %s", c.name, got, c.want)
		}
	}
}

func TestNamesVariable(t *testing.T) {
	for script, want := range map[string]bool{`echo "$TOKEN"`: true, "echo ${TOKEN}": true, "process.env.TOKEN": true, "echo $TOKENS": false, "echo TOKEN": false} {
		if NamesVariable(script, "TOKEN") != want {
			t.Errorf("%s: %v", script, !want)
		}
	}
}
