//go:build unix

package ui

import "golang.org/x/sys/unix"

// disableEcho stops a terminal from showing what is typed; term.Restore shows it again.
func disableEcho(fd int) error {
	modes, err := unix.IoctlGetTermios(fd, getModes)
	if err != nil {
		return err
	}
	modes.Lflag &^= unix.ECHO
	return unix.IoctlSetTermios(fd, setModes, modes)
}
