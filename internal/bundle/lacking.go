package bundle

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A bundle that lacks packages is good for as long as they stay away. They may come to
// node_modules in any folder from which an import was looked for, and those above it.

// searched notes a folder from which a package was looked for in vain.
func (w *work) searched(dir string) {
	for dir != "" && !w.vain[dir] && w.allowed(realPath(dir)) && filepath.Dir(dir) != dir {
		w.vain[dir] = true
		dir = filepath.Dir(dir)
	}
}

// looked are the folders in which node_modules was looked for in vain.
func (w *work) looked() []string { return slices.Sorted(maps.Keys(w.vain)) }

// lacks says whether every package that the result lacks is still away.
func (r Result) lacks(installed string) bool {
	for _, m := range r.Missing {
		if came(installed, m.Name) {
			return false
		}
		for _, dir := range r.Looked {
			if came(filepath.Join(dir, "node_modules"), m.Name) {
				return false
			}
		}
	}
	return true
}

// came says whether a folder holds a package, or a file that an import of it finds.
func came(modules, name string) bool {
	if modules == "" {
		return false
	}
	path := filepath.Join(modules, filepath.FromSlash(name))
	list, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		return false // as mostly: there is no such folder
	}
	base := filepath.Base(path)
	return slices.ContainsFunc(list, func(e os.DirEntry) bool {
		return e.Name() == base || strings.HasPrefix(e.Name(), base+".")
	})
}
