package trigger

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/service/schedule"
)

var start = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// at returns the state of a file that was written n seconds after start.
func at(seconds, size int) State {
	ns := start.Add(time.Duration(seconds) * time.Second).UnixNano()
	return State{Size: int64(size), Modified: ns, Changed: ns}
}

// TestFiles steps through scans, one a second from start+100s on, with a watcher that begins at start.
func TestFiles(t *testing.T) {
	type scan = map[string]State
	moved := at(-50, 1)
	moved.Changed = start.Add(150 * time.Second).UnixNano()
	chmod := at(-50, 1)
	chmod.Changed = start.Add(101 * time.Second).UnixNano()
	for name, c := range map[string]struct {
		scans []scan
		want  string // the changes of each scan
	}{
		"nothing":                   {[]scan{{}, {}}, "|"},
		"there before":              {[]scan{{"a": at(-5, 1)}, {"a": at(-5, 1)}, {"a": at(-5, 1)}, {"a": at(-5, 1)}}, "|||"},
		"missed":                    {[]scan{{"a": at(5, 1)}, {"a": at(5, 1)}, {"a": at(5, 1)}, {"a": at(5, 1)}}, "||a late|"},
		"just before the restart":   {[]scan{{"a": at(95, 1)}, {"a": at(95, 1)}, {"a": at(95, 1)}}, "||a"},
		"missed, still written":     {[]scan{{"a": at(5, 1)}, {"a": at(101, 2)}, {"a": at(101, 2)}, {"a": at(101, 2)}}, "|||a"},
		"arrives":                   {[]scan{{}, {"a": at(101, 1)}, {"a": at(101, 1)}, {"a": at(101, 1)}, {"a": at(101, 1)}}, "|||a|"},
		"grows":                     {[]scan{{}, {"a": at(101, 1)}, {"a": at(102, 2)}, {"a": at(103, 3)}, {"a": at(103, 3)}, {"a": at(103, 3)}}, "|||||a"},
		"changes twice":             {[]scan{{"a": at(-5, 1)}, {"a": at(101, 1)}, {"a": at(101, 1)}, {"a": at(101, 1)}, {"a": at(104, 1)}, {"a": at(104, 1)}, {"a": at(104, 1)}}, "|||a|||a"},
		"removed while it settles":  {[]scan{{}, {"a": at(101, 1)}, {}, {"a": at(101, 1)}, {"a": at(101, 1)}}, "||||"},
		"removed":                   {[]scan{{"a": at(-5, 1)}, {}}, "|"},
		"an old file is moved here": {[]scan{{}, {"a": moved}, {"a": moved}, {"a": moved}}, "|||a"},
		"mounted again":             {[]scan{{"a": at(-5, 1)}, {}, {"a": at(-5, 1)}, {"a": at(-5, 1)}, {"a": at(-5, 1)}}, "||||"},
		"its mode changes":          {[]scan{{"a": at(-50, 1)}, {"a": chmod}, {"a": chmod}, {"a": chmod}}, "|||"},
		"oldest first":              {[]scan{{"b": at(5, 1), "a": at(6, 1), "c": at(5, 1)}, {"b": at(5, 1), "a": at(6, 1), "c": at(5, 1)}, {"b": at(5, 1), "a": at(6, 1), "c": at(5, 1)}}, "||b late,c late,a late"},
	} {
		t.Run(name, func(t *testing.T) {
			f := NewFiles(2*time.Second, start)
			now := start.Add(100 * time.Second)
			var got []string
			for _, s := range c.scans {
				var changes []string
				for _, change := range f.Step(now, s) {
					text := change.Path
					if change.Late {
						text += " late"
					}
					changes = append(changes, text)
				}
				got = append(got, strings.Join(changes, ","))
				for path, p := range f.pending {
					if !f.Cursor(now).Before(p.since()) {
						t.Errorf("the cursor is past %s, which has not settled", path)
					}
				}
				now = now.Add(time.Second)
			}
			if text := strings.Join(got, "|"); text != c.want {
				t.Errorf("%q, want %q", text, c.want)
			}
		})
	}
}

// TestClockLag: a file that arrives right after a watcher began may have an earlier time, because the clock of files is
// behind.
func TestClockLag(t *testing.T) {
	for before, want := range map[time.Duration]int{clockLag / 2: 1, 2 * clockLag: 0} {
		f := NewFiles(time.Second, start)
		ns := start.Add(-before).UnixNano()
		scan := map[string]State{"a": {Size: 1, Modified: ns, Changed: ns}}
		f.Step(start, scan)
		if got := len(f.Step(start.Add(time.Second), scan)); got != want {
			t.Errorf("written %v before: %d changes, want %d", before, got, want)
		}
	}
}

