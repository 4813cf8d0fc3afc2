package builtin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// open opens a regular file for reading.
func (p place) open() (*os.File, fs.FileInfo, error) {
	if p.folder {
		return nil, nil, p.openedAsFolder()
	}
	top, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, nil, describeError(p.path, err)
	}
	defer top.Close()
	return openRegular(top, p.rest, p.path)
}

func (p place) openedAsFolder() error {
	return fmt.Errorf("%s/ names a folder; the path of a file does not end with a slash", p.path)
}

// openRegular opens a regular file below a folder. The file could be replaced by a pipe between the check and the
// opening. It is therefore opened with nonblocking and checked again.
func openRegular(dir *os.Root, name, path string) (*os.File, fs.FileInfo, error) {
	info, err := dir.Stat(name)
	if err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, nil, describeError(path, err)
	}
	f, err := dir.OpenFile(name, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return nil, nil, describeError(path, err)
	}
	if info, err = f.Stat(); err == nil {
		err = regular(path, info)
	}
	if err != nil {
		return nil, nil, errors.Join(describeError(path, err), f.Close())
	}
	return f, info, nil
}

// regular returns an error that describes a file which is not a regular file.
func regular(path string, info fs.FileInfo) error {
	what := ""
	switch m := info.Mode(); {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return &refusal{words: fmt.Sprintf("%s is a folder; to see its content, use list_directory", quoted(path))}
	case m&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	case m&fs.ModeSymlink != 0:
		what = "a broken symbolic link"
	default:
		what = "not a regular file"
	}
	return &refusal{words: fmt.Sprintf("%s is %s; file tools work only on regular files", quoted(path), what)}
}

// dir opens a folder.
func (p place) dir() (*os.Root, error) {
	top, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, describeError(p.path, err)
	}
	if p.rest == "." {
		return top, nil
	}
	defer top.Close()
	dir, err := folderIn(top, p.rest)
	return dir, describeError(p.path, err)
}

// folderIn opens a folder below another one. Because of the dot, only a folder can be opened: opening a pipe that
// replaced the folder would block until another process writes to it.
func folderIn(dir *os.Root, way string) (*os.Root, error) {
	return dir.OpenRoot(way + string(filepath.Separator) + ".")
}

// parent opens the folder of a file that exists or will be created. With make, it creates missing folders on the way.
func (p place) parent(create bool) (*os.Root, error) {
	switch {
	case p.folder:
		return nil, p.openedAsFolder()
	case p.rest == ".":
		return nil, fmt.Errorf("%s is a folder; give the path of a file in it", quoted(p.path))
	}
	top, err := os.OpenRoot(p.root)
	if err != nil {
		return nil, describeError(p.path, err)
	}
	way := filepath.Dir(p.rest)
	if way == "." {
		return top, nil
	}
	defer top.Close()
	if create {
		if err := top.MkdirAll(way, 0o755); err != nil {
			return nil, describeError(filepath.Dir(p.path), err)
		}
	}
	dir, err := folderIn(top, way)
	return dir, describeError(p.path, err)
}

// name returns the last part of the path.
func (p place) name() string { return filepath.Base(p.rest) }

// refusal is an error with a complete message; cause is the error of the system behind it, if there is one.
type refusal struct {
	words string
	cause error
}

func (e *refusal) Error() string { return e.words }
func (e *refusal) Unwrap() error { return e.cause }

// describeError converts an error of the system to one that names the path and says what to do; nil stays nil.
func describeError(path string, err error) error {
	var own *refusal
	if err == nil || errors.As(err, &own) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &refusal{quoted(path) + ": " + systemMessage(err), err}
}

func systemMessage(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "no such file or directory; list_directory and glob show what exists"
	case errors.Is(err, fs.ErrPermission):
		return "permission denied for the user flowrun runs as"
	case errors.Is(err, syscall.ENOTDIR):
		return "a parent in the path is a file, not a folder"
	case errors.Is(err, syscall.ELOOP), strings.Contains(err.Error(), "too many links"):
		return "its symbolic links form a loop"
	case errors.Is(err, syscall.ENAMETOOLONG):
		return "the path, or a name in it, is too long for this file system"
	case strings.Contains(err.Error(), "escapes from parent"):
		return "a symbolic link created just now leads outside the permitted folders, so the file was not touched"
	}
	var inner *fs.PathError
	if errors.As(err, &inner) {
		err = inner.Err
	}
	return err.Error()
}
