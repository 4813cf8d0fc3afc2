package completion_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/flowrun/flowrun/internal/cli/completion"
	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// program stands for flowrun: it offers what is in the file offered, and keeps the words that it was
// given, of a question in the file asked and of a command in the file got.
const program = `#!/bin/sh
if [ "$1" = __complete ]; then
	shift
	printf '%s\n' "$@" end >>asked
	cat offered
	exit
fi
printf '%s\n' "$@" end >>got
`

// starts are how a shell is started, and how the script is loaded.
var starts = map[string]struct {
	args []string
	load string
}{
	"bash": {[]string{"--norc", "--noprofile", "-i"}, "source ./script"},
	"zsh":  {[]string{"-f", "-i"}, "autoload -Uz compinit; compinit -u -D; source ./script; compdef _flowrun flowrun"},
	"fish": {[]string{"--no-config", "-i"}, "source ./script"},
}

// terminal is a shell at a terminal of its own, with the script loaded.
type terminal struct {
	*testing.T
	shell, dir string
	master     *os.File

	mu     sync.Mutex
	screen bytes.Buffer
}

func (s *terminal) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Write(b)
}

// open starts a shell.
func open(t *testing.T, shell string) *terminal {
	t.Helper()
	path := needtest.Program(t, shell)
	s := &terminal{T: t, shell: shell, dir: t.TempDir()}
	s.file("flowrun", program)
	s.file("script", completion.Script(shell))
	cmd := exec.Command(path, starts[shell].args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"PATH=" + s.dir + ":" + os.Getenv("PATH"), "HOME=" + s.dir + "/home", "TERM=dumb", "HISTFILE=", "LC_ALL=C.UTF-8"}
	var err error
	if s.master, err = pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 200}); err != nil {
		t.Fatal(err)
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		io.Copy(s, s.master)
	}()
	t.Cleanup(func() {
		syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		cmd.Wait()
		s.master.Close()
		<-drained
	})
	s.enter(starts[shell].load + "; flowrun ready")
	return s
}

func (s *terminal) file(name, content string) {
	s.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(content), 0o700); err != nil {
		s.Fatal(err)
	}
}

func (s *terminal) read(name string) string {
	content, _ := os.ReadFile(filepath.Join(s.dir, name))
	return string(content)
}

// await waits until a file ends with text, and returns the words that it keeps of the last start.
func (s *terminal) await(name, text, line string) []string {
	s.Helper()
	waittest.Until(s, fmt.Sprintf("%s: flowrun started by %q", s.shell, line), func() bool { return strings.HasSuffix(s.read(name), text+"end\n") }, func() any {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.screen.String()
	})
	starts := strings.Split(s.read(name), "end\n")
	return strings.Split(strings.TrimSuffix(starts[len(starts)-2], "\n"), "\n")
}

// enter types a line, and returns the words with which flowrun was started.
func (s *terminal) enter(line string) []string {
	s.Helper()
	os.Remove(filepath.Join(s.dir, "got"))
	os.Remove(filepath.Join(s.dir, "asked"))
	io.WriteString(s.master, line+"\r")
	return s.await("got", "", line)
}

// tab types a line that ends with O and a tab, removes it again, and returns the words of which flowrun was asked. They
// are nil where bash asks nobody, because a backquote begins a command for it, also in quotes.
func (s *terminal) tab(line string) []string {
	s.Helper()
	os.Remove(filepath.Join(s.dir, "asked"))
	io.WriteString(s.master, line+"O\t")
	var asked []string
	if s.shell != "bash" || !strings.Contains(line+s.read("offered"), "`") {
		asked = s.await("asked", "\nO\n", line)
	}
	s.enter("\x15flowrun ready")
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		s.Errorf("%s: %sO<TAB> runs what is typed", s.shell, line)
		os.Remove(filepath.Join(s.dir, "ran"))
	}
	return asked
}

