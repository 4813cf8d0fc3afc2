package tooltest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDifference(t *testing.T) {
	for name, c := range map[string]struct {
		expected, got string
		want          []string
	}{
		"one line":        {"a\nb\nc", "a\nB\nc", []string{"@@ line 2", "- b", "+ B"}},
		"added":           {"a\nc", "a\nb\nc", []string{"@@ line 2", "+ b"}},
		"missing":         {"a\nb", "a", []string{"@@ line 2", "- b"}},
		"nothing came":    {"a", "", []string{"@@ line 1", "- a"}},
		"nothing awaited": {"", "a", []string{"@@ line 1", "+ a"}},
		"a blank":         {"a", "a ", []string{"@@ line 1", "- a", `+ "a "`}},
		"an escape":       {"a", "\x1b[1ma", []string{"@@ line 1", "- a", `+ "\x1b[1ma"`}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, difference(c.expected, c.got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestDifferenceIsShort checks that few lines of both sides are shown, however many differ.
func TestDifferenceIsShort(t *testing.T) {
	var a, b strings.Builder
	for i := range 1000 {
		fmt.Fprintln(&a, "a", i)
		fmt.Fprintln(&b, "b", i, strings.Repeat("x", 1000))
	}
	list := difference(a.String(), b.String())
	expected, got := 0, 0
	for _, l := range list {
		if len(l) > 300 {
			t.Errorf("a line of %d characters", len(l))
		}
		if strings.HasPrefix(l, "- a") {
			expected++
		}
		if strings.HasPrefix(l, "+ b") {
			got++
		}
	}
	if expected != maxLines/2 || got != maxLines/2 {
		t.Errorf("%d and %d lines are shown:\n%s", expected, got, strings.Join(list, "\n"))
	}
}
