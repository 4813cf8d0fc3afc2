package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

// grepTree is what searches with and without ripgrep are held against each other on.
func grepTree() map[string]string {
	return map[string]string{
		"a.go": "package a\n\nfunc Hello() {}\n// TODO: one\n", "b.txt": "todo two\nno\nToDo three", "dos.txt": "first TODO\r\nlast\r\n", "sub/c.go": "func helloAgain() {}\n",
		"sub/deep/d.md": "# TODO\n", ".hidden": "todo hidden\n", ".git/x": "todo git\n", ".gitignore": "*.log\n/gone/\n!keep.log\n", "x.log": "todo log\n", "keep.log": "todo kept\n", "gone/x": "todo gone\n",
		"sub/.gitignore": "*.tmp\n", "sub/x.tmp": "todo tmp\n", "sub/.ignore": "*.md\n", ".rgignore": "*.txt\n", ".ignore": "b.txt\n", "bin": "todo\x00binary\n", "late": "todo early\n" + strings.Repeat("x\n", 70_000) + "\x00\ntodo late\n",
		"wide": utf16Text("todo wide\nnext\n", "\xff\xfe", false), "mark": "\xef\xbb\xbftodo mark\n", "latin": "todo gr\xfc\xdf\n", "umlaut": "TODO Größe K\nÜBER\n", "long": strings.Repeat("x", 3000) + " todo " + strings.Repeat("y", 3000) + "\n",
		"link": "-> a.go", "out": "-> OUT/canary", "dir-link": "-> sub", "loop": "-> loop", "up": "-> .", "sp ace/new\nline": "todo odd\n", "-dash": "todo dash\n", "repo/.git/HEAD": "x", "repo/x.log": "todo inner repository\n", "repo/gone/x": "todo inner gone\n",
		"empty": "", "only-newline": "\n", "tabs": "\tTODO\t\n",
	}
}

var grepPatterns = []string{
	"todo", "TODO", "(?-i)TODO", "(?-i)todo", "^todo", "^todo$", "todo$", "o$", `\btodo\b`, `\Bodo`, `hello\w*\(`, `func\s+\w+`, "to?do|last", "größe", "ÜBER", "(?-i)über", `gr..\b`, `k$`, `[[:upper:]]{4}`, `(?-i)[[:upper:]]{4}`, `\d`, `[^\x00-\x7f]`, `x{1000}`,
	"", "^$", "^", "$", ".", `\.`, "-dash", "--files", "-e", "a|b", "(todo) (two|three)", `\Atodo`, `todo\z`, "(?s)todo.", "(?m)^last$", `\x{1F600}`, `\pL+ß`, "\t", `\t`, "\n", `todo\n`, `\r`, "(?U)t.*o", "[a-f]+$", `\Qfunc H\E`, "no such thing",
}

// TestGrepAlike: the answer with ripgrep is the one without, byte for byte.
func TestGrepAlike(t *testing.T) {
	rg := needtest.Program(t, "rg")
	d := newDesk(t, grepTree())
	config := filepath.Join(d.outside, "rgconfig")
	d.file(config, "--no-hidden\n--glob=!*.go\n--follow\n")
	t.Setenv("RIPGREP_CONFIG_PATH", config)
	for _, pattern := range grepPatterns {
		if pattern == "" {
			continue
		}
		for _, more := range [][]any{nil, {"path", "WS/sub"}, {"glob", "*.go"}, {"glob", "sub/**"}, {"limit", 2}, {"glob", "*.{go,txt}"}, {"path", "WS/repo"}, {"path", "gone"}} {
			params := append([]any{"pattern", pattern}, more...)
			t.Setenv("PATH", filepath.Dir(rg))
			with := d.call("grep_search", params...)
			t.Setenv("PATH", d.outside)
			same(t, fmt.Sprintf("%q %v with ripgrep and without", pattern, more), with, d.call("grep_search", params...))
		}
	}
}

