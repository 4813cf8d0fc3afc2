package measure

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

func TestLabel(t *testing.T) {
	for _, c := range []struct {
		id    dag.ID
		label string
		item  bool
	}{
		{"build", "build", false},
		{"setup/clone", "setup/clone", false},
		{"setup#2/clone", "setup/clone", false},
		{"setup#2/test[linux/amd64]#2/build", "setup/test/build", false},
		{"test[3]", "test", true},
		{"test[3]#2", "test", true},
		{"test[a#1/b]", "test", true},
		{"outer[1]/test", "outer/test", false},
		{"outer[1]/test[2]", "outer/test", true},
		{"a#b", "a#b", false},
	} {
		label, item := appendLabel(nil, c.id)
		if string(label) != c.label || item != c.item {
			t.Errorf("%s: label %s, item %v; want %s, %v", c.id, label, item, c.label, c.item)
		}
	}
}

// TestLabelIsThePathWithoutTriesAndKeys compares appendLabel, which allocates nothing, with
// the function of package dag.
func TestLabelIsThePathWithoutTriesAndKeys(t *testing.T) {
	path := rapid.StringMatching(`[a-c]{1,2}(\[[a#/1-2]{0,4}\])?(#[0-9]{1,2})?(/[a-c]{1,2}(\[[a#/1-2]{0,4}\])?(#[0-9]{1,2})?){0,3}`)
	proptest.Check(t, func(t *rapid.T) {
		id := dag.ID(path.Draw(t, "path"))
		want := string(id.WithoutKeys())
		if got, _ := appendLabel(nil, id); string(got) != want {
			t.Fatalf("%s: %s, want %s", id, got, want)
		}
	})
}
