package runlog_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// page reads a page of the log a.
func page(t *testing.T, dir string, x *runlog.LineIndex, from int64, limit int) *runlog.Page {
	t.Helper()
	parts, _, err := runlog.Parts(dir, nil, nil, "a")
	if err != nil || len(parts) == 0 {
		t.Fatal(parts, err)
	}
	o, err := parts[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	p, err := runlog.ReadPage(t.Context(), o, o.Size(), x, from, limit)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

// TestReadPage compares pages of a log of several blocks that grows with its lines.
func TestReadPage(t *testing.T) {
	dir, x := t.TempDir(), new(runlog.LineIndex)
	var lines []string
	var text strings.Builder
	for i := range 120_000 {
		line := fmt.Sprintf("line %d %s", i+1, strings.Repeat("x", i%50))
		lines = append(lines, line)
		text.WriteString(line + "\n")
		if i == 60_000 || i == 60_001 {
			write(t, dir, "a.out", text.String())
			text.Reset()
			if p := page(t, dir, x, 0, 10); p.Total != int64(i+1) || p.Open || p.Lines[0] != line {
				t.Fatal(p)
			}
		}
	}
	write(t, dir, "a.out", text.String()+"open")
	lines = append(lines, "open")
	for _, from := range []int64{1, 2, 777, 30_000, 60_001, 119_990, 120_001} {
		p := page(t, dir, x, from, 20)
		want := lines[from-1 : min(int(from)+19, len(lines))]
		if p.From != from || p.Total != 120_001 || !p.Open || !slices.Equal(p.Lines, want) || len(p.Cut) > 0 {
			t.Fatalf("from %d: %d of %d, %q, want %q", from, p.From, p.Total, p.Lines, want)
		}
	}
	if p := page(t, dir, x, -2, 20); p.From != 119_999 || len(p.Lines) != 3 {
		t.Error(p)
	}
	if p := page(t, dir, x, -999_999, 1); p.From != 1 || p.Lines[0] != lines[0] {
		t.Error(p)
	}
	if p := page(t, dir, x, 120_002, 5); len(p.Lines) != 0 || p.Total != 120_001 {
		t.Error(p)
	}
}

// TestLongLines: of a long line a page has only the beginning, and a page is never large.
func TestLongLines(t *testing.T) {
	dir, x := t.TempDir(), new(runlog.LineIndex)
	long := strings.Repeat("y", 3<<20)
	write(t, dir, "a.out", "first\r\n"+long+"\n\nlast\n")
	p := page(t, dir, x, 1, 10)
	if p.Total != 4 || !slices.Equal(p.Cut, []int64{2}) || len(p.Lines[1]) != 8<<10 || p.Lines[0] != "first" || p.Lines[2] != "" || p.Lines[3] != "last" {
		t.Errorf("%d lines, cut %v", p.Total, p.Cut)
	}
	if p := page(t, dir, x, 3, 10); !slices.Equal(p.Lines, []string{"", "last"}) {
		t.Errorf("%.100q", p.Lines)
	}
	write(t, dir, "a.out", strings.Repeat(strings.Repeat("z", 5000)+"\n", 1000))
	if p := page(t, dir, x, 5, 1000); len(p.Lines) != 210 {
		t.Error(len(p.Lines))
	}
}

// TestSearch finds lines whatever the case of letters, and continues where it stopped.
func TestSearch(t *testing.T) {
	dir := t.TempDir()
	var want []int64
	var b strings.Builder
	for i := range int64(900_000) {
		if i%1000 == 7 {
			want = append(want, i+1)
			b.WriteString("an ERROR, an error\n")
		} else {
			fmt.Fprintf(&b, "line %d %s\n", i, strings.Repeat("x", 50))
		}
	}
	write(t, dir, "a.out", b.String())
	parts, _, err := runlog.Parts(dir, nil, nil, "a")
	if err != nil {
		t.Fatal(err)
	}
	o, err := parts[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var got []int64
	calls := 0
	for next := int64(1); next > 0; calls++ {
		var found []runlog.Match
		found, next, err = runlog.Search(t.Context(), o, o.Size(), new(runlog.LineIndex), "Error", next, 700)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range found {
			got = append(got, m.Line)
			if m.Text != "an ERROR, an error" {
				t.Fatalf("%q", m.Text)
			}
		}
	}
	if !slices.Equal(got, want) || calls < 2 {
		t.Errorf("%d lines in %d calls, want %d", len(got), calls, len(want))
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := runlog.Search(ctx, o, o.Size(), new(runlog.LineIndex), "x", 1, 1); err == nil {
		t.Error("a search continues although nobody waits for it")
	}
}

// TestParts lists the attempts and streams apart, with the files of a fallback in the last one.
func TestParts(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.err", "warn\n")
	write(t, dir, "a~try2.out", "two\n")
	write(t, dir, "a~try2~2.out", "fallback\n")
	write(t, dir, "a.out", "one\n")
	write(t, dir, "b.out", "other\n")
	parts, _, err := runlog.Parts(dir, nil, nil, "a")
	var got []string
	for _, p := range parts {
		got = append(got, fmt.Sprint(p.Attempt, p.Stream == rundir.Stderr, p.Bytes))
	}
	if want := []string{"1 false 4", "1 true 5", "2 false 13"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("%q %v, want %q", got, err, want)
	}
	o, err := parts[2].Open()
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	p, err := runlog.ReadPage(t.Context(), o, o.Size(), new(runlog.LineIndex), 1, 10)
	if err != nil || !slices.Equal(p.Lines, []string{"two", "fallback"}) {
		t.Error(p, err)
	}
}
