package builtin

import (
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestEdit(t *testing.T) {
	code := "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"
	for _, c := range []struct {
		name, before, old, new string
		more                   []any
		after, answer          string // after "": as before
	}{
		{"once", "a b c\n", "b", "B", nil, "a B c\n", "Replaced 1 place in WS/f."},
		{"to nothing", "a b c\n", " b", "", nil, "a c\n", "Replaced 1 place"},
		{"lines", code, "func b() {\n\treturn 2\n", "func b() {\n\treturn 3\n", nil, strings.Replace(code, "2", "3", 1), "Replaced 1 place"},
		{"dollar is no sign", "a\n", "a", "$1 \\1 &", nil, "$1 \\1 &\n", "Replaced 1 place"},
		{"twice", "x y x\nx\n", "x", "z", nil, "", "error: old_string occurs 3 times in \"WS/f\", on line 1, 1, 2; nothing was changed. Include more of the lines around the occurrence you mean, or set replace_all"},
		{"twice, all", "x y x\n", "x", "z", []any{"replace_all", true}, "z y z\n", "Replaced 2 places"},
		{"twice, expected", "x y x\n", "x", "z", []any{"expected_replacements", 2}, "z y z\n", "Replaced 2 places"},
		{"expected more", "x y x\n", "x", "z", []any{"expected_replacements", 3}, "", "occurs 2 times in \"WS/f\", but expected_replacements is 3"},
		{"expected, but one", "x\n", "x", "z", []any{"expected_replacements", 2}, "", "occurs once"},
		{"overlap", "aaa\n", "aa", "b", nil, "", "overlap"},
		{"far overlap", "aa aaa\n", "aa", "b", nil, "", "overlap"},
		{"overlap, all", "aaa\n", "aa", "b", []any{"replace_all", true}, "ba\n", "Replaced 1 place"},
		{"same", "a\n", "a", "a", nil, "", "error: old_string and new_string are the same"},
		{"empty old", "a\n", "", "b", nil, "", "already exists, and an empty old_string creates a new file; to replace the whole file, use write_file"},
		{"dos", "a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz", nil, "x\r\ny\r\nz\r\nc\r\n", "Replaced 1 place"},
		{"dos, one line", "a\r\nb\r\n", "a", "x\ny", nil, "x\r\ny\r\nb\r\n", "Replaced 1 place"},
		{"dos, written so", "a\r\nb\r\n", "a\r\nb", "x\r\ny", nil, "x\r\ny\r\n", "Replaced 1 place"},
		{"mixed", "a\r\nb\nc\n", "a\nb", "x", nil, "", "The file mixes \\r\\n and \\n line endings"},
		{"mixed, one line", "a\r\nb\nc\n", "b", "x\ny", nil, "a\r\nx\ny\nc\n", "Replaced 1 place"},
		{"mark", "\xef\xbb\xbfa\n", "a", "b", nil, "\xef\xbb\xbfb\n", "Replaced 1 place"},
		{"blanks differ", code, "func b() {\n    return 2\n}", "", nil, "", "From line 5 it differs only in spaces: line 6 is \"\\treturn 2\" in the file and \"    return 2\" in old_string."},
		{"a line differs", code, "func b() {\n\treturn 4\n}", "", nil, "", "It matches 1 line from line 5; line 6 is \"\\treturn 2\" in the file and \"\\treturn 4\" in old_string."},
		{"alike", code, "func  bb() {", "", nil, "", "The line most similar to its first line is line 5: \"func b() {\"."},
		{"past the end", "a\nb\n", "b\nc", "", nil, "", "It matches from line 2, but the file ends at line 2."},
		{"blank at the end", "a\nb\n", "a ", "", nil, "", "From line 1 it differs only in spaces"},
		{"nothing alike", code, "zzzzzzzz", "", nil, "", "No line is similar to the first line of old_string; read the file again."},
		{"only blanks", "a\n", "\t\t", "x", nil, "", "only spaces and line breaks"},
		{"case", "Hello\n", "hello", "x", nil, "", "line 1: \"Hello\""},
		{"binary", "a\x00b", "a", "b", nil, "", "is binary (application/octet-stream); only text can be edited"},
		{"utf-16", utf16Text("ab", "\xff\xfe", false), "a", "b", nil, "", "is UTF-16LE text, and edit supports only UTF-8"},
		{"broken late", strings.Repeat("a\n", headSize) + "b\xff\n", "b", "c", nil, "", "contains bytes that are not UTF-8"},
		{"grows", strings.Repeat("a", 1000), "a", strings.Repeat("x", 100_000), []any{"replace_all", true}, "", "95.4 MB large; the limit is 10 MB"},
	} {
		d := newDesk(t, map[string]string{"f": c.before})
		if err := os.Chmod(filepath.Join(d.ws, "f"), 0o754); err != nil {
			t.Fatal(err)
		}
		params := append([]any{"file_path", "WS/f", "old_string", c.old, "new_string", c.new}, c.more...)
		shown, err := d.confirm("edit", params...)
		if (err == nil) != (c.after != "") {
			t.Errorf("%s: a person is shown %v, %v", c.name, shown, err)
		} else if err == nil && shown.Diff.New != c.after {
			t.Errorf("%s: a person is shown %q", c.name, shown.Diff.New)
		}
		has(t, c.name, d.call("edit", params...), c.answer)
		if c.after == "" {
			c.after = c.before
		}
		same(t, c.name, d.read("f"), c.after)
		if info, err := os.Stat(filepath.Join(d.ws, "f")); err != nil || info.Mode().Perm() != 0o754 {
			t.Errorf("%s: mode %v, %v", c.name, info.Mode(), err)
		}
		only(t, d.ws, "f")
	}
}

// only holds that a folder has these files and nothing that was left behind.
func only(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	same(t, dir, fmt.Sprint(got), fmt.Sprint(names))
}

func TestEditNewFile(t *testing.T) {
	d := newDesk(t, nil)
	same(t, "no file", d.call("edit", "file_path", "WS/a/b.txt", "old_string", "x", "new_string", "y"), `error: cannot edit "WS/a/b.txt": the file does not exist; to create it, leave old_string empty`)
	only(t, d.ws)
	c, err := d.confirm("edit", "file_path", "WS/a/b.txt", "old_string", "", "new_string", "one\n")
	if err != nil || c.Diff == nil || c.Diff.Original != nil {
		t.Fatalf("%+v, %v", c, err)
	}
	only(t, d.ws)
	same(t, "diff", strings.ReplaceAll(c.Diff.FileDiff, d.ws, "WS"), "--- /dev/null\n+++ WS/a/b.txt\n@@ -0,0 +1,1 @@\n+one\n")
	same(t, "new", d.call("edit", "file_path", "WS/a/b.txt", "old_string", "", "new_string", "one\n"), "Created WS/a/b.txt (4 bytes).")
	same(t, "a/b.txt", d.read("a/b.txt"), "one\n")
}

// TestEditJudgedAnew: what a person was shown is not written blindly where the file has
// changed since: the rule of exactly one holds for what the file holds now.
func TestEditJudgedAnew(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "one\ntwo\n"})
	params := []any{"file_path", "WS/f", "old_string", "two", "new_string", "2"}
	if _, err := d.confirm("edit", params...); err != nil {
		t.Fatal(err)
	}
	d.file(filepath.Join(d.ws, "f"), "zero\none\ntwo\n")
	has(t, "still once", d.call("edit", params...), "Replaced 1 place")
	same(t, "f", d.read("f"), "zero\none\n2\n")
	d.file(filepath.Join(d.ws, "f"), "two\ntwo\n")
	has(t, "twice now", d.call("edit", params...), "occurs 2 times")
	same(t, "f", d.read("f"), "two\ntwo\n")
}

