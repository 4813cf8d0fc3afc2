package textdiff

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

func TestUnified(t *testing.T) {
	lines := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n"
	for _, c := range []struct{ name, before, after, want string }{
		{"nothing", lines, lines, ""},
		{"one line", "a\nb\nc\n", "a\nB\nc\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"},
		{"one of two", lines, strings.Replace(strings.Replace(lines, "2\n", "two\n", 1), "17\n", "", 1),
			"--- f\n+++ f\n@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n@@ -14,5 +14,4 @@\n 14\n 15\n 16\n-17\n 18\n"},
		{"from nothing", "", "a\n", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+a\n"},
		{"no line end", "a", "b\n", "--- f\n+++ f\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n"},
	} {
		if got := Unified("f", c.before, "f", c.after); got != c.want {
			t.Errorf("%s: got\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// patch makes one text from the other with the output of Unified.
func TestUnifiedPatches(t *testing.T) {
	patch := needtest.Program(t, "patch")
	dir := t.TempDir()
	file := filepath.Join(dir, "f")
	text := rapid.Custom(func(t *rapid.T) string {
		s := strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", ""}), 0, 30).Draw(t, "lines"), "\n")
		if rapid.Bool().Draw(t, "end") && s != "" {
			s += "\n"
		}
		return s
	})
	proptest.Check(t, func(t *rapid.T) {
		before, after := text.Draw(t, "before"), text.Draw(t, "after")
		shown := Unified("f", before, "f", after)
		if shown == "" {
			if before != after {
				t.Fatalf("%q and %q are said to be equal", before, after)
			}
			return
		}
		if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(patch, "-s", "-f", "--no-backup-if-mismatch", file)
		cmd.Stdin = strings.NewReader(shown)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s\n%s", err, out, shown)
		}
		got, err := os.ReadFile(file)
		if err != nil && after != "" { // patch removes files that become empty
			t.Fatal(err)
		}
		if string(got) != after {
			t.Fatalf("got %q, want %q\n%s", got, after, shown)
		}
	})
}
