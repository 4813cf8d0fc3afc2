package author

import "testing"

// TestPageKinds: the index names each page below exactly one kind.
func TestPageKinds(t *testing.T) {
	pages, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	kinds := pageKinds(pages)
	for _, p := range pages {
		switch kinds[p.topic] {
		case "tutorial", "guide", "reference", "explanation":
		case "index":
			if p.topic != docsIndex {
				t.Errorf("%s is an index", p.topic)
			}
		default:
			t.Errorf("docs/README.md does not name %s below Tutorials, Guides, Reference or Explanations", p.topic)
		}
	}
	if kinds["1-first-tool"] != "" || kinds["tutorial/1-first-tool"] != "tutorial" || kinds["explanation/states"] != "explanation" {
		t.Error(kinds)
	}
}
