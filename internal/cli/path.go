package cli

import (
	"cmp"
	"os"
	"path/filepath"
)

// full is a path from the root, so that each file has one name; as it was given where
// there is no working directory.
func full(path string) string {
	abs, _ := filepath.Abs(path)
	return cmp.Or(abs, path)
}

// shortPath is a path as it is written from the working directory, where it lies below
// it.
func shortPath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(wd, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
