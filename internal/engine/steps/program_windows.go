package steps

import "os/exec"

// executable returns why a file cannot be executed.
func executable(file string) error {
	_, err := exec.LookPath(file)
	return err
}
