package steps

import "os/exec"

func executable(file string) error {
	_, err := exec.LookPath(file)
	return err
}