// TestHints: ripgrep narrows the search down where it can, and is asked nothing where it
// cannot be trusted.
func TestHints(t *testing.T) {
	rg := needtest.Program(t, "rg")
	d := newDesk(t, grepTree())
	search := func(pattern string) *search {
		s, err := (&files{}).searching(d.input("grep_search", "pattern", pattern))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	files := []string{"a.go", "b.txt", "umlaut", "sub/c.go", "-dash", "sp ace/new\nline"}
	for pattern, want := range map[string]string{"hello": "[a.go sub/c.go]", "odd": "[sp ace/new\nline]", "^todo d": "[-dash]", "größe": "[umlaut]", "(?-i)HELLO": "[]", "two$": "[b.txt]"} {
		s := search(pattern)
		same(t, pattern, fmt.Sprint(s.ripgrep().matching(t.Context(), d.ws, files)), want)
	}
	// A program called rg in the workspace may be what a model wrote.
	own := filepath.Join(d.ws, "bin2", "rg")
	d.file(own, "#!/bin/sh\ntouch "+d.outside+"/ran\n")
	if err := os.Chmod(own, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", filepath.Dir(own)+string(os.PathListSeparator)+filepath.Dir(rg))
	has(t, "with a false rg", d.call("grep_search", "pattern", "hello"), "Found 2 matches")
	only(t, d.outside, "canary")
	// One that fails costs nothing but its time.
	other := filepath.Join(d.outside, "rg")
	for _, script := range []string{"exit 2", "echo -n a.go; exit 3", "kill -9 $$"} {
		d.file(other, "#!/bin/sh\n"+script+"\n")
		if err := os.Chmod(other, 0o755); err != nil {
			t.Fatal(err)
		}
		t.Setenv("PATH", d.outside+string(os.PathListSeparator)+"/usr/bin:/bin")
		has(t, script, d.call("grep_search", "pattern", "hello"), "Found 2 matches")
	}
}

func TestGrep(t *testing.T) {
	d := newDesk(t, grepTree())
	d.file(filepath.Join(d.ws, "many"), strings.Repeat("needle here\n", 30))
	same(t, "two files", d.call("grep_search", "pattern", "hello"),
		"Found 2 matches for \"hello\" in WS:\n---\nFile: WS/a.go\nL3: func Hello() {}\n---\nFile: WS/sub/c.go\nL1: func helloAgain() {}\n---")
	for _, c := range []struct {
		params []any
		want   []string
	}{
		{[]any{"pattern", "hello", "glob", "sub/*.go"}, []string{"Found 1 match for \"hello\" in WS (files: sub/*.go):", "L1: func helloAgain"}},
		{[]any{"pattern", "hello", "include", "a.*"}, []string{"Found 1 match", "a.go"}},
		{[]any{"pattern", "hello", "include", "a.*", "glob", "b.*"}, []string{"error: glob is \"b.*\", but include, which means the same, is \"a.*\"; use only one of them"}},
		{[]any{"pattern", "hello", "path", "a.go"}, []string{"Found 1 match for \"hello\" in WS/a.go:"}},
		{[]any{"pattern", "needle", "limit", 2}, []string{"Found more than 2 matches", "L2: needle here\n---\n[Only the first 2 are shown;"}},
		{[]any{"pattern", "needle", "maxResults", 30}, []string{"Found 30 matches"}},
		{[]any{"pattern", "none of this"}, []string{"No matches for \"none of this\" in WS."}},
		{[]any{"pattern", "("}, []string{"error: the pattern \"(\" is not a valid regular expression: missing closing ): `(`; to match a special character literally, escape it with \\, as in \\( or \\["}},
		{[]any{"pattern", "a(?!b)"}, []string{"lookahead and lookbehind are not supported"}},
		{[]any{"pattern", "todo", "glob", "["}, []string{"error: invalid pattern \"[\": "}},
		{[]any{"pattern", "todo", "path", "none"}, []string{"error: \"WS/none\": no such file or directory"}},
		{[]any{"pattern", "canary"}, []string{"No matches"}},
		{[]any{"pattern", "canary", "path", "out"}, []string{"error: ", "is outside the folders"}},
		{[]any{"pattern", "wide"}, []string{"File: WS/wide\nL1: todo wide\n"}},
		{[]any{"pattern", "^todo mark"}, []string{"L1: todo mark\n"}},
		{[]any{"pattern", "todo gr"}, []string{"L1: todo gr\uFFFD\n"}},
		{[]any{"pattern", "x todo"}, []string{"L1: " + strings.Repeat("x", 1000) + "... [line cut]\n"}},
	} {
		has(t, fmt.Sprint(c.params), d.call("grep_search", c.params...), c.want...)
	}
	for _, s := range []string{"todo git", "todo gone", "todo log", "todo tmp", "todo\x00", "todo late"} {
		if got := d.call("grep_search", "pattern", "todo"); strings.Contains(got, s) {
			t.Errorf("%q is found: %s", s, got)
		}
	}
}
