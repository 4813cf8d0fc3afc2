package library_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// TestLoaderFiles: what a loader makes of several files is read again where one of them
// changes, and where it had errors.
func TestLoaderFiles(t *testing.T) {
	dir := t.TempDir()
	part := filepath.Join(dir, "part")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(part, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(dir, "it.parts")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	lib := library.New(library.Config{Home: dir, WorkingDirectory: dir})
	lib.Handle(".parts", func(file string, src []byte) (*tool.Definition, tool.Diagnostics) {
		def := &tool.Definition{Name: "it", File: file, Source: src}
		text, err := os.ReadFile(part)
		if err != nil {
			return def, tool.Diagnostics{{Code: "unreadable", Severity: tool.Error, Message: err.Error()}}
		}
		def.Description, def.Files = string(text), []tool.Part{{Path: part}}
		return def, nil
	})
	if _, found, _ := lib.Load(file); found.Err() == nil {
		t.Fatal("a part that is missing is not an error")
	}
	for _, text := range []string{"one", "another"} {
		write(text)
		if def, _, err := lib.Load(file); err != nil || def.Description != text {
			t.Errorf("%v: %q, want %q", err, def.Description, text)
		}
	}
}
