package steps

import (
	"context"
	"fmt"
	"slices"
	"testing"
)

// TestProgress holds what a receiver gets: in order, masked, and without what it was too slow for.
func TestProgress(t *testing.T) {
	var lines []string
	open, release := make(chan struct{}), make(chan struct{})
	s, err := Open(Options{Progress: func(p Progress) {
		if p.Done == 0 {
			close(open)
			<-release
		}
		lines = append(lines, fmt.Sprintf("%s %s", p.Step, p))
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Mask().Add("hunter22"); err != nil {
		t.Fatal(err)
	}
	s.Progress(Progress{Step: "a"})
	<-open
	for i := range 100 {
		s.Progress(Progress{Step: "a", Done: float64(i + 1), Total: 100, Message: "hunter22"})
	}
	close(release)
	s.Close(context.Background())
	if len(lines) != 1+maxReports || lines[0] != "a 0" || lines[1] != "a 37 of 100: ***" || lines[maxReports] != "a 100 of 100: ***" {
		t.Errorf("%d: %q", len(lines), lines)
	}
}

// TestProgressLines holds the lines for the console.
func TestProgressLines(t *testing.T) {
	var lines []string
	s, err := Open(Options{Console: func(c Chunk) { lines = append(lines, string(c.Step)+" "+string(c.Text)) }})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []Progress{{Done: 0.5}, {Done: 1, Total: 4}, {Done: 2, Total: 4, Message: "two"}, {Message: "three"}} {
		p.Step = "s"
		s.Progress(p)
	}
	s.Close(context.Background())
	if want := []string{"s 0.5\n", "s 1 of 4\n", "s 2 of 4: two\n", "s three\n"}; !slices.Equal(lines, want) {
		t.Errorf("%q, want %q", lines, want)
	}
	silent, err := Open(Options{})
	if err != nil {
		t.Fatal(err)
	}
	silent.Progress(Progress{Done: 1})
	silent.Close(context.Background())
}
