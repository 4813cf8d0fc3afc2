//go:build !linux

package confine

import "os"

// Seal keeps inherited descriptors from the programs that this process starts.
func Seal() { CloseFilesOnExec() }

// ForgetEnv removes variables from the environment of this process.
func ForgetEnv(names ...string) error {
	for _, name := range names {
		os.Unsetenv(name)
	}
	return nil
}
