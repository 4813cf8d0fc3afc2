package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// aged gives files of a desk their times: hours ago, by name.
func (d *desk) aged(hours map[string]int) {
	d.t.Helper()
	for name, h := range hours {
		at := time.Now().Add(-time.Duration(h) * time.Hour)
		if err := os.Chtimes(filepath.Join(d.ws, name), at, at); err != nil {
			d.t.Fatal(err)
		}
	}
}

// lines are those of an answer that name files.
func lines(answer string) string {
	var list []string
	for line := range strings.Lines(answer) {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(line), "WS/"); ok {
			list = append(list, rest)
		}
	}
	return strings.Join(list, " ")
}

func TestGlob(t *testing.T) {
	d := newDesk(t, map[string]string{
		"a.go": "", "b.go": "", "c.txt": "", ".hidden.go": "", "src/d.go": "", "src/deep/e.go": "", "src/deep/e.ts": "", "src/[x].go": "",
		"old/y.go": "", "old/z.go": "", "gone/x.go": "", ".gitignore": "gone/\n*.log\n", "x.log": "", ".git/config.go": "", "sub/.git": "gitdir: x\n",
		"link.go": "-> a.go", "out.go": "-> OUT/canary", "src/up": "-> ..", "loop": "-> loop", "dir.go/inner": "", "gone-link": "-> gone",
	})
	d.aged(map[string]int{"a.go": 2, "b.go": 0, ".hidden.go": 1, "src/d.go": 3, "src/deep/e.go": 5, "src/deep/e.ts": 4, "src/[x].go": 6, "old/y.go": 100, "old/z.go": 50, "c.txt": 7, ".gitignore": 8, "dir.go/inner": 9})
	for _, c := range []struct{ pattern, path, want string }{
		{"*.go", "", "b.go .hidden.go a.go link.go"},
		{"**/*.go", "", "b.go .hidden.go a.go link.go src/d.go src/deep/e.go src/[x].go old/y.go old/z.go"},
		{"src/**/*.{go,ts}", "", "src/d.go src/deep/e.ts src/deep/e.go src/[x].go"},
		{"*.go", "WS/src", "src/d.go src/[x].go"},
		{"*.go", "src", "src/d.go src/[x].go"},
		{"**", "src/deep", "src/deep/e.ts src/deep/e.go"},
		{"deep/*", "WS/src", "src/deep/e.ts src/deep/e.go"},
		{"WS/src/*.go", "", "src/d.go src/[x].go"},
		{"src/\\[x\\].go", "", "src/[x].go"},
		{"a.go", "", "a.go"},
		{"./a.go", "", "a.go"},
		{"src/../a.go", "", "error: the pattern \"src/../a.go\" contains .."},
		{"../outside/*", "", "error: the pattern \"../outside/*\" contains .."},
		{"OUT/*", "", "error: \"OUT\" is outside the folders"},
		{"/etc/*", "", "error: \"/etc\" is outside the folders"},
		{"out.go", "", "No files match"},
		{"*.log", "", "No files match \"*.log\" in WS (2 entries ignored by .gitignore)"},
		{"x.go", "gone", "gone/x.go"}, // who names it gets it
		{"none/*.go", "", "No files match"},
		{"*", "none", "error: \"WS/none\": no such file or directory"},
		{"*", "a.go", "error: \"WS/a.go\" is a file, not a folder"},
		{"e.go", "", "A pattern without ** does not match files in subfolders: **/e.go does."},
		{"[", "", "error: invalid pattern \"[\": a bracket"},
		{"{a,b", "", "error: invalid pattern \"{a,b\": "},
		{strings.Repeat("{a,b}", 20), "", "has too many alternatives in braces"},
		{strings.Repeat("{a,b,c,", 20) + "d" + strings.Repeat("}", 20), "", "has too many alternatives in braces"},
		{"config.go", ".git", ".git/config.go"},
	} {
		params := []any{"pattern", d.fill(c.pattern)}
		if c.path != "" {
			params = append(params, "path", c.path)
		}
		got := d.call("glob", params...)
		if strings.Contains(c.want, " ") && (strings.HasPrefix(c.want, "error") || strings.Contains(c.want, "match") || strings.Contains(c.want, "pattern") || strings.Contains(c.want, "braces")) {
			has(t, c.pattern, got, c.want)
			continue
		}
		same(t, c.pattern+" in "+c.path, lines(got), c.want)
	}
	has(t, "with what git ignores", lines(d.call("glob", "pattern", "**/*", "file_filtering_options", map[string]any{"respect_git_ignore": false})), "x.log", "gone/x.go")
}

