package token_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse/node"
	"github.com/flowrun/flowrun/internal/model/argparse/token"
)

func view(text string) *token.View {
	b := token.NewBudget(len(text))
	v := token.New(node.Source{Text: text}, &b)
	return &v
}

// TestPositions: each method answers for a position; the texts begin there.
func TestPositions(t *testing.T) {
	for _, c := range []struct {
		what string
		text string
		of   func(*token.View) int
		want int
	}{
		{"spaces", " \t\n\u200b x", func(v *token.View) int { return v.SkipSpaces(0) }, 7},
		{"spaces of a line", "  \n x", func(v *token.View) int { return v.SkipLineSpaces(0) }, 2},
		{"spaces and comments", " /* a */ // b\n# c\n x", func(v *token.View) int { return v.Skip(0) }, 19},
		{"an open comment", "/* a", func(v *token.View) int { return v.Skip(0) }, 4},
		{"a name", "été-2.x: 1", func(v *token.View) int { return v.BareKey(0) }, 9},
		{"a colon", ": x", func(v *token.View) int { return v.SeparatorAt(0) }, 1},
		{"a doubled colon before a value", ":: 5", func(v *token.View) int { return v.SeparatorAt(0) }, 2},
		{"a doubled colon before a word", "::x", func(v *token.View) int { return v.SeparatorAt(0) }, 0},
		{"a URL", "://x", func(v *token.View) int { return v.SeparatorAt(0) }, 0},
		{"a comparison", "== 5", func(v *token.View) int { return v.SeparatorAt(0) }, 0},
		{"an arrow", "=> 5", func(v *token.View) int { return v.SeparatorAt(0) }, 2},
		{"a fullwidth comma", "，x", func(v *token.View) int { return v.CommaAt(0) }, 3},
		{"escaped spaces", `\n\t "a"`, func(v *token.View) int { return v.EscapedSpace(0) }, 5},
		{"an escape in a word", `\nx`, func(v *token.View) int { return v.EscapedSpace(0) }, 0},
		{"a column", "a\n  b", func(v *token.View) int { return v.Column(4) }, 2},
	} {
		if got := c.of(view(c.text)); got != c.want {
			t.Errorf("%s: %q: %d, want %d", c.what, c.text, got, c.want)
		}
	}
}

// TestQuotes: an opening quote decides which quote closes the text, and a backslash escapes it.
func TestQuotes(t *testing.T) {
	for text, want := range map[string]int{
		`"a\"b" c"`: 5, `'a"b' `: 4, "“a”b": 4, "„a“": 4, "„a”": 4, "«a»": 3, "`a´": 2, `<|"|>a<|"|>`: 6, `<escape>a<escape>`: 9, `"a`: 2, `'a\'`: 4,
	} {
		v := view(text)
		q := v.QuoteAt(0)
		if q == nil {
			t.Errorf("%s: no quote", text)
			continue
		}
		if at, size := v.NextClose(q, len(q.Open)); at != want || (size == 0) != (at == len(text)) {
			t.Errorf("%s is closed at %d by %d bytes, want %d", text, at, size, want)
		}
	}
	if v := view("it's"); v.QuoteAt(0) != nil || !v.Apostrophe(2, 1) || v.OddQuotes(0, 4) {
		t.Error("an apostrophe is a quote")
	}
	if v := view(`5" wide`); !v.Inch(1, 1) {
		t.Error("an inch sign is a quote")
	}
}

// TestBudget: looking at a text uses the budget.
func TestBudget(t *testing.T) {
	text := "                                "
	b := token.NewBudget(len(text))
	v := token.New(node.Source{Text: text}, &b)
	for range 4096/len(text) + 32 {
		v.SkipSpaces(0)
	}
	if b.Exhausted() {
		t.Error("exhausted too early")
	}
	if v.SkipSpaces(0); !b.Exhausted() {
		t.Error("not exhausted")
	}
}