// TestEditAtOnce: calls of one process that change one file at the same time lose nothing.
func TestEditAtOnce(t *testing.T) {
	var before, after strings.Builder
	for i := range 20 {
		fmt.Fprintf(&before, "<%d>\n", i)
		fmt.Fprintf(&after, "done %d\n", i)
	}
	d := newDesk(t, map[string]string{"f": before.String()})
	var all sync.WaitGroup
	for i := range 20 {
		in := d.input("edit", "file_path", "WS/f", "old_string", fmt.Sprintf("<%d>", i), "new_string", fmt.Sprintf("done %d", i))
		all.Go(func() {
			if _, err := d.tools["edit"].Run(t.Context(), in); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	same(t, "f", d.read("f"), after.String())
}

// TestPutStands: a file that somebody else writes between the reading and the renaming is
// left as it is.
func TestPutStands(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "old\n"})
	dir, err := os.OpenRoot(d.ws)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	c := change{path: filepath.Join(d.ws, "f"), text: "new\n", count: 1}
	if c.was, err = readVersion(dir, "f", c.path); err != nil {
		t.Fatal(err)
	}
	err = replaceFile(dir, "f", c.path, []byte(c.text), c.was, func() error {
		d.file(c.path, "somebody's\n")
		return c.checkUnchanged(dir, "f")
	})
	has(t, "error", fmt.Sprint(err), "was changed by another program at the same time, so it was not edited")
	same(t, "f", d.read("f"), "somebody's\n")
	if err := replaceFile(dir, "new", filepath.Join(d.ws, "new"), []byte("x"), version{}, func() error {
		d.file(filepath.Join(d.ws, "new"), "first\n")
		return nil
	}); err == nil || !strings.Contains(err.Error(), "created by another program") {
		t.Errorf("a new file that is there meanwhile: %v", err)
	}
	same(t, "new", d.read("new"), "first\n")
	only(t, d.ws, "f", "new")
}

func TestWriteFile(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "one\ntwo\n", "bin": "\x00\x01", "wide": utf16Text("ab", "\xff\xfe", false), "dir/": "", "link": "-> f", "dangling": "-> nowhere"})
	if err := os.Chmod(filepath.Join(d.ws, "f"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := d.confirm("write_file", "file_path", "WS/f", "content", "one\n2\n")
	if err != nil || c.Title != "Overwrite "+d.ws+"/f" || c.Diff == nil || *c.Diff.Original != "one\ntwo\n" || c.Diff.New != "one\n2\n" {
		t.Fatalf("%+v, %v", c, err)
	}
	same(t, "diff", strings.ReplaceAll(c.Diff.FileDiff, d.ws, "WS"), "--- WS/f\n+++ WS/f\n@@ -1,2 +1,2 @@\n one\n-two\n+2\n")
	same(t, "f is as it was", d.read("f"), "one\ntwo\n")
	for _, s := range []struct{ name, content, want string }{
		{"WS/f", "one\n2\n", "Overwrote WS/f (6 bytes)."},
		{"WS/f", "one\n2\n", "WS/f already has this content; nothing was written."},
		{"WS/link", "through the link\n", "Overwrote WS/f (17 bytes)."},
		{"WS/new/er/file", "", "Created WS/new/er/file (0 bytes)."},
		{"WS/bin", "text", "Overwrote WS/bin (4 bytes)."},
		{"WS/dir", "x", `error: "WS/dir" is a folder`},
		{"WS/dir/", "x", "names a folder; the path of a file does not end with a slash"},
		{"WS/newdir/", "x", "names a folder"},
		{"WS", "x", "is a folder"},
		{"WS/f/below", "x", "a parent in the path is a file, not a folder"},
		{"WS/dangling", "x", "is a broken symbolic link"},
		{"WS/.git/hooks/pre-commit", "#!/bin/sh\n", "belongs to git,"},
		{"WS/sub/.GIT/config", "x", "belongs to git,"},
		{"WS/.flowrun/tools/read_file.yaml", "x", "belongs to flowrun, which may run files from there; file tools do not write in .flowrun"},
		{"WS/.cycod/tools/x.yaml", "x", "belongs to flowrun,"},
		{"WS/.gitignore", "*.log\n", "Created"},
	} {
		has(t, s.name, d.call("write_file", "file_path", s.name, "content", s.content), s.want)
	}
	same(t, "f", d.read("f"), "through the link\n")
	if info, err := os.Lstat(filepath.Join(d.ws, "link")); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is one no longer: %v, %v", info, err)
	}
	if info, _ := os.Stat(filepath.Join(d.ws, "f")); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	if _, err := os.Lstat(filepath.Join(d.ws, ".git")); err == nil {
		t.Error(".git was made")
	}
	content, err := d.content("write_file", "file_path", "WS/wide", "content", "x")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "no diff of UTF-16", fmt.Sprint(content.Display), "The file is UTF-16LE text now and will be UTF-8 (1 byte).")
	content, err = d.content("write_file", "file_path", "WS/f", "content", "again\n")
	if diff, ok := content.Display.(*gostep.FileDiff); err != nil || !ok || diff.New != "again\n" {
		t.Errorf("shown after: %v, %v", content.Display, err)
	}
}

