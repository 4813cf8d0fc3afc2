package console

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

func TestColumns(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "é": 1, "e\u0301": 1, "漢字": 4, "ｱ": 1, "각": 2, "\u1112\u1161\u11ab": 2,
		"─│●✓✗…": 6, "👍": 2, "👍🏽": 2, "👨‍👩‍👧": 2, "🏳️‍🌈": 2, "🇩🇪": 2, "🇩🇪🇫🇷": 4,
		"❤": 1, "❤\ufe0f": 2, "1\ufe0f\u20e3": 2, "\u200b": 0, "\ufffd": 1,
	} {
		if got := columns(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s     string
		width int
		want  string
	}{
		{"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"漢字漢", 5, "漢字…"}, {"漢字漢", 4, "漢…"}, {"👨‍👩‍👧👨‍👩‍👧", 3, "👨‍👩‍👧…"},
		{"🇩🇪🇫🇷🇮🇹", 5, "🇩🇪🇫🇷…"}, {"e\u0301e\u0301e\u0301", 2, "e\u0301…"}, {"ab", 1, "…"}, {"", 0, ""},
	} {
		if got := cut(c.s, c.width, "…"); got != c.want {
			t.Errorf("%q in %d columns is %q, want %q", c.s, c.width, got, c.want)
		}
	}
}

// TestCutFits checks that any text that was cut fits.
func TestCutFits(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		s, width := Clean(rapid.String().Draw(t, "text")), rapid.IntRange(1, 20).Draw(t, "width")
		if got := columns(cut(s, width, "…")); got > width {
			t.Errorf("%q cut to %d columns has %d", s, width, got)
		}
	})
}
