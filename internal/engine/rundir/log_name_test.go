package rundir

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/dag"
)

func TestLogName(t *testing.T) {
	long := dag.ID(strings.Repeat("x", 500))
	seen := map[string]dag.ID{}
	for _, c := range []struct {
		path    dag.ID
		attempt int
		want    string
	}{
		{"build", 1, "build.out"},
		{"build", 2, "build~try2.out"},
		{"setup#2/clone", 1, "setup%232%2Fclone.out"},
		{"test[a b]", 1, "test%5Ba%20b%5D.out"},
		{"..", 1, "%2E..out"},
		{"a\n\x1b", 1, "a%0A%1B.out"},
		{long, 1, ""},
		{long + "y", 1, ""},
	} {
		got := LogName(c.path, c.attempt, Stdout)
		if c.want != "" && got != c.want || len(got) > 220 || strings.ContainsAny(got, "/\n") {
			t.Errorf("%q: %q, want %q", c.path, got, c.want)
		}
		if other, dup := seen[got]; dup {
			t.Errorf("%q and %q share %q", c.path, other, got)
		}
		seen[got] = c.path
	}
}

func TestReadLogs(t *testing.T) {
	dir := t.TempDir()
	long := dag.ID(strings.Repeat("x", 180))
	longer := long + "/more"
	for _, name := range []string{
		"a.out", "a.err", "a~2.out", "a~10.out", "a~try2.out", "a~try2~2.err", "a~try10.out",
		"ab.out", "a-b.out", "a.b.out", // steps of their own
		LogName("a~try2", 1, Stdout), LogName("a/b", 1, Stdout), LogName("a#2/b", 3, Stderr),
		LogName(long, 1, Stdout), LogName(longer, 1, Stdout), LogName(longer, 2, Stderr),
		"a.times", "a~try2~3.times", // times
		"a~.out", "a~02.out", "a~try.out", "a~tryx.out", "a~123456.out", "a.txt", "a", ".adopted-1", // strangers
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Mkdir(filepath.Join(dir, "a~3.out"), 0o700)
	logs, err := ReadLogs(dir)
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[dag.ID][]LogFile{
		"a": {
			{Path: "a.out", Stream: Stdout, Attempt: 1}, {Path: "a.err", Stream: Stderr, Attempt: 1}, {Path: "a~2.out", Stream: Stdout, Attempt: 1}, {Path: "a~10.out", Stream: Stdout, Attempt: 1},
			{Path: "a~try2.out", Stream: Stdout, Attempt: 2}, {Path: "a~try2~2.err", Stream: Stderr, Attempt: 2}, {Path: "a~try10.out", Stream: Stdout, Attempt: 10},
		},
		"ab":     {{Path: "ab.out", Stream: Stdout, Attempt: 1}},
		"a~try2": {{Path: "a%7Etry2.out", Stream: Stdout, Attempt: 1}},
		"a/b":    {{Path: "a%2Fb.out", Stream: Stdout, Attempt: 1}},
		"a#2/b":  {{Path: "a%232%2Fb~try3.err", Stream: Stderr, Attempt: 3}},
		long:     {{Path: string(long) + ".out", Stream: Stdout, Attempt: 1}},
		longer:   {{Path: LogName(longer, 1, Stdout), Stream: Stdout, Attempt: 1}, {Path: LogName(longer, 2, Stderr), Stream: Stderr, Attempt: 2}},
		"b":      {},
		"":       {},
	} {
		got := logs.Of(path)
		for i := range want {
			want[i].Path = filepath.Join(dir, want[i].Path)
		}
		if d := cmp.Diff(want, got, cmpopts.IgnoreUnexported(LogFile{}), cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%q: %s", path, d)
		}
	}
	want := []string{filepath.Join(dir, TimesName("a", 1)), filepath.Join(dir, "a~try2~3.times")}
	if got := logs.Times("a"); !slices.Equal(got, want) {
		t.Errorf("times: %q, want %q", got, want)
	}
	if got, err := ReadLogs(filepath.Join(dir, "none")); err != nil || len(got.files) > 0 {
		t.Error("no folder:", got, err)
	}
	if _, err := ReadLogs(filepath.Join(dir, "a.out")); err == nil {
		t.Error("a file was listed")
	}
}

func TestAdoptLog(t *testing.T) {
	from := filepath.Join(t.TempDir(), "from.out")
	if err := os.WriteFile(from, []byte("printed"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := LogFolder(t.TempDir(), "r")
	for _, want := range []string{"a%2Fb~try2.err", "a%2Fb~try2~2.err"} {
		got, err := AdoptLog(dir, "a/b", 2, Stderr, from)
		if err != nil || got != filepath.Join(dir, want) {
			t.Errorf("%q, %v; want %q", got, err, want)
		}
		if text, err := os.ReadFile(got); err != nil || string(text) != "printed" {
			t.Errorf("%q, %v", text, err)
		}
	}
	got, err := duplicate(filepath.Join(dir, LogName("a/b", 2, Stderr)), from)
	if err != nil || got != filepath.Join(dir, "a%2Fb~try2~3.err") {
		t.Errorf("%q, %v", got, err)
	}
	if info, err := os.Stat(got); err != nil || info.Size() != 7 || info.Mode().Perm()&0o077 != 0 {
		t.Error(info, err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(from, link); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{link, dir, filepath.Join(dir, "none")} {
		if got, err := AdoptLog(dir, "c", 1, Stdout, bad); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %q, %v", bad, got, err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) != 3 {
		t.Errorf("%d files, want 3: %v", len(files), files)
	}
}

// TestLogFolder: an id that Temporal gave has no characters that are special on Windows.
func TestLogFolder(t *testing.T) {
	got := LogFolder("state", "flowrun:shop:nightly-2026-11-23T07:00:00Z")
	if want := filepath.Join("state", "runs", "flowrun%3Ashop%3Anightly-2026-11-23T07%3A00%3A00Z", "logs"); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
