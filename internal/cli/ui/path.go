package ui

import (
	"cmp"
	"path/filepath"
)

// AbsPath returns an absolute path, or path unchanged if the working directory is unknown.
func AbsPath(path string) string {
	abs, _ := filepath.Abs(path)
	return cmp.Or(abs, path)
}
