// Package atomicfile writes files completely or not at all.
//
// It writes the content to a temporary file in the same directory, syncs it, and then gives it the
// name of the file. If anything fails before that, an existing file is unchanged and nothing else
// is left behind. An exclusive file gets its name by a link, which fails if the name is taken: if
// two processes create the same file, one succeeds and the other gets an error. All other files are
// renamed over whatever has the name. File.Write does all of this; the functions are the usual ways
// to call it. Elsewhere in flowrun only locks and whole directories are renamed.
//
// Errors name the file that the caller wanted, never the temporary one. All functions are safe for
// concurrent use. The package knows nothing of flowrun or of the content.
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

// ExistsError means that the file already exists. It wraps fs.ErrExist.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return fmt.Sprintf("%s already exists", e.Path) }

func (e *ExistsError) Unwrap() error { return fs.ErrExist }

// ChangedError means that the file is no longer what it was when the change began. It was not
// modified.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s was changed by another program in the meantime, so it was not written", e.Path)
}

// File describes a file to write.
type File struct {
	Path      string
	Root      *os.Root     // if set, Path is inside of it and cannot leave it
	Mode      fs.FileMode  // permissions, before the umask
	Exact     bool         // ignore the umask
	Exclusive bool         // the file must not exist yet; else Write fails with an *ExistsError
	Unsynced  bool         // a power failure may leave an incomplete file: for content that is checked when it is read, or can be made again
	Temporary string       // name of the temporary file, for callers that clean up after a killed process; "": a random name
	Before    func() error // called after the content is written and before the file gets its name; an error stops Write. Until the file has its name, no other Before is called in its folder
}

// Write creates the file with the content that fill writes. It returns errors of fill and Before
// unchanged.
func (f File) Write(fill func(*os.File) error) error {
	in, temporary := f.folder(), f.temporary()
	out, err := in.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.Mode)
	if err != nil {
		return f.callerError(err)
	}
	defer in.Remove(temporary) // after a rename it no longer exists
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

// WriteText is Write for content in memory.
func (f File) WriteText(text []byte) error {
	return f.Write(func(out *os.File) error {
		_, err := out.Write(text)
		return err
	})
}

// Symlink creates the file as a symbolic link to target.
func (f File) Symlink(target string) error {
	in, temporary := f.folder(), f.temporary()
	if err := in.Symlink(target, temporary); err != nil {
		return f.callerError(err)
	}
	defer in.Remove(temporary)
	return f.place(in, temporary)
}

// temporary returns the path of the temporary file. It does not contain the name of the file, which
// may already have the maximum length.
func (f File) temporary() string {
	return filepath.Join(filepath.Dir(f.Path), cmp.Or(f.Temporary, "."+rand.Text()+".tmp"))
}

// place gives the temporary file the name of the file.
func (f File) place(in folder, temporary string) error {
	if f.Before != nil {
		unlock, err := f.lock(in)
		if err != nil {
			return err
		}
		defer unlock()
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

// placeExclusive gives the temporary file the name of the file, unless that exists.
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

// placeWithoutLinks does the same on file systems without links: it creates an empty file to
// reserve the name, and renames the temporary file over it.
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

// callerError replaces the path of the temporary file in an error by the path of the file.
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
	Lstat(name string) (fs.FileInfo, error)
}

func (f File) folder() folder {
	if f.Root != nil {
		return f.Root
	}
	return osFolder{}
}

// osFolder is the whole file system.
type osFolder struct{}

func (osFolder) OpenFile(name string, flag int, mode fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
func (osFolder) Symlink(target, name string) error      { return os.Symlink(target, name) }
func (osFolder) Link(from, to string) error             { return os.Link(from, to) }
func (osFolder) Rename(from, to string) error           { return os.Rename(from, to) }
func (osFolder) Remove(name string) error               { return os.Remove(name) }
func (osFolder) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }

// syncFolder makes changes to the names in a directory durable.
func syncFolder(in folder, dir string) error {
	if runtime.GOOS == "windows" { // keeps names itself
		return nil
	}
	f, err := in.OpenFile(dir, os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) { // some file systems cannot sync directories
		err = nil
	}
	return errors.Join(err, f.Close())
}

// Create writes a new file, and creates its directory if that is missing. If the file exists, even
// if it was created a moment ago, it fails with an *ExistsError.
func Create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return File{Path: path, Mode: 0o644, Exclusive: true}.WriteText(text)
}

// Replace changes the content of a file from was to text. It keeps the mode, and follows a symbolic
// link. If the content is no longer was, it fails with a *ChangedError. Of callers that replace the
// same content at once, goroutines or processes, one succeeds.
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

// Save writes a file that only its owner can read, and creates its directory if that is missing. It
// replaces an existing file.
func Save(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return File{Path: path, Mode: 0o600}.WriteText(text)
}

// Cache is Save without waiting for the disk: a power failure may leave an incomplete file. Use it
// for content that is checked when it is read and can be made again.
func Cache(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return File{Path: path, Mode: 0o600, Unsynced: true}.WriteText(text)
}

// Prune removes the oldest files of a directory until limit files are left. It ignores files that
// cannot be removed.
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

// Output writes a file that the user has named, over an existing one. A new file gets mode; an
// existing one keeps its own.
func Output(path string, text []byte, mode fs.FileMode) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return File{Path: path, Mode: mode}.WriteText(text)
	case !info.Mode().IsRegular(): // write to a device or a pipe
		return os.WriteFile(path, text, mode)
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	return File{Path: path, Mode: info.Mode().Perm(), Exact: true}.WriteText(text)
}

// Remove removes a file durably.
func Remove(path string) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return syncFolder(osFolder{}, filepath.Dir(path))
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(dir string) error { return syncFolder(osFolder{}, dir) }