// TestTabRunsNothing: a tab runs no text of the line, and none that was completed before.
func TestTabRunsNothing(t *testing.T) {
	hostile := []string{
		"a;touch ran", "$(touch ran)", "`touch ran`", "x && touch ran", "x | touch ran", "x\\`touch ran`", "$(touch$IFS$()ran)", "${X:=$(touch ran)}",
		`";touch ran;"`, `';touch ran;'`, "(touch ran)", "{touch,ran}", "<(touch ran)", ">ran", "$[$(touch ran)]", "$((x[$(touch ran)]))", `{"a": "$(touch ran)"}`,
		"\"$(touch ran)\"", "'`touch ran`'", "x;`touch ran`", "\\$(touch ran)", "x || touch ran", "=(touch ran)", "a[$(touch ran)]", "*(e:touch ran:)", "~$(touch ran)", "--flag=$(touch ran)", "-$(touch ran)=x", "%$(touch ran)", "!(touch ran)",
	}
	for shell := range starts {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := open(t, shell)
			for _, text := range hostile[:sizetest.Of(8, len(hostile), len(hostile))] {
				s.file("offered", "OTHER=\tabout "+text+"\n"+text+"\tx\n:4\n")
				for _, word := range []string{escaped(text), single(shell, text) + "'", single(shell, "COLOR="+text) + "'", double(shell, text) + `"`} {
					if asked := s.tab("flowrun run " + word + " "); asked != nil && (len(asked) != 3 || !strings.HasSuffix(asked[1], text)) {
						t.Errorf("%s: flowrun run %s O<TAB> asks for %q", shell, word, asked)
					}
				}
				if strings.HasPrefix(text, "$(") || text[0] == '`' { // what Enter would run as well
					s.tab(`flowrun run "COLOR=` + text + `" `)
				}
				s.file("offered", "COLOR="+text+"\n:4\n")
				if asked := s.tab("flowrun run COLOR=\t"); asked != nil && (len(asked) != 3 || asked[1] != "COLOR="+text) {
					t.Errorf("%s: after COLOR=<TAB> with %s, O<TAB> asks for %q", shell, text, asked)
				}
			}
		})
	}
}

// TestNoScriptEvaluates: no script has a word by which its shell runs text. It is the only test of the
// script for PowerShell, which is not installed where tests run.
func TestNoScriptEvaluates(t *testing.T) {
	evaluates := regexp.MustCompile(`(?i)\beval\b|invoke-expression|\biex\b|\$\{?\(e\)|scriptblock\]::create|invokescript|\.expandstring|compgen -[WFC]|-replace.*\{.*\$_.*\}`)
	for _, shell := range completion.Shells() {
		if completion.Script(shell) == "" {
			t.Errorf("no script for %s", shell)
		}
		for line := range strings.Lines(completion.Script(shell)) {
			if !strings.HasPrefix(strings.TrimSpace(line), "#") && evaluates.MatchString(line) {
				t.Errorf("the script for %s evaluates text: %s", shell, line)
			}
		}
	}
}

