package catalog

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/library"
)

// TestCatalog checks what a catalog offers: valid tools, and those whose last valid version is kept, but no path.
func TestCatalog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, ".flowrun", "tools", "hello.yaml")
	write := func(text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	write("name: hello\nbash: echo hello\n")
	c := New(func() *library.Library {
		return library.New(library.Config{WorkingDirectory: dir, Home: dir, Getenv: func(string) string { return "" }})
	}, nil, slog.New(slog.DiscardHandler))
	c.Refresh()
	first, err := c.Plan("hello")
	if err != nil {
		t.Fatal(err)
	}
	version := c.Version()
	write("name: hello\nsteps: 7\n")
	if p, err := c.Plan("hello"); err != nil || p != first || c.Version() == version {
		t.Errorf("the last valid version is not in use: %v", err)
	}
	if list := c.Tools(); len(list) != 1 || list[0].Broken == "" || list[0].Kind != "yaml" {
		t.Errorf("%+v", list)
	}
	var missing *library.NotFoundError
	if _, err := c.Plan("helo"); !errors.As(err, &missing) || len(missing.Near) != 1 {
		t.Errorf("a tool that does not exist: %v", err)
	}
	for _, path := range []string{file, "./hello", "hello.YML"} {
		if _, err := c.AnyPlan(path); !errors.Is(err, outcome.ErrPath) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
