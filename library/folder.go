package library

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// Folder is a folder in which names are looked up.
type Folder struct {
	Scope tool.Scope
	Path  string // it may not exist
}

// Folders returns the folders in which the Library looks up names, in order.
func (l *Library) Folders() []Folder {
	list := make([]Folder, len(l.folders))
	for i, f := range l.folders {
		list[i] = Folder{f.scope, f.path}
	}
	return list
}

// Folder returns the folder for new definitions of a scope, which may not exist yet. For the local scope it is the
// nearest .flowrun/tools, or else the one in the working directory; for the others, the user's or the machine's
// flowrun/tools. It fails if the scope has no folder.
func (l *Library) Folder(s tool.Scope) (string, error) {
	for _, f := range l.folders {
		// Tools in .cycod are read, but new ones are created in flowrun's own folder.
		if f.scope == s && filepath.Base(filepath.Dir(f.path)) != ".cycod" {
			return f.path, nil
		}
	}
	if s == tool.ScopeLocal && l.workDir != "" {
		return filepath.Join(l.workDir, ".flowrun", "tools"), nil
	}
	return "", fmt.Errorf("cannot find the folder of the scope %s: no home directory; set HOME or XDG_CONFIG_HOME", s)
}

// LookupIn is Lookup for a name in a single scope.
func (l *Library) LookupIn(name string, s tool.Scope) (*tool.Definition, tool.Diagnostics, error) {
	var places folders
	for _, f := range l.folders {
		if f.scope == s {
			places = append(places, f)
		}
	}
	if def, found, err := l.lookupFolders(places, name); def != nil || err != nil {
		return def, found, err
	}
	if len(places) == 0 { // the scope has no folder yet
		dir, err := l.Folder(s)
		if err != nil {
			return nil, nil, err
		}
		places = folders{{s, dir}}
	}
	e := l.notFoundIn(name, places)
	e.Scope = s
	return nil, nil, e
}

// ListFolder returns all definitions in a folder, sorted by name, in the form of List. It fails if the folder cannot be
// read.
func (l *Library) ListFolder(dir string) ([]Listed, error) {
	files, err := l.finder.files(dir)
	if err != nil {
		return nil, err
	}
	all := l.finder.listFiles(folder{tool.ScopeFile, dir}, files)
	slices.SortStableFunc(all, func(a, b Listed) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// Unreadable returns an error for each folder of a scope that exists but cannot be read. Its tools are missing from
// List. The scope "" means all scopes.
func (l *Library) Unreadable(s tool.Scope) tool.Diagnostics {
	var found tool.Diagnostics
	for _, f := range l.folders {
		if s != "" && s != f.scope {
			continue
		}
		if err := f.unreadableReason(); err != nil {
			found = append(found, tool.Diagnostic{Code: "unreadable", Severity: tool.Error, Pos: tool.Pos{File: f.path},
				Message: err.Error(), Hint: "make the folder readable, or remove it"})
		}
	}
	return found
}

// unreadableReason returns the reason why an existing folder cannot be read. A folder whose path leads through a file
// does not exist, for example if the home directory is /dev/null.
func (f folder) unreadableReason() error {
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
