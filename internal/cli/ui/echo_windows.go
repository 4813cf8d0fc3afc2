package ui

import "golang.org/x/sys/windows"

// disableEcho stops a terminal from showing what is typed; term.Restore shows it again.
func disableEcho(fd int) error {
	var modes uint32
	if err := windows.GetConsoleMode(windows.Handle(fd), &modes); err != nil {
		return err
	}
	return windows.SetConsoleMode(windows.Handle(fd), modes&^windows.ENABLE_ECHO_INPUT)
}
