//go:build unix

package steps

import (
	"io/fs"
	"os"
)

// executable says why a file cannot be executed; permissions are for the kernel
// to judge in detail, any x bit will do here.
func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return err
	case info.IsDir() || info.Mode()&0o111 == 0:
		return fs.ErrPermission
	}
	return nil
}
