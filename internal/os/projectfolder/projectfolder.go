// Package projectfolder finds the folder of a project: the nearest one, from a folder upwards to the root of its
// repository, that contains a folder for flowrun. Outside of a repository the search ends at the root of the file system.
// Each level costs some system calls, so whoever looks for several folders asks for all of them at once.
package projectfolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/os/ownership"
)

const (
	settings = ".flowrun"
	tools    = ".cycod" + string(filepath.Separator) + "tools"
)

// Of returns the project of a folder: the nearest folder that contains a folder .flowrun. Without one, root is "", and
// toolsProject is what ToolsProject returns.
func Of(dir, home string) (root, toolsProject string) {
	found := Nearest(dir, settings, tools)
	if found[0] != "" {
		return filepath.Dir(found[0]), ""
	}
	return "", ofTools(found[1], home)
}

// Root returns the nearest folder that contains a folder .flowrun, or "".
func Root(dir string) string {
	if found := Nearest(dir, settings)[0]; found != "" {
		return filepath.Dir(found)
	}
	return ""
}

// ToolsProject returns the project of a folder whose tools are in .cycod, or "". The tools in .cycod of the home
// directory belong to the user, not to a project.
func ToolsProject(dir, home string) string { return ofTools(Nearest(dir, tools)[0], home) }

func ofTools(found, home string) string {
	if found == "" || found == filepath.Join(home, tools) {
		return ""
	}
	return filepath.Dir(filepath.Dir(found))
}

// Nearest returns, for each name, the nearest folder of that name in dir or above it, up to the root of the repository,
// or "". Folders that other users can write are skipped.
func Nearest(dir string, names ...string) []string {
	found := make([]string, len(names))
	for missing := len(names); dir != ""; {
		for i, name := range names {
			if at := filepath.Join(dir, name); found[i] == "" && counts(at) {
				found[i] = at
				missing--
			}
		}
		parent := filepath.Dir(dir)
		if missing == 0 || parent == dir || isRepositoryRoot(dir) {
			return found
		}
		dir = parent
	}
	return found
}

// counts reports whether a folder is the one that is looked for.
func counts(folder string) bool {
	info, err := os.Stat(folder)
	if errors.Is(err, fs.ErrPermission) { // the nearest one, but not readable
		_, err := os.Lstat(filepath.Dir(folder))
		return err == nil
	}
	return err == nil && info.IsDir() && ownership.Counts(folder)
}

func isRepositoryRoot(dir string) bool {
	for _, name := range []string{".git", ".hg", ".jj"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}
