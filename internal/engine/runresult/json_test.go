package runresult

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// TestBytesOfJournal: a text that is not UTF-8 is the same in a document, whether the result comes from its step or from a
// journal, which replaces each byte by a character of its own, if its log exists.
func TestBytesOfJournal(t *testing.T) {
	log := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(log, []byte("a\xff\xfeb\ufffd\ufffd"), 0o600); err != nil {
		t.Fatal(err)
	}
	const want = "a\ufffdb\ufffd\ufffd"
	for name, o := range map[string]dag.Output{
		"step":           {Size: 10, Inline: "a\xff\xfeb\ufffd\ufffd"},
		"step and log":   {Size: 10, Inline: "a\xff\xfeb\ufffd\ufffd", File: log},
		"journal":        {Size: 10, Inline: "a\ufffd\ufffdb\ufffd\ufffd", File: log},
		"beginning only": {Size: 10, Inline: "a", File: log},
	} {
		if text, all, invalid := readStream(&o, 1<<10); text != want || !all || !invalid {
			t.Errorf("%s: %q, all %v, invalid %v; want %q", name, text, all, invalid, want)
		}
	}
	lost := dag.Output{Size: 4, Inline: "a\ufffd\ufffdb", File: log + "-gone"}
	if text, all, invalid := readStream(&lost, 1<<10); text != "a\ufffd\ufffdb" || !all || !invalid {
		t.Errorf("without a log: %q, all %v, invalid %v", text, all, invalid)
	}
}
