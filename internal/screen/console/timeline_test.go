package console

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

var update = flag.Bool("update", false, "rewrite goldens")

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// bar returns a bar from one moment to another, in milliseconds.
func bar(id string, status dag.Status, from, to int, after ...string) Bar {
	return Bar{ID: id, Status: status, Started: noon.Add(time.Duration(from) * time.Millisecond), Ended: noon.Add(time.Duration(to) * time.Millisecond), After: after}
}

// idle returns a bar that did not run.
func idle(id string, status dag.Status, note string, after ...string) Bar {
	return Bar{ID: id, Status: status, Note: note, After: after}
}

func release() []Bar {
	flaky := bar("test", dag.Succeeded, 700, 9900, "checkout")
	flaky.Attempts, flaky.Note = 3, "flaky"
	inner := bar("build/link", dag.Succeeded, 5200, 12_000, "build/compile")
	inner.Depth = 1
	compile := bar("build/compile", dag.Succeeded, 650, 5200)
	compile.Depth = 1
	return []Bar{
		bar("checkout", dag.Succeeded, 0, 600),
		bar("lint", dag.Failed, 600, 3700, "checkout"),
		flaky,
		bar("build", dag.Succeeded, 620, 12_010, "checkout"), compile, inner,
		idle("docs", dag.Skipped, "its condition is false", "build"),
		bar("sign", dag.Reused, 12_300, 12_300, "docs", "test"),
		bar("publish", dag.TimedOut, 12_500, 14_000, "sign"),
		idle("announce", dag.Skipped, "an upstream step failed", "publish"),
	}
}

func running() []Bar {
	return []Bar{
		bar("fetch", dag.Succeeded, 0, 40_000),
		{ID: "count", Status: dag.Running, Started: noon.Add(41 * time.Second), After: []string{"fetch"}},
		{ID: "audit", Status: dag.Retrying, Started: noon.Add(80 * time.Second), Attempts: 2, After: []string{"fetch"}, Note: "next attempt in 4s"},
		{ID: "report", Status: dag.Pending, After: []string{"count", "audit"}, Note: "waits for count, audit"},
		{ID: "gate", Status: dag.Waiting, After: []string{"fetch"}},
	}
}

func many(n int) []Bar {
	bars := make([]Bar, n)
	for i := range bars {
		bars[i] = bar(fmt.Sprintf("step-%d", i), dag.Succeeded, i*1000, i*1000+900)
		if i > 0 {
			bars[i].After = []string{fmt.Sprintf("step-%d", i-1)}
		}
	}
	return bars
}

func TestTimeline(t *testing.T) {
	long := bar(strings.Repeat("a-very-long-name-", 20), dag.Succeeded, 0, 65_000)
	back := bar("set-back", dag.Succeeded, 5000, 1000)
	for _, c := range []struct {
		name string
		bars []Bar
		o    TimelineOptions
	}{
		{"release", release(), TimelineOptions{}},
		{"release-ascii", release(), TimelineOptions{Width: 100, ASCII: true}},
		{"release-color", release(), TimelineOptions{Color: true}},
		{"release-narrow", release(), TimelineOptions{Width: 20}},
		{"running", running(), TimelineOptions{Now: noon.Add(2 * time.Minute)}},
		{"running-ascii", running(), TimelineOptions{ASCII: true}},
		{"long-name", []Bar{long, bar("次の手順", dag.Failed, 65_000, 70_000, long.ID)}, TimelineOptions{Width: 40}},
		{"no-time", []Bar{bar("a", dag.Succeeded, 0, 0), bar("b", dag.Succeeded, 0, 0, "a")}, TimelineOptions{}},
		{"clock-back", []Bar{bar("a", dag.Succeeded, 0, 4000), back, bar("c", dag.Succeeded, -3000, -2000, "set-back")}, TimelineOptions{}},
		{"nothing-ran", []Bar{idle("a", dag.Cancelled, ""), idle("b", dag.Skipped, strings.Repeat("much to say ", 20))}, TimelineOptions{Width: 60}},
		{"long-path", many(40), TimelineOptions{}},
		{"escapes", []Bar{{ID: "a[\x1b[2J]", Status: dag.Skipped, Note: "\x1b]0;title\x07\nx"}}, TimelineOptions{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Timeline(&b, c.bars, c.o); err != nil {
				t.Fatal(err)
			}
			golden(t, c.name, b.String())
		})
	}
}

// golden compares a drawing with its file in testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the drawing changed; look at it and run go test -update (-want +got):\n%s", diff)
	}
}

func TestTimelineEmpty(t *testing.T) {
	var b bytes.Buffer
	if err := Timeline(&b, nil, TimelineOptions{}); err != nil || b.Len() > 0 {
		t.Errorf("%q: %v", b.String(), err)
	}
}

