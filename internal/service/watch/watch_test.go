package watch

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Changes files and checks which changes Wait reports.
func TestWait(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T)
		want   string // "" for nothing
	}{
		{"nothing", func(*testing.T) {}, ""},
		{"a named file", func(t *testing.T) { write(t, "tool.yaml", "it changed") }, "tool.yaml"},
		{"a file an editor replaces", func(t *testing.T) {
			os.Rename("tool.yaml", "tool.yaml~")
			time.Sleep(350 * time.Millisecond) // it no longer exists at the next poll
			write(t, "tool.yaml.new", "name: other")
			os.Rename("tool.yaml.new", "tool.yaml")
		}, "tool.yaml"},
		{"a file that goes", func(t *testing.T) { os.Remove("tool.yaml") }, "tool.yaml"},
		{"a file that comes", func(t *testing.T) { write(t, "other.yaml", "") }, "other.yaml"},
		{"deep below a pattern", func(t *testing.T) { write(t, "src/a/b/new.go", "") }, "src/a/b/new.go"},
		{"not of the pattern", func(t *testing.T) { write(t, "src/a/readme.md", "") }, ""},
		{"below a folder", func(t *testing.T) { write(t, "data/x/y", "") }, "data/x/y"},
		{"version control", func(t *testing.T) { write(t, "src/.git/HEAD.go", "") }, ""},
		{"the state folder", func(t *testing.T) { write(t, "src/state/x.go", "") }, ""},
		{"what a run makes", func(t *testing.T) { write(t, "src/gen/x.go", "") }, ""},
		{"several at once", func(t *testing.T) {
			for _, name := range []string{"src/c.go", "src/b.go", "src/a.go"} {
				write(t, name, "")
				time.Sleep(90 * time.Millisecond)
			}
		}, "src/a.go src/b.go src/c.go"},
		{"there and back", func(t *testing.T) {
			write(t, "src/t.go", "")
			time.Sleep(20 * time.Millisecond)
			os.Remove("src/t.go")
		}, ""},
		{"a folder that goes", func(t *testing.T) { os.RemoveAll("src") }, "src/main.go"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			synctest.Test(t, func(t *testing.T) {
				write(t, "tool.yaml", "name: x")
				write(t, "src/main.go", "")
				s := &Set{Files: []string{"tool.yaml", "other.yaml"}, Patterns: []string{"src/**/*.go", "data"},
					Exclude: []string{"src/gen"}, SkipFolders: []string{"src/state"}}
				before := s.Take()
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				go c.change(t)
				changed, err := s.Wait(ctx, before)
				if got := filepath.ToSlash(strings.Join(changed, " ")); got != c.want || (err != nil) != (c.want == "") {
					t.Errorf("%q, want %q (%v)", got, c.want, err)
				}
			})
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestCheck(t *testing.T) {
	for pattern, good := range map[string]bool{"src/**/*.go": true, "a": true, "": false, "[": false, "{a,b": false} {
		if err := Check(pattern); (err == nil) != good {
			t.Errorf("%q: %v", pattern, err)
		}
	}
}
