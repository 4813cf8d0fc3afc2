package settings

import (
	"bytes"
	"errors"
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
	tools := filepath.Join(project, ".flowrun", "tools")
	definition := filepath.Join(tools, "a.yaml")
	write := func(file, text string) error { return os.WriteFile(file, []byte(text), 0o600) }
	if err := errors.Join(os.MkdirAll(tools, 0o700), write(definition, "name: a\nbash: echo one\n")); err != nil {
		t.Fatal(err)
	}
	type command func(env *ui.Env, stateDir, folder string) error
	edit := func(*ui.Env, string, string) error {
		return errors.Join(write(definition, "name: a\nbash: echo \x1b[8mtwo\u202e\n"), write(filepath.Join(tools, "b.yaml"), "name: b\nbash: echo b\n"))
	}
	remove := func(*ui.Env, string, string) error { return os.Remove(definition) }
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
		{showTrust, project, "a.yaml  changed", false},
		{showTrust, project, "b.yaml  added", false},
		{diffTrust, project, "--- trusted/.flowrun/tools/a.yaml\n", false},
		{diffTrust, project, "-bash: echo one\n+bash: echo <U+001B>[8mtwo<U+202E>\n", false},
		{diffTrust, project, "+++ .flowrun/tools/b.yaml\n", false},
		{remove, "", "", false},
		{showTrust, project, "a.yaml  removed", false},
		{diffTrust, project, "-name: a\n", false},
		{trust, tools, "trusted ", false}, // a folder inside it
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
		if strings.ContainsAny(out.String(), "\x1b\u202e") {
			t.Errorf("command %d: what a definition has reaches the terminal: %q", i, out.String())
		}
	}
}
