package library

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/os/ownership"
)

// nearestAbove returns the nearest folder with the given name in dir or above it, up to the root of the repository, or "".
// Folders that other users can write are skipped.
func nearestAbove(dir, name string) string {
	for dir != "" {
		found := filepath.Join(dir, name)
		switch info, err := os.Stat(found); {
		case err == nil && info.IsDir() && ownership.Counts(found):
			return found
		case errors.Is(err, fs.ErrPermission) && pathExists(filepath.Dir(found)): // the nearest one, but not readable
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir || isRepositoryRoot(dir) {
			return ""
		}
		dir = parent
	}
	return ""
}

func isRepositoryRoot(dir string) bool {
	for _, name := range []string{".git", ".hg", ".jj"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// ToolsProject returns the project of a folder whose tools are in .cycod, or "". The tools in .cycod of the home
// directory belong to the user, not to a project.
func ToolsProject(dir, home string) string {
	tools := nearestAbove(dir, filepath.Join(".cycod", "tools"))
	if tools == "" || tools == filepath.Join(home, ".cycod", "tools") {
		return ""
	}
	return ProjectOf(tools)
}

// ProjectRoot returns the nearest folder that contains a folder .flowrun: dir or one above it, up to the root of the
// repository. It returns "" if there is none. Folders .flowrun that other users can write are skipped.
func ProjectRoot(dir string) string {
	if found := nearestAbove(dir, ".flowrun"); found != "" {
		return filepath.Dir(found)
	}
	return ""
}
