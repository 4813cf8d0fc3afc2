package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sitAt starts another command than run on a terminal, with a tool called it in the
// local scope.
func sitAt(t *testing.T, editor string, words ...string) (s *seat, file string) {
	const definition = "name: it\ndescription: A description that is longer than the line of this terminal has columns, as some are\nrun: 'true'\n"
	s = sit(t, "", func(c *exec.Cmd) {
		c.Args = append(c.Args[:1], words...)
		c.Env = append(c.Env, "HOME="+c.Dir, "XDG_CONFIG_HOME=", "FLOWRUN_GLOBAL_TOOLS="+c.Dir+"/global", "VISUAL=", "EDITOR="+editor)
		file = filepath.Join(c.Dir, ".flowrun", "tools", "it.yaml")
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	return s, file
}

// TestRemoveAsks: on a terminal, nothing is removed unless the answer is yes.
func TestRemoveAsks(t *testing.T) {
	for _, c := range []struct {
		answer string
		code   int
		stays  bool
	}{{"y\r", 0, false}, {"yes\r", 0, false}, {"n\r", 1, true}, {"\r", 1, true}, {"\x04", 1, true}} {
		t.Run(strings.TrimSpace(c.answer), func(t *testing.T) {
			s, file := sitAt(t, "", "tool", "remove", "it")
			s.shows("remove it (local), .flowrun/tools/it.yaml? [y/N] ")
			s.types(c.answer)
			screen := s.ends(c.code)
			if _, err := os.Stat(file); (err == nil) != c.stays {
				t.Errorf("the file: %v; the screen showed\n%s", err, screen)
			}
		})
	}
}

// TestEditAgain: on a terminal, an invalid definition can be edited again, starting with the edited
// text.
func TestEditAgain(t *testing.T) {
	t.Run("yes", editAgain)
	t.Run("no", editNoMore)
}

// breaks is an editor that breaks a key, and fixes it if it is broken.
const breaks = `sh -c 'if grep -q rum: "$1"; then sed -i s/rum:/bash:/ "$1"; else sed -i s/run:/rum:/ "$1"; fi' x`

func editAgain(t *testing.T) {
	s, file := sitAt(t, breaks, "tool", "edit", "it")
	s.shows(`unknown key "rum"`)
	s.shows("edit it again? [Y/n] ")
	s.types("\r")
	s.ends(0)
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "bash: 'true'") {
		t.Errorf("%v, %s", err, b)
	}
}

func editNoMore(t *testing.T) {
	s, file := sitAt(t, breaks, "tool", "edit", "it")
	s.shows("edit it again? [Y/n] ")
	s.types("n\r")
	screen := s.ends(3)
	if !strings.Contains(screen, "your text is in") {
		t.Errorf("the screen showed\n%s", screen)
	}
	if b, err := os.ReadFile(file); err != nil || !strings.Contains(string(b), "run: 'true'") {
		t.Errorf("%v, %s", err, b)
	}
}

// TestListFits: no line of the table is wider than the terminal.
func TestListFits(t *testing.T) {
	s, _ := sitAt(t, "", "tool", "list")
	screen := s.ends(0)
	if !strings.Contains(screen, "…") {
		t.Errorf("nothing was cut:\n%s", screen)
	}
	for line := range strings.Lines(screen) {
		if n := len([]rune(strings.TrimRight(line, "\r\n"))); n > 77 {
			t.Errorf("%d columns: %q", n, line)
		}
	}
}
