package output

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/test/needtest"
)

func TestIsFull(t *testing.T) {
	dir := t.TempDir()
	isFull := func(dir string) bool { return (&Keeper{Dir: dir}).DiskIsFull() }
	if isFull(dir) || isFull("") || isFull(filepath.Join(dir, "missing")) {
		t.Error("a folder with space is full")
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		needtest.Missing(t, "cannot mount a file system: %v; run as root", err)
	}
	defer syscall.Unmount(dir, syscall.MNT_DETACH)
	if isFull(dir) {
		t.Error("an empty disk is full")
	}
	if err := os.WriteFile(filepath.Join(dir, "fill"), make([]byte, 1<<20), 0o600); err == nil || !isFull(dir) {
		t.Errorf("a full disk is not full: %v", err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("a file is left: %v, %v", entries, err)
	}
}