// TestCompletedWords: a word that was begun in any way of quoting is completed to a word that is, for the
// shell, exactly what was offered, and the program is asked for what the word means.
func TestCompletedWords(t *testing.T) {
	values := []string{
		"plain", "two words", "it's", `say "hi"`, "$HOME", "$(touch ran)", "`touch ran`", "a;b", "a&b|c", "*.go", "q?", "l[a b]", "b{1,2}", "(sub)",
		"<in>", `back\slash`, `a\\b`, "#tag", "!bang", "a!b", "~/x", "a:~/x", "a:b", "a=b", "a@b", "per%cent", "^hat", "-x", "ünï cödé", " lead", "two  blanks",
		`ends'`, `ends"`, `ends\`, `'quoted'`, `"quoted"`, "'", "a,b", "$'x'", "=ls", "%1",
	}
	for shell := range starts {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := open(t, shell)
			for _, before := range sizetest.Of([]string{"COLOR="}, []string{"COLOR=", ""}, []string{"COLOR=", "", "--flag=", "COLOR=@"}) {
				for _, value := range values {
					if before == "" && strings.Contains("-~ %=", value[:1]) {
						continue // an option, a folder, or what no tool is called
					}
					for typed, meant := range begun(shell, before, value) {
						s.completes(before, value, typed, meant)
					}
				}
			}
		})
	}
}

// begun returns ways to begin the word that is before and value, and what each of them means.
func begun(shell, before, value string) map[string]string {
	letters := []rune(value)
	cuts := map[int]bool{max(1, len(letters)/2): true}
	if sizetest.Chosen() != sizetest.Small {
		cuts[0] = true
	}
	ways := map[string]string{}
	for n := range cuts {
		if part := string(letters[:n]); n < len(letters) {
			for _, way := range []string{before + escaped(part), before + single(shell, part), single(shell, before+part), before + double(shell, part), double(shell, before+part)} {
				ways[way] = before + part
			}
		}
	}
	return ways
}

// escaped quotes a text with backslashes.
func escaped(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(" '\"$`;&|*?[]{}()<>\\#!~^%=", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// single begins a text with a single quotation mark.
func single(shell, text string) string {
	if shell == "fish" {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text)
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`)
}

// double begins a text with a double quotation mark.
func double(shell, text string) string {
	switch shell {
	case "fish":
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`).Replace(text)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`", `!`, `"\!"`).Replace(text)
}

// completes types the beginning of a word, a tab, and Enter.
func (s *terminal) completes(before, value, typed, meant string) {
	s.Helper()
	offered := before + value
	if strings.HasPrefix(before, "--") {
		offered = value // what the program prints for --flag=VALUE
	}
	s.file("offered", offered+"\ttext\n:4\n")
	words := s.enter("flowrun run " + typed + "\t")
	if len(words) != 2 || words[1] != before+value {
		s.Errorf("%s: flowrun run %s<TAB> gives %q, want %q", s.shell, typed, words, before+value)
	}
	if asked := s.read("asked"); asked != "run\n"+meant+"\nend\n" {
		s.Errorf("%s: flowrun run %s<TAB> asks for %q, want %q", s.shell, typed, asked, meant)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		s.Errorf("%s: flowrun run %s<TAB> runs what is typed", s.shell, typed)
		os.Remove(filepath.Join(s.dir, "ran"))
	}
}

// TestSeveralOffers: what several offers have in common is inserted, in the quotes of the word, and the rest can be typed.
// A folder's name ends without a space, and where flowrun offers endings or folders the shell completes files.
func TestSeveralOffers(t *testing.T) {
	tests := []struct{ offered, typed, want string }{
		{"two words\tone text\ntwo ways\tanother\n:4\n", "tw\tays", "two ways"},
		{"two words\tone text\ntwo ways\tanother\n:4\n", "'tw\tays'", "two ways"},
		{"two words\tone text\ntwo ways\tanother\n:4\n", "\"tw\tays\"", "two ways"},
		{"C=data/\n:6\n", "C=da\tx", "C=data/x"},
		{"yaml\njson\n:8\n", "offe\t", "offered"},
		{":16\n", "fold\tx", "folder/x"},
		{":0\n", "folder/ins\t", "folder/inside"},
	}
	for shell := range starts {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			s := open(t, shell)
			if err := os.Mkdir(filepath.Join(s.dir, "folder"), 0o700); err != nil {
				t.Fatal(err)
			}
			s.file("folder/inside", "")
			for _, tt := range tests {
				s.file("offered", tt.offered)
				if words := s.enter("flowrun run " + tt.typed); len(words) != 2 || words[1] != tt.want {
					t.Errorf("%s: flowrun run %q with %q gives %q, want %q", shell, tt.typed, tt.offered, words, tt.want)
				}
			}
		})
	}
}
