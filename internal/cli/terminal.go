package cli

import (
	"io"
	"os"
)

// isTerminal says whether w is a terminal.
func isTerminal(w io.Writer) bool {
	if d, ok := w.(*delivery); ok {
		w = d.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0 && f.Name() != os.DevNull
}

// colored says whether to use colour on w: each stream is judged apart.
func (a *app) colored(w io.Writer) bool {
	switch {
	case os.Getenv("NO_COLOR") != "":
		return false
	case os.Getenv("FORCE_COLOR") != "" || os.Getenv("CLICOLOR_FORCE") != "":
		return true
	}
	return isTerminal(w) && os.Getenv("TERM") != "dumb"
}
