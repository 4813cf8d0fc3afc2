package value_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// TestJSONWithMark checks that JSON is read alike with and without a byte order mark.
func TestJSONWithMark(t *testing.T) {
	for text, want := range map[string]any{
		`["a"]`:     []any{"a"},
		`{"a":"b"}`: map[string]any{"a": "b"},
		"\r\n\"a\"": "a",
	} {
		for _, text := range []string{text, "\ufeff" + text} {
			var got any
			if err := value.DecodeJSON(text, &got); err != nil || !cmp.Equal(got, want) {
				t.Errorf("%q: %v, %v", text, got, err)
			}
		}
	}
	for kind, text := range map[string]string{"array": "\ufeff[1]", "object": "\ufeff{}"} {
		if got, err := value.Coerce(kind, text); err != nil || value.KindOf(got) != "an "+kind {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
}
