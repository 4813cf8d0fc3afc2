package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestListWithMark checks that a byte order mark, which programs of Windows write first, is not part of the first item.
func TestListWithMark(t *testing.T) {
	for text, want := range map[string][]any{
		"\ufeff[\"a\"]":     {"a"},
		"\ufeff\r\n[\"a\"]": {"a"},
		"\ufeffa\r\nb\r\n":  {"a", "b"},
		"a\n\ufeffb":        {"a", "\ufeffb"},
		"\ufeff":            {},
	} {
		if got, err := ListOf(text); err != nil || !cmp.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}
