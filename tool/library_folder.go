package tool

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// Folder is a place where names are looked up.
type Folder struct {
	Scope Scope
	Path  string // which need not be there
}

// Folders are the places where the Library looks names up, in order.
func (l *Library) Folders() []Folder {
	list := make([]Folder, len(l.folders))
	for i, f := range l.folders {
		list[i] = Folder{f.scope, f.path}
	}
	return list
}

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
	return "", fmt.Errorf("cannot find the folder of the scope %s: no home directory; set HOME or XDG_CONFIG_HOME", s)
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
		if err := f.closed(); err != nil {
			return nil, nil, err
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

// Unreadable is the folders of a scope, of all for "", that are there and cannot be
// read, each with the reason: what they hold is in no List.
func (l *Library) Unreadable(s Scope) Diagnostics {
	var found Diagnostics
	for _, f := range l.folders {
		if s != "" && s != f.scope {
			continue
		}
		if err := f.closed(); err != nil {
			found = append(found, Diagnostic{Code: "unreadable", Severity: Error, Pos: Pos{File: f.path},
				Message: err.Error(), Hint: "make the folder readable, or remove it"})
		}
	}
	return found
}

// closed is why a folder that is there cannot be read. One below a file, as a home of
// /dev/null has them, is not there.
func (f folder) closed() error {
	dir, err := os.Open(f.path)
	switch {
	case err == nil:
		return dir.Close()
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return nil
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return fmt.Errorf("cannot read the folder of %s tools, %s: %w", f.scope, f.path, err)
}
