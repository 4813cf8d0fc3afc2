package library

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

const page = "---\ntool: true\nname: demo\ndescription: d\ntype: single\n---\n\n```yaml\ntool: other\n```\n"

// TestPagesInFolders: a Markdown file that does not say that it is a tool is passed over;
// one that does is found by its id, and is there with its errors.
func TestPagesInFolders(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".flowrun", "tools")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"README.md": "# Tools\n", "notes.md": "---\ntitle: tool\n---\n", "demo.md": page, "broken.md": "---\ntool: true\nname: broken\n",
		"file.md": strings.Replace(page, "name: demo", "id: called\nname: demo", 1), "UPPER.MD": strings.Replace(page, "name: demo", "name: UPPER", 1),
		"readme.yaml": "name: other\ndescription: d\nbash: echo\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lib := New(Config{WorkingDirectory: home, Home: t.TempDir(), Getenv: func(string) string { return "" }})
	for range 2 { // the second time from memory
		var names []string
		for _, e := range lib.List() {
			names = append(names, e.Name)
		}
		if diff := cmp.Diff([]string{"UPPER", "broken", "called", "demo", "other"}, names); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	for _, name := range []string{"demo", "called", "UPPER"} {
		def, found, err := lib.Lookup(name, nil)
		if err != nil || found.Err() != nil || def.Name != name || def.Format != tool.Markdown {
			t.Errorf("%s: %v %v", name, found, err)
		}
	}
	for _, name := range []string{"README", "notes"} {
		if def, _, err := lib.Lookup(name, nil); err == nil {
			t.Errorf("%s is %v", name, def.Name)
		}
	}
	// Named as a file, the error says why it is none.
	_, found, err := lib.Lookup(filepath.Join(dir, "README.md"), nil)
	if err != nil || !slices.ContainsFunc(found, func(d tool.Diagnostic) bool { return d.Code == "not-a-tool" && d.Severity == tool.Error }) {
		t.Errorf("%v %v", found, err)
	}
}