// TestTimelineAnything draws bars of random times, depths and edges. It checks that every line
// fits the width and has no trailing spaces, that every bar has a line, and that drawing is
// fast.
func TestTimelineAnything(t *testing.T) {
	began := time.Now()
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		bars := make([]Bar, r.IntN(12))
		if seed == 0 {
			bars = make([]Bar, 1000)
		}
		var clock []time.Time
		for range 4 {
			clock = append(clock, time.Time{}, noon.Add(time.Duration(r.Int64N(int64(time.Hour)))), time.Unix(r.Int64N(1<<34), r.Int64N(1e9)))
		}
		for i := range bars {
			bars[i] = Bar{ID: fmt.Sprintf("s%d", r.IntN(len(bars)*3)), Status: dag.Status(r.IntN(11)), Started: clock[r.IntN(12)], Ended: clock[r.IntN(12)],
				Attempts: r.IntN(1001), Depth: r.IntN(5) - 1, Note: strings.Repeat("言", r.IntN(40))}
			for range r.IntN(4) {
				bars[i].After = append(bars[i].After, fmt.Sprintf("s%d", r.IntN(len(bars)*3)))
			}
		}
		o := TimelineOptions{Width: 40 + r.IntN(120), ASCII: r.IntN(2) == 0, Now: clock[r.IntN(12)]}
		var b bytes.Buffer
		if err := Timeline(&b, bars, o); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(bars) > 0 && len(lines) < len(bars) {
			t.Errorf("seed %d: %d lines for %d bars", seed, len(lines), len(bars))
		}
		for _, l := range lines {
			if columns(l) > o.Width || strings.HasSuffix(l, " ") {
				t.Errorf("seed %d: %d columns of %d: %q", seed, columns(l), o.Width, l)
			}
		}
	}
	if took := time.Since(began); took > 2*time.Minute { // detects a hang; not a benchmark
		t.Errorf("took %v", took)
	}
}

func TestCriticalPath(t *testing.T) {
	nested := func(b Bar) Bar { b.Depth = 1; return b }
	for _, c := range []struct {
		name string
		bars []Bar
		want string
	}{
		{"one", []Bar{bar("a", dag.Succeeded, 0, 1)}, "a"},
		{"the slower branch", []Bar{bar("a", dag.Succeeded, 0, 1), bar("b", dag.Succeeded, 1, 9, "a"), bar("c", dag.Succeeded, 1, 5, "a"), bar("d", dag.Succeeded, 9, 10, "b", "c")}, "a b d"},
		{"a branch that ends later", []Bar{bar("a", dag.Succeeded, 0, 20), bar("b", dag.Succeeded, 0, 9), bar("c", dag.Succeeded, 9, 10, "b")}, "a"},
		{"through a skipped step", []Bar{bar("a", dag.Succeeded, 0, 5), idle("b", dag.Skipped, "", "a"), bar("c", dag.Succeeded, 5, 6, "b")}, "a c"},
		{"into a nested tool", []Bar{bar("p", dag.Succeeded, 0, 10), nested(bar("p/x", dag.Succeeded, 0, 4)), nested(bar("p/y", dag.Succeeded, 4, 9, "p/x")), bar("c", dag.Succeeded, 10, 11, "p")}, "p/x p/y c"},
		{"out of a nested tool", []Bar{bar("a", dag.Succeeded, 0, 3), bar("p", dag.Succeeded, 3, 10, "a"), nested(bar("p/x", dag.Succeeded, 3, 10))}, "a p/x"},
		{"a nested tool of which nothing ran", []Bar{bar("p", dag.Failed, 0, 2), nested(idle("p/x", dag.Cancelled, "")), bar("c", dag.Succeeded, 2, 3, "p")}, "p c"},
		{"beside a nested tool", []Bar{bar("p", dag.Succeeded, 0, 10), nested(bar("p/x", dag.Succeeded, 0, 4)), bar("c", dag.Succeeded, 0, 9)}, "c"},
		{"unknown and own ids", []Bar{bar("a", dag.Succeeded, 0, 2, "a", "nobody", "b"), bar("b", dag.Succeeded, 2, 3, "b", "a")}, "a b"},
		{"nothing ran", []Bar{idle("a", dag.Skipped, "")}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, i := range criticalPath(c.bars, func(b Bar) time.Time { return b.Ended }) {
				got = append(got, c.bars[i].ID)
			}
			if !slices.Equal(got, strings.Fields(c.want)) {
				t.Errorf("got %v, want %s", got, c.want)
			}
		})
	}
}

func TestRoundTime(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0", 500 * time.Millisecond: "500ms", 5 * time.Second: "5s", 90 * time.Second: "1m30s",
		10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m", 48 * time.Hour: "48h", 100 * time.Second: "1m40s"} {
		if got := roundTime(d); got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
	}
}
