package clientconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/atomicfile"
)

// File is a settings file.
type File struct {
	Path string // of the file itself, also if it was found through a link
	Text []byte // nil if there is no file

	mode fs.FileMode
}

// ReadProject reads settings in the folder of a project. A project can be anybody's, so no link is
// followed: what it leads to would be changed, and its copy would be part of the project.
func ReadProject(folder, path string) (*File, error) {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return nil, err
	}
	at := folder
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%q is a link, and in a project flowrun follows none", at)
		}
	}
	return read(path)
}

// ReadUser reads settings of the user, who may keep them elsewhere and link to them.
func ReadUser(path string) (*File, error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return read(path)
}

// read reads a regular file. A pipe without a writer does not block it.
func read(path string) (*File, error) {
	in, err := os.OpenFile(path, os.O_RDONLY|openNoFollow, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return &File{Path: path}, nil
	}
	if err != nil {
		return nil, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is not a regular file", path)
	}
	text, err := io.ReadAll(in)
	return &File{Path: path, Text: text, mode: info.Mode().Perm()}, err
}

// Backup returns the path of the copy that Write keeps.
func (f *File) Backup() string { return f.Path + ".bak" }

// Write writes the settings. A file that exists is kept as the backup, which nobody can read who
// cannot read the file.
func (f *File) Write(text []byte) error {
	if f.Text == nil {
		return atomicfile.Create(f.Path, text)
	}
	backup := atomicfile.File{Path: f.Backup(), Mode: f.mode, Exact: true}
	if err := backup.WriteText(f.Text); err != nil {
		return fmt.Errorf("cannot keep a copy: %w", err)
	}
	return atomicfile.Replace(f.Path, f.Text, text)
}
