//go:build unix

package commandline

import (
	"io/fs"
	"os"
)

// Executable returns why a file cannot be executed. It accepts any x bit; the kernel checks the
// details later.
func Executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}
