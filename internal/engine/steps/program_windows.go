package steps

import "os/exec"

// openNoFollow has no effect: creating a symbolic link needs a privilege.
const openNoFollow = 0

func executable(file string) error {
	_, err := exec.LookPath(file)
	return err
}
