package builtin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of a walk.
const (
	maxNames  = 100_000 // in one folder
	maxFolder = 200     // nested folders, all of which are open at the same time
)

// entry is a file or folder that a walk visits.
type entry struct {
	dir  *os.Root // folder of the entry; open during the visit
	name string
	rest string // path relative to the start of the walk, with /
	path string
	typ  fs.FileMode // 0 is a regular file
}

// walk visits what is below a folder: first all entries of the folder by name, then the contents of its folders.
// Links to folders are not followed.
type walk struct {
	ctx       context.Context
	gitIgnore bool
	depth     int                                 // how many folders to descend; 0 visits the first folder only
	prune     func(rest string, folder bool) bool // excludes more entries; nil excludes none
	visit     func(entry) error                   // called for each file, link and folder

	ignored int      // entries that .gitignore files left out
	gaps    []string // what could not be visited, in words; only the first few
}

// errEnough ends a walk without an error.
var errEnough = errors.New("enough")

// from walks through a folder.
func (w *walk) from(p place) error {
	var rules *ignores
	if w.gitIgnore {
		var err error
		if rules, err = ignoresOf(p); err != nil {
			return err
		}
	}
	dir, err := p.dir()
	if err != nil {
		return err
	}
	defer dir.Close()
	err = w.through(dir, rules, p, "", 0)
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// through walks through an open folder, to which rules apply. rest is its path relative to the start of the walk.
func (w *walk) through(dir *os.Root, rules *ignores, at place, rest string, depth int) error {
	names, err := w.names(dir, at.path)
	if err != nil {
		return err
	}
	var folders []string
	for _, n := range names {
		if err := w.ctx.Err(); err != nil {
			return err
		}
		e := entry{dir: dir, name: n.Name(), rest: path.Join(rest, n.Name()), path: filepath.Join(at.path, n.Name()), typ: n.Type()}
		if w.excluded(rules, e, filepath.ToSlash(filepath.Join(at.rest, e.name))) {
			continue
		}
		if e.typ.IsDir() {
			folders = append(folders, e.name)
		}
		if err := w.visit(e); err != nil {
			return err
		}
	}
	if depth >= w.depth {
		return nil
	}
	for _, name := range folders {
		below := place{path: filepath.Join(at.path, name), root: at.root, rest: filepath.Join(at.rest, name)}
		if depth+1 >= maxFolder {
			w.addGap("%s: folders are nested too deeply", below.path)
			continue
		}
		if err := w.enter(dir, rules, below, path.Join(rest, name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// enter continues the walk in a folder.
func (w *walk) enter(dir *os.Root, rules *ignores, at place, rest string, depth int) error {
	if info, err := dir.Lstat(at.name()); err != nil || !info.IsDir() { // removed or replaced by a link
		return nil
	}
	inner, err := folderIn(dir, at.name())
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			w.addGap("%v", describeError(at.path, err))
		}
		return nil
	}
	defer inner.Close()
	if w.gitIgnore {
		rules = rules.enter(inner, filepath.ToSlash(at.rest))
	}
	return w.through(inner, rules, at, rest, depth)
}

// names returns the entries of a folder, sorted by name.
func (w *walk) names(dir *os.Root, path string) (list []fs.DirEntry, err error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, describeError(path, err)
	}
	defer f.Close()
	for {
		if err := w.ctx.Err(); err != nil {
			return nil, err
		}
		part, err := f.ReadDir(1000)
		list = append(list, part...)
		if err != nil {
			if !errors.Is(err, io.EOF) {
				w.addGap("%v", describeError(path, err))
			}
			break
		}
		if len(list) >= maxNames {
			w.addGap("%s: more than %d entries; not all were searched", path, maxNames)
			break
		}
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return list, nil
}

// excluded reports whether an entry is excluded. way is its path from the root.
func (w *walk) excluded(rules *ignores, e entry, way string) bool {
	switch {
	case e.name == ".git":
		return true
	case w.prune != nil && w.prune(e.rest, e.typ.IsDir()):
		return true
	case e.typ.IsDir() && systemFolder(e.path) == e.path:
		return true
	case rules.ignored(way, e.typ.IsDir()):
		w.ignored++
		return true
	}
	return false
}

// addGap notes something that the walk could not visit.
func (w *walk) addGap(format string, args ...any) {
	if len(w.gaps) < 10 {
		w.gaps = append(w.gaps, fmt.Sprintf(format, args...))
	}
}

// notes returns the gaps as the end of an answer.
func (w *walk) notes() string {
	if len(w.gaps) == 0 {
		return ""
	}
	return "\n[Not searched: " + strings.Join(w.gaps, "; ") + "]"
}
