package shellword

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// texts are what shells read in their own ways.
var texts = []string{
	"plain", "", "two words", " lead", "it's", `say "hi"`, "$HOME", "$(touch ran)", "`touch ran`", "a;b", "a&b|c", "*.go", "q?", "l[a b]", "b{1,2}", "(sub)", "<in>", ">out",
	`back\slash`, `\`, `a\\b`, `ends\`, `\'`, "#tag", "a#b", "!bang", "a!b", "~", "~/x", "a:~/x", "x=~/y", "a:b", "a=b", "=ls", "a,b", "@b", "%1", "5%", "^hat", "-x", "--flag", "-a.b", "-a:b",
	"ünï cödé", "😀", "‘curly’", "a\nb", "a\tb", "\r", "'", "''", `"`, "$'x'", "${X}", "$$", "%h", "%%", "1e3", "0x10", "1kb", ".", "./x", "/a/b", "N:=7", `L:=["a b"]`, "{}", "--%", "[", "!!",
}

// TestShells: a real shell of each kind takes each text as one argument, and runs none of them.
func TestShells(t *testing.T) {
	for _, shell := range []struct {
		program string
		args    []string
		word    func(string) string
	}{
		{"sh", []string{"-c"}, Sh},
		{"bash", []string{"-c"}, Sh},
		{"zsh", []string{"-f", "-o", "extendedglob", "-c"}, Sh},
		{"fish", []string{"--no-config", "-c"}, Fish},
		{"pwsh", []string{"-NoProfile", "-Command"}, PowerShell},
	} {
		t.Run(shell.program, func(t *testing.T) {
			t.Parallel()
			if shell.program != "pwsh" {
				needtest.Programs(t, shell.program)
			} else if _, err := exec.LookPath(shell.program); err != nil {
				t.Skip("PowerShell is not installed")
			}
			command := "/usr/bin/printf '%s\\0' " + Join(shell.word, texts)
			cmd := exec.CommandContext(t.Context(), shell.program, append(shell.args, command)...)
			cmd.Dir = t.TempDir()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
			if !slices.Equal(got, texts) {
				for i, text := range texts {
					if i >= len(got) || got[i] != text {
						t.Fatalf("%q written as %s arrives as %q", text, shell.word(text), got[min(i, len(got)-1):])
					}
				}
				t.Fatalf("%d arguments arrive, want %d", len(got), len(texts))
			}
		})
	}
}

// TestWords: what needs no quotation marks has none, and each kind of place has its own.
func TestWords(t *testing.T) {
	for _, tt := range []struct{ text, sh, fish, powershell, unit, argument string }{
		{"deploy#2", "'deploy#2'", "'deploy#2'", "'deploy#2'", `"deploy#2"`, `"deploy#2"`},
		{"A=b/c.d", "A=b/c.d", "A=b/c.d", "A=b/c.d", `"A=b/c.d"`, `"A=b/c.d"`},
		{"", "''", "''", "''", `""`, `""`},
		{`it's \`, `'it'\''s \'`, `'it\'s \\'`, `'it''s \'`, `"it's \\"`, `"it's \\"`},
		{"$A 5%", "'$A 5%'", "'$A 5%'", "'$A 5%'", `"$A 5%%"`, `"$$A 5%%"`},
		{"a\n\"b\"", "'a\n\"b\"'", "'a\n\"b\"'", "'a\n\"b\"'", `"a\n\"b\""`, `"a\n\"b\""`},
	} {
		got := []string{Sh(tt.text), Fish(tt.text), PowerShell(tt.text), Unit(tt.text), UnitArgument(tt.text)}
		if want := []string{tt.sh, tt.fish, tt.powershell, tt.unit, tt.argument}; !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", tt.text, got, want)
		}
	}
	if got := UnitPath(`/a b/50%\x`); got != `/a b/50%%\\x` {
		t.Error(got)
	}
}
