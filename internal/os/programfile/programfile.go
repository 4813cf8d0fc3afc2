// Package programfile finds the file of a program, for everything that starts one.
//
// A name with a separator is a path. Any other name is looked for in a list of folders, normally that of PATH. On
// Windows / and \ both separate, and the file of a program ends in one of the extensions in PATHEXT, which people leave
// out: git is git.exe. There a program can be started only by the whole name of its file, so what is found is returned
// with its extension.
package programfile

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// ErrNotFound says that no folder has the program.
var ErrNotFound = errors.New("the program was not found in PATH")

// IsPath returns whether the name of a program is the path of its file.
func IsPath(name string) bool {
	for i := range len(name) {
		if os.IsPathSeparator(name[i]) {
			return true
		}
	}
	return false
}

// Search returns the file of a program in the first of some folders that has one. The empty folder is the current one,
// and what is found there is a path that begins with a dot. The error is [ErrNotFound], or an [fs.PathError] that wraps
// [fs.ErrPermission] and names a file that may not be executed.
func Search(name string, folders []string) (string, error) {
	err := ErrNotFound
	for _, dir := range folders {
		path := filepath.Join(dir, name)
		if dir == "" || dir == "." {
			path = "." + string(filepath.Separator) + name
		}
		file, problem := Executable(path)
		if problem == nil {
			return file, nil
		}
		if errors.Is(problem, fs.ErrPermission) {
			err = &fs.PathError{Op: "execute", Path: path, Err: fs.ErrPermission}
		}
	}
	return "", err
}

// Find returns the file of a program in the PATH of this process. The path of a file that is not absolute is relative to
// dir.
func Find(name, dir string) (string, error) {
	if IsPath(name) {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		return name, nil
	}
	file, err := exec.LookPath(name)
	if err != nil {
		return "", ErrNotFound
	}
	return filepath.Abs(file)
}