// TestKey: numbers identify a version of a file, and tell its arrivals apart.
func TestKey(t *testing.T) {
	a := at(1, 1)
	again := a
	again.Changed++
	seen := map[int64]string{}
	for name, key := range map[string]int64{"a": Key("a", a), "again": Key("a", again), "other path": Key("b", a), "other size": Key("a", at(1, 2)), "other time": Key("a", at(2, 1))} {
		if other, taken := seen[key]; taken {
			t.Errorf("%s and %s have the same number", name, other)
		}
		seen[key] = name
		if key < 0 || key >= start.UnixNano() {
			t.Errorf("%s: %d would move a cursor", name, key)
		}
		first, last := Versions("a", a)
		if in := first <= key && key <= last; in != (name == "a" || name == "again") {
			t.Errorf("%s is one of the version: %v", name, in)
		}
	}
}

// TestKeysSpread: many files have different versions.
func TestKeysSpread(t *testing.T) {
	seen := map[int64]bool{}
	for i := range 20_000 {
		first, _ := Versions(fmt.Sprintf("/in/%05d.csv", i), at(i/100, 1))
		seen[first] = true
	}
	if len(seen) != 20_000 { // of 2^38 numbers: expected are 0.0007 collisions
		t.Errorf("%d of 20000", len(seen))
	}
}

func TestScan(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"in/a.csv", "in/b.txt", "in/deep/c.csv", "in/.git/d.csv", "other/e.csv"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{"in/link.csv": "../other/e.csv", "in/folder": "../other", "in/none.csv": "missing", "top": "other"} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil && runtime.GOOS != "windows" {
			t.Fatal(err)
		}
	}
	for pattern, want := range map[string]string{
		"in/link.csv": "",
		"in/*/e.csv":  "",
		"top/**":      "",
		"in/*.csv":    "in/a.csv",
		"in/**/*.csv": "in/a.csv in/deep/c.csv",
		"in":          "in/a.csv in/b.txt in/deep/c.csv",
		"in/**":       "in/a.csv in/b.txt in/deep/c.csv",
		"in/a.csv":    "in/a.csv",
		"./in/a.csv":  "in/a.csv",
		"**/*.csv":    "in/a.csv in/deep/c.csv other/e.csv",
		"missing/**":  "",
		"in/x.csv":    "",
		"*":           "in/a.csv in/b.txt in/deep/c.csv other/e.csv",
		"a[":          "",
		filepath.ToSlash(filepath.Join(dir, "other", "*")): "other/e.csv",
	} {
		var got []string
		for path := range Scan(dir, pattern) {
			rel, _ := filepath.Rel(dir, path)
			got = append(got, filepath.ToSlash(rel))
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", pattern, text, want)
		}
	}
}

// TestDecide is the table of overlap.
func TestDecide(t *testing.T) {
	for _, c := range []struct {
		overlap         schedule.Overlap
		running, queued int
		want            schedule.Action
	}{
		{"", 0, 0, schedule.Start}, {"", 1, 0, schedule.Queue}, {"", 1, 9, schedule.Queue}, {"", 0, 1, schedule.Queue},
		{"queue", 0, 0, schedule.Start}, {"queue", 1, 5, schedule.Queue},
		{"skip", 0, 0, schedule.Start}, {"skip", 1, 0, schedule.Skip}, {"skip", 0, 1, schedule.Skip},
		{"allow", 0, 0, schedule.Start}, {"allow", 9, 9, schedule.Start},
		{"cancel-running", 0, 0, schedule.Start}, {"cancel-running", 1, 0, schedule.Replace}, {"cancel-running", 0, 1, schedule.Replace},
	} {
		got, reason := Decide(c.overlap, c.running, c.queued)
		if got != c.want || (reason != "") != (got == schedule.Skip) {
			t.Errorf("%+v: %v %q", c, got, reason)
		}
	}
}

// TestMissed is the table of catch-up.
func TestMissed(t *testing.T) {
	ages := []time.Duration{3 * time.Hour, 2 * time.Hour, time.Hour}
	for _, c := range []struct {
		mode   schedule.CatchUp
		window time.Duration
		want   []bool
	}{
		{"all", 0, []bool{false, false, false}}, {"once", 0, []bool{true, true, false}}, {"none", 0, []bool{true, true, true}},
		{"all", 2 * time.Hour, []bool{true, false, false}}, {"once", 2 * time.Hour, []bool{true, true, false}},
		{"once", time.Minute, []bool{true, true, true}}, {"none", 2 * time.Hour, []bool{true, true, true}},
	} {
		if got := Missed(c.mode, c.window, ages); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
