// Package editedfile reads and writes files of people that flowrun changes: settings, of flowrun and of other programs.
//
// A project can be anybody's. In its folder no link is followed: what it leads to would be changed, and a copy of it would
// be part of the project. The files of a user can be links.
package editedfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// File is a file to change.
type File struct {
	Path string // of the file itself, also if it was found through a link
	Text []byte // nil if there is no file

	mode fs.FileMode
}

// ReadProject reads a file in the folder of a project.
func ReadProject(folder, path string) (*File, error) {
	if err := CheckLinks(folder, path); err != nil {
		return nil, err
	}
	return read(path)
}

// CheckLinks returns an error if a file in the folder of a project, or a folder above it in there, is a link.
func CheckLinks(folder, path string) error {
	rel, err := filepath.Rel(folder, path)
	if err != nil {
		return err
	}
	at := folder
	for part := range strings.SplitSeq(rel, string(filepath.Separator)) {
		at = filepath.Join(at, part)
		if info, err := os.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%q is a link, and in a project flowrun follows none; replace it with a file or folder", at)
		}
	}
	return nil
}

// ReadUser reads a file of the user, who may keep it elsewhere and link to it.
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

// Write writes the file. It fails if another program has changed it since it was read.
func (f *File) Write(text []byte) error {
	if f.Text == nil {
		return atomicfile.Create(f.Path, text)
	}
	return atomicfile.Replace(f.Path, f.Text, text)
}

// Backup returns the path of the copy that Keep makes.
func (f *File) Backup() string { return f.Path + ".bak" }

// Keep makes a copy of a file that exists, which nobody can read who cannot read the file.
func (f *File) Keep() error {
	if f.Text == nil {
		return nil
	}
	backup := atomicfile.File{Path: f.Backup(), Mode: f.mode, Exact: true}
	if err := backup.WriteText(f.Text); err != nil {
		return fmt.Errorf("cannot keep a copy: %w", err)
	}
	return nil
}
