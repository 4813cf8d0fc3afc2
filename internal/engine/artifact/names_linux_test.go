package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// TestNamesOfBytes checks that files are kept and copied under their names, also if these are not UTF-8.
func TestNamesOfBytes(t *testing.T) {
	names := map[string]string{"caf\xe9": "1", "\xff": "2", "\xfe": "3", "\xed\xa0\x80": "4", "100%FF": "5", "😀": "6", "a\r\nb": "7", "\xff.d/\xff": "8", "l": "->\xff", "l\xff": "->\xfe"}
	dir := t.TempDir()
	for name, text := range names {
		write(t, dir, map[string]string{"out/" + name: text})
	}
	for name := range names {
		if names[name][0] == '-' {
			continue
		}
		kept, err := keep(t, newRun(t.TempDir(), Limits{}), dir, "out", "out/"+name)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range kept {
			if err := Check(a); err != nil {
				t.Errorf("%q: %v", a.Path, err)
			}
		}
		if text, err := os.ReadFile(kept[1].Path); string(text) != names[name] {
			t.Errorf("%q: %q, %v", name, text, err)
		}
		checkCopy(t, kept[0].Name, names, func(to string) error {
			adopted, err := Adopt(t.TempDir(), "", kept[0])
			if err != nil {
				return err
			}
			c, err := Open(adopted)
			if err != nil {
				return err
			}
			defer c.Close()
			return c.CopyTo(to)
		})
	}
}

// checkCopy checks that a folder which copy has made holds the files, and the links, which begin with ->.
func checkCopy(t *testing.T, artifact string, names map[string]string, copy func(to string) error) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "to")
	if err := copy(to); err != nil {
		t.Fatalf("%s: %v", artifact, err)
	}
	for name, want := range names {
		got := ""
		if target, err := os.Readlink(filepath.Join(to, name)); err == nil {
			got = "->" + target
		} else if text, err := os.ReadFile(filepath.Join(to, name)); err == nil {
			got = string(text)
		}
		if got != want {
			t.Errorf("%s: %q is %q, want %q", artifact, name, got, want)
		}
	}
}

// TestFileJSON checks that a list of files in JSON has other names for other files, from which the names can be read again.
func TestFileJSON(t *testing.T) {
	want := []File{{Path: "caf\xe9"}, {Path: "caf\xe8", Target: "\xff"}, {Path: "100%E9"}}
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got []File
	if err := json.Unmarshal(text, &got); err != nil || !slices.Equal(got, want) {
		t.Errorf("%s: %v, %v", text, got, err)
	}
	if a := Encoded(dag.Artifact{Path: "/a/caf\xe9", Paths: []string{"/b/\xff", "/c"}}); a.Path != "\x00/a/caf%E9" || a.Paths[0] != "\x00/b/%FF" || a.Paths[1] != "/c" {
		t.Errorf("%q %q", a.Path, a.Paths)
	}
	e := dag.Event{Result: &dag.Result{}}
	e.Result.SetArtifacts([]dag.Artifact{{Path: "/a/caf\xe9"}})
	if got, kept := EncodedEvent(e).Result.Artifacts()[0].Path, e.Result.Artifacts()[0].Path; got != "\x00/a/caf%E9" || kept != "/a/caf\xe9" {
		t.Errorf("%q, and the event itself has %q", got, kept)
	}
}
