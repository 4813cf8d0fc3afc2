package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// lockName is the name of the file that is locked while Before is called and a file in the same
// folder gets its name. It is one for all files of a folder, because two names can be one file: on
// some file systems upper case and lower case are the same.
const lockName = ".replace.lock"

// lock waits until this caller alone holds the lock of the folder. unlock releases it, and removes
// the lock file, which would otherwise be among the user's files.
func (f File) lock(in folder) (unlock func(), err error) {
	path := filepath.Join(filepath.Dir(f.Path), lockName)
	for {
		if now, err := in.Lstat(path); err == nil && !now.Mode().IsRegular() { // a root would follow a link
			return nil, fmt.Errorf("cannot lock %s: %s is not a regular file", f.Path, path)
		}
		file, err := in.OpenFile(path, os.O_RDWR|os.O_CREATE|openNoFollow, 0o666)
		if err != nil {
			return nil, fmt.Errorf("cannot lock %s: %w", f.Path, err)
		}
		held, err := holds(in, path, file)
		if held {
			return func() { release(in, path, file) }, nil
		}
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("cannot lock %s: %w", f.Path, err)
		}
	}
}

// holds locks a file, and reports whether it still has its name: who held the lock before has
// removed the file, and others may have locked a new one.
func holds(in folder, path string, file *os.File) (bool, error) {
	if err := lockFile(file); err != nil {
		return false, err
	}
	mine, err := file.Stat()
	if err != nil {
		return false, err
	}
	now, err := in.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && os.SameFile(mine, now), err
}

// release removes a lock file while its lock is held. Windows removes no open file, and then none
// that another caller has opened.
func release(in folder, path string, file *os.File) {
	if runtime.GOOS != "windows" {
		in.Remove(path)
	}
	file.Close()
	if runtime.GOOS == "windows" {
		in.Remove(path)
	}
}
