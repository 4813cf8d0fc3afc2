package toolset_test

import (
	"slices"
	"testing"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/service/toolset"
	"github.com/flowrun/flowrun/library"
)

// TestTools checks that every tool compiles, and that the list of their names is complete.
func TestTools(t *testing.T) {
	var names []string
	lib := library.New(library.Config{WorkingDirectory: t.TempDir(), Home: t.TempDir()})
	for _, set := range toolset.Names() {
		for _, d := range toolset.Tools(set, toolset.Config{}) {
			names = append(names, d.Name)
			if _, err := engine.CompileDefinition(lib, d); err != nil {
				t.Errorf("%s: %v", d.Name, err)
			}
		}
	}
	if !slices.Equal(names, toolset.Own) {
		t.Errorf("the tools are %q", names)
	}
	if toolset.Tools("nope", toolset.Config{}) != nil {
		t.Error("an unknown toolset has tools")
	}
}
