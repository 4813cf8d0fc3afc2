package ui

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
)

// FolderSize is the size of all files in a folder; what cannot be read counts nothing.
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

// AbsPath is a path from the root, so that each file has one name; as it was given where
// there is no working directory.
func AbsPath(path string) string {
	abs, _ := filepath.Abs(path)
	return cmp.Or(abs, path)
}

// ShortPath is a path as it is written from the working directory, where it lies below
// it.
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
