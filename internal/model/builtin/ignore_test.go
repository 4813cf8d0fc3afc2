package builtin

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// leftOut are the files below a folder that .gitignore files leave out, as this package
// reads them.
func leftOut(t *testing.T, dir string) []string {
	t.Helper()
	all, kept := map[string]bool{}, map[string]bool{}
	for _, list := range []map[string]bool{all, kept} {
		w := &walk{ctx: t.Context(), gitIgnore: len(all) > 0, depth: maxFolder, visit: func(e entry) error {
			if !e.typ.IsDir() {
				list[e.rest] = true
			}
			return nil
		}}
		if err := w.from(place{path: dir, root: dir, rest: "."}); err != nil {
			t.Fatal(err)
		}
	}
	maps.DeleteFunc(all, func(name string, _ bool) bool { return kept[name] })
	return slices.Sorted(maps.Keys(all))
}

// gitLeftOut are those that git leaves out.
func gitLeftOut(t *testing.T, dir string, names []string) []string {
	t.Helper()
	cmd := exec.Command("git", "-c", "core.excludesFile=", "-c", "core.ignoreCase=false", "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+dir, "GIT_CONFIG_GLOBAL=/dev/null")
	cmd.Stdin = strings.NewReader(strings.Join(names, "\x00") + "\x00")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != 1 {
		t.Fatalf("git: %v\n%s", err, &out)
	}
	list := strings.FieldsFunc(out.String(), func(r rune) bool { return r == 0 })
	slices.Sort(list)
	return list
}

// repository is a folder that git knows, with files.
func repository(t *testing.T, files map[string]string) (dir string, names []string) {
	t.Helper()
	d := newDesk(t, files)
	if _, err := exec.LookPath("git"); err == nil {
		if out, err := exec.Command("git", "init", "-q", d.ws).CombinedOutput(); err != nil {
			t.Fatalf("git init: %v\n%s", err, out)
		}
	}
	for name, text := range files { // git init writes an exclude of its own
		if strings.HasPrefix(name, ".git/") {
			d.file(filepath.Join(d.ws, name), text)
		} else if !strings.HasSuffix(name, "/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return d.ws, names
}

// tree are files for patterns to match.
var tree = []string{"a", "b.log", "a.txt", "foo", "bar/foo", "bar/baz/foo", "bar/b.log", "bar/baz/deep/x.txt", "build/out.o", "sub/build/out.o", "sub/build.txt",
	"#hash", "!bang", "trail ", "sp ace", "back\\slash", "[x]", "x", "-", "]", "é.txt", "abc/def/ghi", "abc/x/y/def", "abc/def", "node_modules/m/index.js", ".hidden", ".h/x", "a/b-", "z/*", "q?", "A.TXT", "tab\t"}

var gitignores = []string{
	"foo", "/foo", "foo/", "*.log", "*.txt\n!a.txt", "bar/*\n!bar/baz", "bar/\n!bar/foo", "bar/**\n!bar/baz/\n!bar/baz/foo", "**/foo", "bar/**/foo", "bar/**", "**/baz/**", "/*\n!/bar", "/**\n!/bar/\n!/bar/**",
	"build", "build/", "/build", "sub/build", "*/build", "**/build/", "#hash", "\\#hash", "!bang", "\\!bang", "trail ", "trail\\ ", "sp ace", "sp\\ ace", "back\\\\slash", "[x]", "\\[x]", "[[x]]", "[!x]", "[^x]", "[a-x]", "[]]", "[]-]", "[!]a-z]*",
	"[[:alpha:]]", "[[:digit:]", "[[:nope:]]", "[[:upper:]]*", "[x", "[", "\\", "x\\", "**", "*", "***", "a**", "**a", "b**g", "abc/**/def", "abc/**def", "abc**/def", "/abc/**/", "**/", "/", "//", "!", "", " ", "   # no", "\ufefffoo", "foo\r\nbar/foo\r",
	"?.txt", "??.txt", "*.TXT", "*/*", "*/*/*", "/*/foo", "?", "b?r", "b[a]r/foo", "bar[/]foo", "bar?foo", "abc/*/def", "node_modules", ".*", "!.*", "*\n!*/\n!foo", "*\n!*/\n!*.txt", "a/", "/a", "z/\\*", "q\\?", "{a,foo}", "\\foo", "\\*", "tab\t", "foo/**", "[\\]]", "[a-]", "[--0]", "[z-a]", "[\\a-\\c]*", "[a-c-e]",
}

// TestIgnore: .gitignore files leave out what git leaves out. With git on PATH it is the
// judge of every list here; the few that are written out hold without.
func TestIgnore(t *testing.T) {
	files := map[string]string{}
	for _, name := range tree {
		if name == "a" || name == "foo" || name == "abc/def" { // folders below have the name
			continue
		}
		files[name] = ""
	}
	files["foo"] = ""
	files[".gitignore"] = "*.log\n/build/\n!bar/*.log\n"
	dir, names := repository(t, files)
	same(t, "by hand", fmt.Sprint(leftOut(t, dir)), "[b.log build/out.o]")
	needtest.Programs(t, "git")
	for _, text := range gitignores {
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		same(t, fmt.Sprintf("%q", text), fmt.Sprintf("%q", leftOut(t, dir)), fmt.Sprintf("%q", gitLeftOut(t, dir, names)))
	}
}

// TestIgnoreFolders: nested files, .git/info/exclude and what is strongest.
func TestIgnoreFolders(t *testing.T) {
	dir, names := repository(t, map[string]string{
		".gitignore": "*.log\n/top\nkept/*\n!kept/yes\n", "a.log": "", "top": "", "sub/top": "", "kept/yes": "", "kept/no": "", "private": "", "sub/private": "",
		".git/info/exclude": "private\n*.md\n", "x.md": "", "sub/.gitignore": "!a.log\n/deep\n!x.md\n", "sub/a.log": "", "sub/b.log": "", "sub/deep/x": "", "sub/x.md": "",
		"sub/sub/deep": "", "sub/sub/.gitignore": "*\n!.gitignore\n", "sub/sub/x": "", "gone/.gitignore": "!*\n",
	})
	want := "[a.log kept/no private sub/b.log sub/deep/x sub/private sub/sub/deep sub/sub/x top x.md]"
	same(t, "by hand", fmt.Sprint(leftOut(t, dir)), want)
	if _, err := exec.LookPath("git"); err == nil {
		same(t, "git", fmt.Sprint(gitLeftOut(t, dir, names)), want)
	}
}

// TestIgnoreRandom holds random lists against git.
func TestIgnoreRandom(t *testing.T) {
	needtest.Programs(t, "git")
	rounds := sizetest.Of(30, 150, 3000)
	seed := sizetest.Seed(t)
	r := rand.New(rand.NewPCG(seed, 1))
	word := func(letters string, most int) string {
		var b strings.Builder
		for range 1 + r.IntN(most) {
			b.WriteByte(letters[r.IntN(len(letters))])
		}
		return b.String()
	}
	files := map[string]string{}
	for range 80 {
		parts := []string{}
		for range 1 + r.IntN(3) {
			parts = append(parts, word("ab-", 2))
		}
		files[path.Join(parts...)+"x"] = "" // no file is a folder's name
	}
	dir, names := repository(t, files)
	for range rounds {
		var b strings.Builder
		for range 1 + r.IntN(3) {
			b.WriteString(word("ab-x*?[]!/\\* /", 6) + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(leftOut(t, dir), func(s string) bool { return s == ".gitignore" })
		same(t, fmt.Sprintf("%q (seed %d)", b.String(), seed), fmt.Sprintf("%q", got), fmt.Sprintf("%q", gitLeftOut(t, dir, names)))
	}
}

// FuzzIgnore: no pattern makes trouble, and one without special signs matches its own
// text alone.
func FuzzIgnore(f *testing.F) {
	for _, s := range gitignores {
		f.Add(s, "bar/foo")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		rules := parseIgnore(text)
		g := &ignores{rules: rules}
		if name = path.Clean("/" + name)[1:]; name == "" {
			return
		}
		_, _ = g.ignored(name, true), g.ignored(name, false)
		if len(rules) == 1 && !strings.ContainsAny(text, "*?[]!\\/# \r\n\ufeff") && len(text) < maxPath {
			if got := g.ignored(name, false); got != (path.Base(name) == text) {
				t.Errorf("%q and %q: %v", text, name, got)
			}
		}
	})
}
