package console

import (
	"os"

	"golang.org/x/term"
)

// Size is how many columns and rows a terminal has, 80 and 24 where it does not say.
func Size(f *os.File) (cols, rows int) {
	if cols, rows, err := term.GetSize(int(f.Fd())); err == nil && cols > 0 && rows > 0 {
		return cols, rows
	}
	return usualWidth, usualHeight
}
