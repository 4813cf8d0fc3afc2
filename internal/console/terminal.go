package console

import (
	"os"

	"golang.org/x/term"
)

// Width is how many columns a terminal has, 80 where it does not say.
func Width(f *os.File) int {
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return usualWidth
}
