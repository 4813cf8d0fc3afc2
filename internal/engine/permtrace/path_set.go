package permtrace

import (
	"path"
	"slices"
	"strings"
)

const (
	// maxFiles is how many entries of a folder are listed before the folder takes their place.
	maxFiles = 3
	// maxBroadFiles is the same for folders that should not be granted as a whole.
	maxBroadFiles = 500
	// maxLines is how many entries remain of a pathSet, if there is a way to merge them.
	maxLines = 6
)

// pathSet is a set of paths. A path stands for everything below it, too.
type pathSet struct {
	places  Places
	paths   map[string]bool
	entries map[string]int // how many paths are in a folder
}

func newPathSet(p Places) *pathSet {
	return &pathSet{places: p, paths: map[string]bool{}, entries: map[string]int{}}
}

// covers reports whether a path, or a folder above it, is in the set.
func (s *pathSet) covers(p string) bool {
	for {
		if s.paths[p] {
			return true
		}
		if p == "/" || p == "." {
			return false
		}
		p = path.Dir(p)
	}
}

// add adds a path. If a folder then has too many, the folder takes their place.
func (s *pathSet) add(p string) {
	if s.covers(p) {
		return
	}
	s.paths[p] = true
	dir := path.Dir(p)
	s.entries[dir]++
	limit := maxFiles
	if s.isBroad(dir) {
		limit = maxBroadFiles
	}
	if s.entries[dir] > limit {
		s.merge(dir)
	}
}

// merge replaces the paths in a folder by the folder.
func (s *pathSet) merge(dir string) {
	for p := range s.paths {
		if contains(dir, p) {
			delete(s.paths, p)
			s.entries[path.Dir(p)]--
		}
	}
	s.paths[dir] = true
	s.entries[path.Dir(dir)]++
}

// isBroad reports whether a folder holds so much that a few files in it are no reason to grant all of it: folders at
// the top, the home directory, and everything above that or above the workspace.
func (s *pathSet) isBroad(dir string) bool {
	switch {
	case contains(dir, s.places.Home):
		return true
	case dir == s.places.Workspace:
		return false
	}
	return strings.Count(dir, "/") < 2 || contains(dir, s.places.Workspace)
}

// list returns the paths in order. If they are too many, those that are closest to each other are merged.
func (s *pathSet) list() []string {
	for {
		list := s.sorted()
		if len(list) <= maxLines {
			return list
		}
		deepest := ""
		for i := range list[1:] {
			dir := commonFolder(list[i], list[i+1])
			if !s.isBroad(dir) && strings.Count(dir, "/") > strings.Count(deepest, "/") {
				deepest = dir
			}
		}
		if deepest == "" {
			return list
		}
		s.merge(deepest)
	}
}

// sorted returns the paths so that those of a folder follow each other. A path that is below another is left out.
func (s *pathSet) sorted() []string {
	var list []string
	for p := range s.paths {
		if p == "/" || !s.covers(path.Dir(p)) {
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b string) int {
		return strings.Compare(strings.ReplaceAll(a, "/", "\x00"), strings.ReplaceAll(b, "/", "\x00"))
	})
	return list
}

// commonFolder returns the deepest folder that contains both paths.
func commonFolder(a, b string) string {
	dir := path.Dir(a)
	for !contains(dir, b) {
		dir = path.Dir(dir)
	}
	return dir
}
