package hooks_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestKept checks that the stored text of a bundled tool can be read without its files, a
// bundler or running the tool, and is stored again as it is.
func TestKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "it.tool.js")
	if err := os.WriteFile(file, []byte("export default {}"), 0o600); err != nil {
		t.Fatal(err)
	}
	code := "module.exports = { getMetadata: () => ({ id: 'it', description: 'It.', timeout: 7000 }), execute: () => 'é' };\n"
	lib := library.New(library.Config{Home: t.TempDir()})
	lib.Handle(".tool.js", hooks.Loader(hooks.LoaderConfig{Bundle: func(hooks.BundleRequest) (*tool.Module, tool.Diagnostics) {
		return &tool.Module{File: file, Code: []byte(code), Map: []byte(`{"version":3,"mappings":""}`), Packages: "/p"}, nil
	}}))
	def, found, err := lib.Load(file)
	if err != nil || found.Err() != nil {
		t.Fatal(err, found)
	}
	if !strings.HasSuffix(string(def.HistoryText), "\n"+code) {
		t.Fatalf("kept:\n%s", def.HistoryText)
	}

	load := hooks.Loader(hooks.LoaderConfig{Ahead: true})
	again, found := load(file, def.HistoryText)
	if len(found) > 0 {
		t.Fatal(found)
	}
	m := again.Steps[0].Script().Module
	if again.Name != "it" || again.Timeout != def.Timeout || string(m.Code) != code || m.Map == nil || m.Packages != "/p" || string(again.Source) != string(def.HistoryText) {
		t.Errorf("read again: %+v, %+v", again, m)
	}
}
