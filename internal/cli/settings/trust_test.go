package settings

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// TestTrustStates follows the decision about a project: what each command says of it, and what it refuses.
func TestTrustStates(t *testing.T) {
	state, project, empty := t.TempDir(), t.TempDir(), t.TempDir()
	t.Setenv("HOME", t.TempDir())
	definition := filepath.Join(project, ".flowrun", "tools", "a.yaml")
	write := func(text string) error {
		if err := os.MkdirAll(filepath.Dir(definition), 0o700); err != nil {
			return err
		}
		return os.WriteFile(definition, []byte(text), 0o600)
	}
	if err := write("name: a\nbash: echo one\n"); err != nil {
		t.Fatal(err)
	}
	type command func(env *ui.Env, stateDir, folder string) error
	edit := func(*ui.Env, string, string) error { return write("name: a\nbash: echo \x1b[8mtwo\n") }
	list := func(env *ui.Env, stateDir, _ string) error { return listTrust(env, stateDir, "table") }
	for i, c := range []struct {
		do     command
		folder string
		want   string // in what is printed, or in the error
		fails  bool
	}{
		{list, "", "no trusted or declined projects", false},
		{showTrust, project, "is not trusted; to trust it: flowrun trust", true},
		{diffTrust, project, "is not trusted", true},
		{withdrawTrust, project, "no decision about", true},
		{trust, definition, "not a folder", true},
		{trust, empty, "cannot find a project", true},
		{trust, project, "trusted ", false},
		{list, "", project, false},
		{showTrust, project, "unchanged", false},
		{diffTrust, project, "are as you trusted them", false},
		{edit, "", "", false},
		{showTrust, project, "changed", false},
		{diffTrust, project, "-bash: echo one", false},
		{diffTrust, project, `two`, false},
		{trust, filepath.Dir(definition), "trusted ", false}, // a folder inside it
		{showTrust, project, "unchanged", false},
		{withdrawTrust, project, "withdrew the decision about", false},
		{withdrawTrust, project, "no decision about", true},
	} {
		var out bytes.Buffer
		env := &ui.Env{Terminal: ui.Terminal{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out}}
		err := c.do(env, state, c.folder)
		if err != nil {
			out.WriteString(err.Error())
		}
		if (err != nil) != c.fails || !strings.Contains(out.String(), c.want) {
			t.Errorf("command %d: %q, want %q", i, out.String(), c.want)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("command %d: what a definition has reaches the terminal: %q", i, out.String())
		}
	}
}
