package tool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/ownership"
)

// nearest is the first folder of that name at or above dir, not beyond the root of a
// repository; empty for none. One that others may write is passed over.
func nearest(dir, name string) string {
	for dir != "" {
		found := filepath.Join(dir, name)
		switch info, err := os.Stat(found); {
		case err == nil && info.IsDir() && ownership.Counts(found):
			return found
		case errors.Is(err, fs.ErrPermission) && isThere(filepath.Dir(found)): // the first, but closed
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

// ToolsProject is the project of a folder that has tools in .cycod and no folder
// .flowrun; "" where there is none. The tools in .cycod of the home are the user's.
func ToolsProject(dir, home string) string {
	tools := nearest(dir, filepath.Join(".cycod", "tools"))
	if tools == "" || tools == filepath.Join(home, ".cycod", "tools") {
		return ""
	}
	return ProjectOf(tools)
}

// ProjectRoot is the nearest folder from dir upwards that holds a folder .flowrun, not
// beyond the root of a repository; "" where there is none. One that others may write is
// passed over.
func ProjectRoot(dir string) string {
	if found := nearest(dir, ".flowrun"); found != "" {
		return filepath.Dir(found)
	}
	return ""
}