// TestGlobMany: the answer is bounded and says so.
func TestGlobMany(t *testing.T) {
	named := map[string]string{}
	for i := range maxGlobbed + 7 {
		named[fmt.Sprintf("d%d/f%04d", i%3, i)] = ""
	}
	d := newDesk(t, named)
	got := d.call("glob", "pattern", "**/f*")
	has(t, "notice", got, fmt.Sprintf("Found %d files", maxGlobbed+7), "[7 more not shown; use a narrower pattern or path]")
	if n := strings.Count(got, "WS/d"); n != maxGlobbed {
		t.Errorf("%d files named", n)
	}
}

func TestListDirectory(t *testing.T) {
	d := newDesk(t, map[string]string{"b": "", "a": "", "Z": "", "dir/x": "", ".hidden": "", ".git/config": "", "x.log": "", "y.tmp": "", "gone/x": "", ".gitignore": "*.log\ngone\n", "link": "-> dir", "empty/": ""})
	same(t, "all", d.call("list_directory", "path", "WS"),
		"Listed 9 items in WS (2 ignored by .gitignore):\n---\n[DIR] dir\n[DIR] empty\n.gitignore\n.hidden\nZ\na\nb\n[LINK] link\ny.tmp")
	same(t, "less", d.call("list_directory", "path", "WS", "ignore", []any{"*.tmp", "dir/", ".*"}),
		"Listed 5 items in WS (2 ignored by .gitignore):\n---\n[DIR] empty\nZ\na\nb\n[LINK] link")
	has(t, "what git ignores", d.call("list_directory", "path", "WS", "file_filtering_options", map[string]any{"respect_git_ignore": false}), "x.log", "[DIR] gone", "Listed 11 items")
	same(t, "empty", d.call("list_directory", "path", "WS/empty"), "Listed 0 items in WS/empty.")
	same(t, ".git when asked", d.call("list_directory", "path", "WS/.git"), "Listed 1 item in WS/.git:\n---\nconfig")
	has(t, "ignored when asked", d.call("list_directory", "path", "WS/gone"), "x")
	has(t, "a file", d.call("list_directory", "path", "WS/a"), `error: "WS/a" is a file, not a folder; to read it, use read_file`)
	has(t, "bad pattern", d.call("list_directory", "path", "WS", "ignore", []any{"["}), "error: invalid pattern \"[\"")
}

