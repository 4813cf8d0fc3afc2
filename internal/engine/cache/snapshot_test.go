package cache

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestSnapshot checks which files count as written since a snapshot, each changed at once after it.
func TestSnapshot(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the time of the last change is not known here")
	}
	old := time.Now().Add(-time.Hour)
	for what, c := range map[string]struct {
		change func(dir string)
		wrote  string // of out, out/a, out/sub and out/link, those that were written
	}{
		"nothing":           {func(dir string) {}, ""},
		"read":              {func(dir string) { os.ReadFile(dir + "/out/a") }, ""},
		"the same again":    {func(dir string) { os.WriteFile(dir+"/out/a", []byte("a"), 0o644) }, "out/a"},
		"same size":         {func(dir string) { os.WriteFile(dir+"/out/a", []byte("b"), 0o644) }, "out/a"},
		"with its old time": {func(dir string) { os.WriteFile(dir+"/out/a", []byte("b"), 0o644); os.Chtimes(dir+"/out/a", old, old) }, "out/a"},
		"another in its place": {func(dir string) {
			os.WriteFile(dir+"/new", []byte("a"), 0o644)
			os.Chtimes(dir+"/new", old, old)
			os.Rename(dir+"/new", dir+"/out/a")
		}, "out/a"},
		"a mode":             {func(dir string) { os.Chmod(dir+"/out/a", 0o600) }, "out/a"},
		"a file in a folder": {func(dir string) { os.WriteFile(dir+"/out/sub/b", nil, 0o644) }, ""},
		"a folder's mode":    {func(dir string) { os.Chmod(dir+"/out/sub", 0o700) }, "out/sub"},
		"a link":             {func(dir string) { os.Remove(dir + "/out/link"); os.Symlink("a", dir+"/out/link") }, "out/link"},
		"a link for a file":  {func(dir string) { os.Remove(dir + "/out/a"); os.Symlink("link", dir+"/out/a") }, "out/a"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, map[string]string{"out/a": "a", "out/sub/": "", "out/link": "->a"})
			os.Chtimes(dir+"/out/a", old, old)
			before, err := TakeSnapshot(context.Background(), dir, []string{"out/"})
			if err != nil {
				t.Fatal(err)
			}
			c.change(dir)
			got := ""
			for _, path := range []string{"out", "out/a", "out/sub", "out/link"} {
				info, err := os.Lstat(filepath.Join(dir, path))
				if err != nil {
					t.Fatal(err)
				}
				if before.wrote(path, stampOf(info)) {
					got += path
				}
			}
			if got != c.wrote {
				t.Errorf("wrote %q, want %q", got, c.wrote)
			}
		})
	}
}

// TestSnapshotOfAnything checks that a snapshot reads folders in which there is what no result can hold, because the step
// may remove it.
func TestSnapshotOfAnything(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links and names are different here")
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"out/up": "->../../x", "out/\xff": "", "out/dangling": "->nothing"})
	before, err := TakeSnapshot(context.Background(), dir, []string{"out/", "none", "out/dangling"})
	if err != nil || len(before.stamps) != 4 {
		t.Errorf("%v %v", before, err)
	}
}

// TestWriters checks who is said to have written a file last: the step whose result with it was used last.
func TestWriters(t *testing.T) {
	s, dir := open(t), t.TempDir()
	clock := time.Now()
	s.now = func() time.Time { return clock }
	write(t, dir, map[string]string{"out/a": "a"})
	keepAs := func(step string, w *Writers) {
		clock = clock.Add(time.Second)
		d := draft(s, dir)
		d.Writers = w
		if err := s.Step(step).Keep(context.Background(), d); err != nil {
			t.Fatal(err)
		}
		if e, err := s.Step(step).Latest(); err == nil {
			e.Touch()
		}
	}
	is := func(w *Writers, path, want string) {
		t.Helper()
		got := w.last(s.Step("any"), path, s.Sum(dir))
		if want != "" {
			want = s.Step(want).name()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	var run Writers
	is(&run, "out/a", "")
	keepAs("one", &run)
	is(&run, "out/a", "one")
	is(&run, "out", "") // a folder belongs to nobody
	is(nil, "out/a", "one")
	keepAs("two", nil) // another run
	is(&run, "out/a", "one")
	is(new(Writers), "out/a", "two")
	if e, err := s.Step("one").Latest(); err != nil {
		t.Fatal(err)
	} else {
		clock = clock.Add(time.Second)
		e.Touch()
	}
	is(new(Writers), "out/a", "one")
	os.RemoveAll(s.Step("one").dir)
	is(new(Writers), "out/a", "two")
	clock = clock.Add(2 * pruneEvery)
	s.prune()
	if left, err := os.ReadDir(filepath.Join(s.dir, placesFolder, s.Sum(dir))); err != nil || len(left) != 1 {
		t.Errorf("%v %v", left, err)
	}
}
