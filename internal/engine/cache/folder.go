package cache

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// folder is a tree of files whose names may be any bytes. os.DirFS and Root.FS read no folder whose name is not UTF-8.
type folder struct {
	open func(name string) (*os.File, error)
	stat func(name string) (fs.FileInfo, error)
}

// rootFolder returns the tree below an open folder. No link leads out of it.
func rootFolder(root *os.Root) folder { return folder{root.Open, root.Stat} }

// folderAt returns the tree below a path.
func folderAt(dir string) folder {
	in := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	return folder{func(name string) (*os.File, error) { return os.Open(in(name)) }, func(name string) (fs.FileInfo, error) { return os.Stat(in(name)) }}
}

// check returns an error for a name that leads out of the folder by its text.
func (f folder) check(op, name string) error {
	if !fs.ValidPath(strings.ToValidUTF8(name, "_")) {
		return &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	return nil
}

// Open implements fs.FS.
func (f folder) Open(name string) (fs.File, error) {
	if err := f.check("open", name); err != nil {
		return nil, err
	}
	return f.open(name)
}

// ReadDir implements fs.ReadDirFS.
func (f folder) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := f.check("readdir", name); err != nil {
		return nil, err
	}
	file, err := f.open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, err := file.ReadDir(-1)
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, err
}

// Stat implements fs.StatFS.
func (f folder) Stat(name string) (fs.FileInfo, error) {
	if err := f.check("stat", name); err != nil {
		return nil, err
	}
	return f.stat(name)
}