func TestReadManyFiles(t *testing.T) {
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR"
	d := newDesk(t, map[string]string{
		"a.txt": "one\n", "b.txt": "no end", "empty.txt": "", "sub/c.txt": "three\n", "sub/deep/d.txt": "four\n", "pic.png": png, "data.bin": "\x00\x01", "vendor/v.txt": "vendored\n",
		"x.log": "logged\n", ".gitignore": "*.log\n", ".env": "PASSWORD=x\n", "long.md": numbered(1, 2100), "link.txt": "-> a.txt", "out.txt": "-> OUT/canary",
	})
	for _, c := range []struct {
		paths  []any
		more   []any
		want   string
		not    string
		pieces []string
	}{
		{paths: []any{"a.txt", "b.txt"}, want: "--- WS/a.txt ---\none\n--- WS/b.txt ---\nno end\n--- End of content ---"},
		{paths: []any{"*.txt"}, want: "--- WS/a.txt ---\none\n--- WS/b.txt ---\nno end\n--- WS/empty.txt ---\n--- End of content ---"},
		{paths: []any{"WS/sub"}, want: "--- WS/sub/c.txt ---\nthree\n--- WS/sub/deep/d.txt ---\nfour\n--- End of content ---"},
		{paths: []any{"sub"}, more: []any{"recursive", false}, want: "--- WS/sub/c.txt ---\nthree\n--- End of content ---"},
		{paths: []any{"sub/**/*.txt"}, more: []any{"exclude", []any{"sub/deep"}}, want: "--- WS/sub/c.txt ---\nthree\n--- End of content ---"},
		{paths: []any{"sub"}, more: []any{"exclude", []any{"c.txt"}}, want: "--- WS/sub/deep/d.txt ---\nfour\n--- End of content ---"},
		{paths: []any{"a.txt"}, more: []any{"include", []any{"a.txt", "sub/c.txt", "WS/a.txt"}}, want: "--- WS/a.txt ---\none\n--- WS/sub/c.txt ---\nthree\n--- End of content ---"},
		{paths: []any{"**"}, pieces: []string{"four", `"WS/data.bin" is a binary file`, `"WS/pic.png" is image/png, which is read only if a pattern names`, "not the whole file, only lines 1 to 2000 of 2100"}, not: "vendored"},
		{paths: []any{"**"}, not: "PASSWORD"},
		{paths: []any{"**"}, not: "logged"},
		{paths: []any{"**"}, not: "canary"},
		{paths: []any{"**"}, more: []any{"useDefaultExcludes", false}, pieces: []string{"vendored", "PASSWORD"}},
		{paths: []any{"**"}, more: []any{"file_filtering_options", map[string]any{"respect_git_ignore": false}}, pieces: []string{"logged"}},
		{paths: []any{".env", "x.log", "vendor/v.txt"}, pieces: []string{"PASSWORD", "logged", "vendored"}},
		{paths: []any{"*.png"}, want: "--- WS/pic.png ---\n[image/png, 16 bytes]\n--- End of content ---"},
		{paths: []any{"pic.png", "a.txt"}, want: "--- WS/pic.png ---\n[image/png, 16 bytes]\n--- WS/a.txt ---\none\n--- End of content ---"},
		{paths: []any{"data.bin"}, pieces: []string{"No files were read for data.bin.", "is a binary file (application/octet-stream, 2 bytes)"}},
		{paths: []any{"link.txt"}, want: "--- WS/a.txt ---\none\n--- End of content ---"},
		{paths: []any{"none.txt"}, want: `error: "WS/none.txt": no such file or directory; list_directory and glob show what exists`},
		{paths: []any{"none/*"}, want: "No files were read for none/*."},
		{paths: []any{"out.txt"}, pieces: []string{"error: ", "is outside the folders", "a link to"}},
		{paths: []any{"OUT/*"}, pieces: []string{"error: ", "is outside the folders"}},
		{paths: []any{"../outside/*"}, pieces: []string{"error: ", "contains .."}},
	} {
		for i := range c.paths {
			c.paths[i] = d.fill(c.paths[i].(string))
		}
		for i := range c.more {
			if list, ok := c.more[i].([]any); ok {
				for j := range list {
					list[j] = d.fill(list[j].(string))
				}
			}
		}
		got := d.call("read_many_files", append([]any{"paths", c.paths}, c.more...)...)
		if c.want != "" {
			same(t, fmt.Sprint(c.paths, c.more), got, c.want)
		}
		has(t, fmt.Sprint(c.paths, c.more), got, c.pieces...)
		if c.not != "" && strings.Contains(got, c.not) {
			t.Errorf("%v %v: %q is in:\n%s", c.paths, c.more, c.not, got)
		}
	}
}

// TestReadManyBounds: many and large files give a bounded answer that says what is missing.
func TestReadManyBounds(t *testing.T) {
	named := map[string]string{}
	for i := range 30 {
		named[fmt.Sprintf("f%02d.txt", i)] = strings.Repeat(strings.Repeat("x", 99)+"\n", 1500)
	}
	d := newDesk(t, named)
	got := d.call("read_many_files", "paths", []any{"*"})
	has(t, "notice", got, "more files were skipped: an answer holds at most 500 files and 2 MB; use narrower patterns")
	if len(got) > maxManyText+200_000 {
		t.Errorf("%d bytes", len(got))
	}
}
