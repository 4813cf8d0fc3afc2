package ui

import (
	"os"

	"golang.org/x/sys/unix"
)

// DiscardTyped discards unread input of a terminal, so that a line that was pasted or meant for
// something else does not answer a question.
func DiscardTyped(f *os.File) { _ = unix.IoctlSetInt(int(f.Fd()), unix.TCFLSH, unix.TCIFLUSH) }
