package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// DiscardTyped forgets what was typed on a terminal and not read yet: a line that was
// pasted, or meant for something else, answers no question.
func DiscardTyped(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
