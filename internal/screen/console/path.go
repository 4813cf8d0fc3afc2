package console

import (
	"os"
	"path/filepath"
)

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
