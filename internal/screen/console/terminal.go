package console

import (
	"os"

	"golang.org/x/term"
)

// Size returns the width and height of a terminal, or 80 and 24 if they are not known.
func Size(f *os.File) (cols, rows int) {
	if cols, rows, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 && rows > 0 {
		return cols, rows
	}
	return defaultWidth, defaultHeight
}
