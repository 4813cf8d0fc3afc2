package expr_test

import (
	"slices"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/expr"
)

func TestWords(t *testing.T) {
	for in, want := range map[string][]string{
		`mail -s "it failed" a@b`: {"mail", "-s", "it failed", "a@b"},
		`say {X} '{a.output}' ''`: {"say", "{X}", "{a.output}", ""},
		`a\ b c;d | e`:            {"a b", "c;d", "|", "e"},
		``:                        nil,
		`'' x`:                    nil,
		`say "oh`:                 nil,
	} {
		got, err := expr.Words(in)
		if (err != nil) != (want == nil) || !slices.Equal(got, want) {
			t.Errorf("%s: %q, %v; want %q", in, got, err, want)
		}
	}
}
