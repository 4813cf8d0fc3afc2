//go:build unix

package programfile

import (
	"io/fs"
	"os"
)

// Executable returns the file that a path names, or why it cannot be executed. Any of the three x bits is enough: the
// system checks when the program is started whose it is.
func Executable(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return "", fs.ErrPermission
	}
	return path, nil
}
