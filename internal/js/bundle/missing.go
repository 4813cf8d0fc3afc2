package bundle

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A bundle without some packages is valid as long as they are not installed. They may be
// installed in node_modules of any folder from which an import was searched, and of the
// folders above it.

// searched records a folder from which a package was searched without success.
func (w *work) searched(dir string) {
	for dir != "" && !w.searchedDirs[dir] && w.allowed(realPath(dir)) && filepath.Dir(dir) != dir {
		w.searchedDirs[dir] = true
		dir = filepath.Dir(dir)
	}
}

// looked returns the folders whose node_modules was searched without success.
func (w *work) looked() []string { return slices.Sorted(maps.Keys(w.searchedDirs)) }

// stillMissing reports whether all missing packages of the result are still missing.
func (r Result) stillMissing(installed string) bool {
	for _, m := range r.Missing {
		if hasPackage(installed, m.Name) {
			return false
		}
		for _, dir := range r.Looked {
			if hasPackage(filepath.Join(dir, "node_modules"), m.Name) {
				return false
			}
		}
	}
	return true
}

// hasPackage reports whether a folder contains a package, or a file that an import of it would
// find.
func hasPackage(modules, name string) bool {
	if modules == "" {
		return false
	}
	path := filepath.Join(modules, filepath.FromSlash(name))
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return false // the usual case: there is no such folder
	}
	base := filepath.Base(path)
	return slices.ContainsFunc(list, func(e os.DirEntry) bool {
		return e.Name() == base || strings.HasPrefix(e.Name(), base+".")
	})
}
