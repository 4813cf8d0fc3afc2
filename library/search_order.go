package library

import (
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/os/projectfolder"
)

// folder is one folder of a scope.
type folder struct {
	scope tool.Scope
	path  string
}

// folders are the folders in which names are looked up, in order.
type folders []folder

// foldersOf returns all folders in which names are looked up, in order.
func foldersOf(c Config) folders {
	user := []string{}
	if xdg := c.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(xdg) {
		user = append(user, filepath.Join(xdg, "flowrun", "tools"))
	} else if c.Home != "" {
		user = append(user, filepath.Join(c.Home, ".config", "flowrun", "tools"))
	}
	if c.Home != "" {
		user = append(user, filepath.Join(c.Home, ".cycod", "tools"))
	}
	global := c.Getenv("FLOWRUN_GLOBAL_TOOLS")
	if global == "" {
		global = "/etc/flowrun/tools"
	}
	var all folders
	for _, dir := range projectfolder.Nearest(c.WorkingDirectory, filepath.Join(".flowrun", "tools"), filepath.Join(".cycod", "tools")) {
		// If the home directory is not in a repository, the search upwards finds the user's own folder. It belongs to
		// the user scope.
		if dir != "" && !slices.Contains(user, dir) {
			all = append(all, folder{tool.ScopeLocal, dir})
		}
	}
	for _, dir := range user {
		all = append(all, folder{tool.ScopeUser, dir})
	}
	all = append(all, folder{tool.ScopeGlobal, global})
	return slices.DeleteFunc(all, func(f folder) bool { return !ownership.Counts(f.path) })
}

// searchOrder returns the folders in which a name is looked up: first those before the tools that are not in files, then
// those after them.
func (all folders) searchOrder(from *tool.Definition) (first, last folders) {
	if from == nil || from.File == "" {
		return all, nil
	}
	dir, inProject := filepath.Dir(from.File), false
	beside := folder{tool.ScopeFile, dir}
	for _, f := range all {
		switch project := f.scope == tool.ScopeLocal; {
		case project && isInside(ProjectOf(f.path), dir):
			inProject = true
		case !project && isInside(f.path, dir):
			if f.path == dir {
				beside = f
			}
			return all.searchOrderOutside(beside)
		}
	}
	switch {
	case !inProject:
		return all.searchOrderOutside(beside)
	case from.Scope == tool.ScopeFile:
		return append(folders{beside}, all...), nil
	}
	return all, nil
}

// searchOrderOutside returns the folders for names in a definition outside the project.
func (all folders) searchOrderOutside(beside folder) (first, last folders) {
	first = folders{beside}
	for _, f := range all {
		switch {
		case f.scope == tool.ScopeLocal:
			last = append(last, f)
		case f != beside:
			first = append(first, f)
		}
	}
	return first, last
}

// has reports whether a folder is one that is always searched, without the user having named it. In such folders, files
// that other users can write are ignored.
func (all folders) has(dir string) bool {
	return slices.ContainsFunc(all, func(f folder) bool { return f.path == dir })
}

// isInside reports whether dir is top or inside it.
func isInside(top, dir string) bool {
	rest, err := filepath.Rel(top, dir)
	return err == nil && filepath.IsLocal(rest)
}