// TestHardLinks: a file with several names may be written by one of them; the others keep
// what they had.
func TestHardLinks(t *testing.T) {
	d := newDesk(t, map[string]string{"f": "one\n"})
	if err := os.Link(filepath.Join(d.ws, "f"), filepath.Join(d.outside, "other")); err != nil {
		t.Skip(err)
	}
	has(t, "read", d.call("read_file", "absolute_path", "WS/f"), "one\n")
	has(t, "write", d.call("write_file", "file_path", "WS/f", "content", "two\n"), "Overwrote")
	b, err := os.ReadFile(filepath.Join(d.outside, "other"))
	same(t, "the other name", fmt.Sprint(string(b), err), "one\n<nil>")
}

func FuzzEdit(f *testing.F) {
	f.Add("a b c\n", "b", "B", false)
	f.Add("a\r\nb\r\n", "a\nb", "x\n", true)
	f.Add("aaa", "aa", "b", false)
	f.Fuzz(func(t *testing.T, held, old, text string, all bool) {
		e := editParams{"old_string": old, "new_string": text, "replace_all": all}
		info, err := os.Stat(".")
		if err != nil {
			t.Fatal(err)
		}
		got, count, err := e.rewrite("f", version{info, []byte(held)})
		if err != nil {
			return
		}
		if newlines(held) == "\r\n" {
			old, text = toCRLF(old), toCRLF(text)
		}
		if !all && (count != 1 || got != strings.Replace(held, old, text, 1)) || got != strings.ReplaceAll(held, old, text) {
			t.Errorf("%q with %q for %q became %q", held, text, old, got)
		}
	})
}

// TestNearestInLarge: looking for what is like a piece takes its time in proportion to the
// file, also where all lines are much alike.
func TestNearestInLarge(t *testing.T) {
	text := strings.Repeat("aaaa bbbb cccc dddd\n", maxWritten/20-1) + "aaaa xbbb cccc\n"
	same(t, "large", nearest(text, "aaaa xbbb  cccc"), fmt.Sprintf("The line most similar to its first line is line %d: \"aaaa xbbb cccc\".", maxWritten/20))
	same(t, "one long line", nearest(strings.Repeat("x", maxWritten), "y"), "No line is similar to the first line of old_string; read the file again.")
}
