package cgroup

import (
	"os"
	"path/filepath"
	"testing"
)

// A folder that has a file like a hierarchy of version 2 is none.
func TestFirstUnified(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := firstUnified(dir, filepath.Join(dir, "gone")); got != "" {
		t.Errorf("%s is taken for one", got)
	}
}
