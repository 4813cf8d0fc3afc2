package commandline

import "os/exec"

// Executable returns why a file cannot be executed.
func Executable(file string) error {
	_, err := exec.LookPath(file)
	return err
}
