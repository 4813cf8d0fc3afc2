// Package atomicfile writes files that are there whole or not at all.
//
// The content goes to a temporary file beside the file's path, is synced, and then gets the
// file's name. Whatever fails before that, the file that was there is unchanged and nothing
// else is left behind. An exclusive file gets its name by a link, which fails where the name
// is taken: of two processes that make one file, one wins and the other gets an error. All
// others are renamed, over whatever is there. File.Write does all of this; the functions are
// the usual ways to call it. Only locks and whole folders are renamed elsewhere.
//
// Errors name the file that was meant, never the temporary one. All functions are safe
// for concurrent use. The package knows nothing of flowrun, and nothing of what is in a file.
package atomicfile

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// ExistsError says that a file is there already. It is an fs.ErrExist.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return fmt.Sprintf("%s exists already", e.Path) }

func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// ChangedError says that a file is no longer what it was when its change began; it was
// left as it is.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by somebody else meanwhile; it was left as it is", e.Path)
}

// File is a file to be written, and how.
type File struct {
	Path      string
	Root      *os.Root     // where it is set, Path is inside it and does not leave it
	Mode      fs.FileMode  // its permissions, less what the umask takes
	Exact     bool         // the umask takes nothing
	Exclusive bool         // the file must not be there yet; else Write fails with an *ExistsError
	Unsynced  bool         // a power cut may leave a torn file: for content that is checked when it is read, or can be made again
	Temporary string       // the name of the temporary file, for callers that look for what a killed process left; "": a random one
	Before    func() error // called when the content is written, right before the file gets its name; an error stops Write
}

// Write makes the file with the content that fill writes. The errors of fill and Before are
// answered as they are.
func (f File) Write(fill func(*os.File) error) error {
	in, temporary := f.folder(), f.temporary()
	out, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return f.callerError(err)
	}
	defer in.Remove(temporary) // after a rename there is none
	err = fill(out)
	if own := new(fs.PathError); errors.As(err, &own) && own.Path == out.Name() {
		err = f.callerError(err)
	}
	if err == nil && f.Exact {
		err = f.callerError(out.Chmod(f.Mode))
	}
	if err == nil && !f.Unsynced {
		err = f.callerError(out.Sync())
	}
	if err = errors.Join(err, f.callerError(out.Close())); err != nil {
		return err
	}
	return f.place(in, temporary)
}

// WriteText is Write for content that is in memory.
func (f File) WriteText(text []byte) error {
	return f.Write(func(out *os.File) error {
		_, err := out.Write(text)
		return err
	})
}

// Symlink makes the file a symbolic link.
func (f File) Symlink(target string) error {
	in, temporary := f.folder(), f.temporary()
	if err := in.Symlink(target, temporary); err != nil {
		return f.callerError(err)
	}
	defer in.Remove(temporary)
	return f.place(in, temporary)
}

// temporary is the path of the temporary file. It has nothing of the name, which may be as
// long as a name can be.
func (f File) temporary() string {
	return filepath.Join(filepath.Dir(f.Path), cmp.Or(f.Temporary, "."+rand.Text()+".tmp"))
}

// place gives the temporary file its name.
func (f File) place(in folder, temporary string) error {
	if f.Before != nil {
		if err := f.Before(); err != nil {
			return err
		}
	}
	if f.Exclusive {
		if err := f.placeExclusive(in, temporary); err != nil {
			return err
		}
	} else if err := in.Rename(temporary, f.Path); err != nil {
		return f.callerError(err)
	}
	if f.Unsynced {
		return nil
	}
	return f.callerError(syncFolder(in, filepath.Dir(f.Path)))
}

// placeExclusive gives a file its name unless that is taken.
func (f File) placeExclusive(in folder, temporary string) error {
	err := in.Link(temporary, f.Path)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = f.placeWithoutLinks(in, temporary)
	}
	if errors.Is(err, fs.ErrExist) {
		return &ExistsError{f.Path}
	}
	return f.callerError(err)
}

// placeWithoutLinks is for file systems without links: an empty file claims the name.
func (f File) placeWithoutLinks(in folder, temporary string) error {
	empty, err := in.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return err
	}
	if err = empty.Close(); err == nil {
		err = in.Rename(temporary, f.Path)
	}
	if err != nil {
		return errors.Join(err, in.Remove(f.Path))
	}
	return nil
}

// callerError says which file an error is about: that of the caller, not the temporary one.
func (f File) callerError(err error) error {
	var inner *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &inner):
		return &fs.PathError{Op: "write", Path: f.Path, Err: inner.Err}
	case errors.As(err, &link):
		return &fs.PathError{Op: "write", Path: f.Path, Err: link.Err}
	}
	return err
}

// folder is where files are written: an os.Root, or the whole file system.
type folder interface {
	OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error)
	Symlink(target, name string) error
	Link(from, to string) error
	Rename(from, to string) error
	Remove(name string) error
}

func (f File) folder() folder {
	if f.Root != nil {
		return f.Root
	}
	return osFolder{}
}

type osFolder struct{}

func (osFolder) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
func (osFolder) Symlink(target, name string) error { return os.Symlink(target, name) }
func (osFolder) Link(from, to string) error        { return os.Link(from, to) }
func (osFolder) Rename(from, to string) error      { return os.Rename(from, to) }
func (osFolder) Remove(name string) error          { return os.Remove(name) }

// syncFolder makes what happened to the names in a folder last.
func syncFolder(in folder, dir string) error {
	if runtime.GOOS == "windows" { // which keeps names itself
		return nil
	}
	f, err := in.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) { // some file systems sync no folders
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Create writes a new file, and its folder where that is missing. The error is an
// *ExistsError where there is one of that name, also one that came a moment ago.
func Create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return File{Path: path, Mode: 0o644, Exclusive: true}.WriteText(text)
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
	unchanged := func() error {
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err != nil || !bytes.Equal(now, was) {
			return &ChangedError{path}
		}
		return nil
	}
	return File{Path: path, Mode: info.Mode().Perm(), Exact: true, Before: unchanged}.WriteText(text)
}

// Save writes a file that only its owner reads, over one that may be there, and its folder
// where that is missing.
func Save(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return File{Path: path, Mode: 0o600}.WriteText(text)
}

// Cache is Save for what can be made again, and is checked when it is read: a power cut
// may leave it torn. It costs no wait for the disk.
func Cache(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return File{Path: path, Mode: 0o600, Unsynced: true}.WriteText(text)
}

// Prune removes the oldest files of a folder that has more than most. What cannot be
// removed stays.
func Prune(dir string, limit int) {
	entries, _ := os.ReadDir(dir)
	if len(entries) <= limit {
		return
	}
	age := func(e os.DirEntry) time.Time {
		if info, err := e.Info(); err == nil {
			return info.ModTime()
		}
		return time.Time{} // another process has removed it
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return age(a).Compare(age(b)) })
	for _, e := range entries[:len(entries)-limit] {
		os.Remove(filepath.Join(dir, e.Name()))
	}
}

// Output writes a file of the caller's choice, over one that may be there; mode is that
// of a new one.
func Output(path string, text []byte, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return File{Path: path, Mode: mode}.WriteText(text)
	case !info.Mode().IsRegular(): // a device or a pipe is written to
		return os.WriteFile(path, text, mode)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	return File{Path: path, Mode: info.Mode().Perm(), Exact: true}.WriteText(text)
}

// Remove takes a file away.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncFolder(osFolder{}, filepath.Dir(path))
}
