//go:build !linux

package confine

import "os"

// Seal withholds inherited descriptors where they would go further.
func Seal() { CloseFilesOnExec() }

// ForgetEnv takes variables out of this process's environment.
func ForgetEnv(names ...string) error {
	for _, name := range names {
		os.Unsetenv(name)
	}
	return nil
}
