package author

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/importer"
)

func TestFootnotes(t *testing.T) {
	const long, other = "a sentence that is long enough to be worth a footnote", "a long sentence that only one of the rows has anyway"
	rows := []importer.Row{{Reason: long}, {Reason: "short"}, {Reason: other + "; " + long}, {Reason: "short"}, {}}
	reasons, notes := footnotes(rows)
	if diff := cmp.Diff([]string{"[1]", "short", other + "; [1]", "short", ""}, reasons); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{long}, notes); diff != "" {
		t.Error(diff)
	}
}
