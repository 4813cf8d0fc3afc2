package tool

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// Folder is where new definitions of a scope go, whether or not it is there yet:
// the nearest .flowrun/tools, else one in the working directory; the user's
// flowrun/tools; the machine's. The error tells that the scope has no folder.
func (l *Library) Folder(s Scope) (string, error) {
	for _, f := range l.folders {
		// What stands in .cycod is read; new definitions go beside flowrun's own.
		if f.scope == s && filepath.Base(filepath.Dir(f.path)) != ".cycod" {
			return f.path, nil
		}
	}
	if s == ScopeLocal && l.workDir != "" {
		return filepath.Join(l.workDir, ".flowrun", "tools"), nil
	}
	return "", fmt.Errorf("cannot find a folder for the scope %s: there is no home directory; set HOME or XDG_CONFIG_HOME", s)
}

// LookupIn is Lookup for names in one scope only.
func (l *Library) LookupIn(name string, s Scope) (*Definition, Diagnostics, error) {
	var places []folder
	for _, f := range l.folders {
		if f.scope == s {
			places = append(places, f)
		}
	}
	for _, f := range places {
		if file := l.find(f.path, name); file != "" {
			return l.load(file, f.scope)
		}
	}
	if len(places) == 0 { // a scope without a folder yet
		dir, err := l.Folder(s)
		if err != nil {
			return nil, nil, err
		}
		places = []folder{{s, dir}}
	}
	e := l.missing(name, places)
	e.Scope = s
	return nil, nil, e
}

// ListFolder is every definition in a folder, sorted by name, in the form of List. The
// error is why the folder could not be read.
func (l *Library) ListFolder(dir string) ([]Listed, error) {
	if _, err := os.ReadDir(dir); err != nil {
		return nil, err
	}
	all := l.listFolder(folder{ScopeFile, dir})
	slices.SortStableFunc(all, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}
