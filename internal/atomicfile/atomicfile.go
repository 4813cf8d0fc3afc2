// Package atomicfile writes files that are there whole or not at all.
//
// The text goes to a temporary file beside its place, is synced, and then gets its name.
// Whatever fails before that, the file that was there is as it was and nothing else is
// left behind. Create gives the name by a link, which fails where the name is taken: of
// two processes that make one file, one wins and the other is told. Replace renames, and
// only while the file still holds what its change began with. Save and Output rename over
// whatever is there.
//
// Errors name the file that was meant, never the temporary one. All functions are safe
// for concurrent use.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// ExistsError says that a file is there already.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return fmt.Sprintf("%s exists already", e.Path) }

// ChangedError says that a file is no longer what it was when its change began; it was
// left as it is.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by somebody else meanwhile; it was left as it is", e.Path)
}

// Create writes a new file, and its folder where that is missing. The error is an
// *ExistsError where there is one of that name, also one that came a moment ago.
func Create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return write(path, text, 0o644, claim)
}

// Replace gives a file a new text, keeping its mode and, where it is a link, the link.
// The error is a *ChangedError where it no longer holds was.
func Replace(path string, was, text []byte) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return write(path, text, info.Mode().Perm(), func(temporary, path string) error {
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !bytes.Equal(now, was) {
			return &ChangedError{path}
		}
		return over(info.Mode())(temporary, path)
	})
}

// Save writes a file that only its owner reads, over one that may be there.
func Save(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return write(path, text, 0o600, os.Rename)
}

// Output writes a file of the caller's choice, over one that may be there; mode is that
// of a new one.
func Output(path string, text []byte, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return write(path, text, mode, os.Rename)
	case !info.Mode().IsRegular(): // a device or a pipe is written to
		return os.WriteFile(path, text, mode)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	return write(path, text, info.Mode().Perm(), over(info.Mode()))
}

// over puts a file in the place of one that has this mode.
func over(mode fs.FileMode) func(temporary, path string) error {
	return func(temporary, path string) error {
		if err := os.Chmod(temporary, mode.Perm()); err != nil { // the umask may have taken some of it
			return err
		}
		return os.Rename(temporary, path)
	}
}

// Remove takes a file away.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// write makes a temporary file beside path, which place then gives its name. Whatever
// fails, path is as it was and the temporary file is gone.
func write(path string, text []byte, mode fs.FileMode, place func(temporary, path string) error) error {
	return at(path, writeAndPlace(path, text, mode, place))
}

// at says which file an error is about: that of the caller, not the temporary one.
func at(path string, err error) error {
	var inner *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &inner):
		return &fs.PathError{Op: "write", Path: path, Err: inner.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: path, Err: link.Err}
	}
	return err
}

func writeAndPlace(path string, text []byte, mode fs.FileMode, place func(temporary, path string) error) (err error) {
	dir, base := filepath.Split(path)
	temporary := filepath.Join(dir, "."+base+"."+rand.Text()+".tmp")
	f, err := os.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer os.Remove(temporary) // after a rename there is none
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := place(temporary, path); err != nil {
		return err
	}
	return syncFolder(dir)
}

// claim gives a file its name unless that is taken.
func claim(temporary, path string) error {
	err := os.Link(temporary, path)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return &ExistsError{path}
	}
	// A file system without links: the name is claimed by an empty file.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{path}
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		return err
	}
	if err := os.Rename(temporary, path); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// syncFolder makes what happened to the names in a folder last.
func syncFolder(dir string) error {
	if runtime.GOOS == "windows" { // which keeps names itself
		return nil
	}
	if dir == "" {
		dir = "."
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) { // some file systems sync no folders
		err = nil
	}
	return errors.Join(err, f.Close())
}
