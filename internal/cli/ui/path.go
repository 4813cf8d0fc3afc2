package ui

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
)

// FolderSize returns the size of all files in a folder in bytes. It ignores files that cannot be
// read.
func FolderSize(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

// AbsPath returns an absolute path, or path unchanged if the working directory is unknown.
func AbsPath(path string) string {
	abs, _ := filepath.Abs(path)
	return cmp.Or(abs, path)
}

// ShortPath returns a path relative to the working directory if it is below it, and path unchanged
// otherwise.
func ShortPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
