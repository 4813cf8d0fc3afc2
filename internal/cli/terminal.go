package cli

import (
	"io"
	"os"

	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/tool"
)

// isTerminal says whether w is a terminal.
func isTerminal(w io.Writer) bool {
	switch d := w.(type) {
	case *delivery:
		w = d.to
	case *screen:
		return true
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

// style is how diagnostics are drawn on w: colours where they are wanted, links on a
// terminal only.
func (a *app) style(w io.Writer) tool.Style {
	return tool.Style{Color: a.colored(w), Links: isTerminal(w) && os.Getenv("TERM") != "dumb"}
}

// width is how many columns stdout has; 0 where it is no terminal.
func (a *app) width() int {
	if !isTerminal(a.Stdout) {
		return 0
	}
	return console.Width(a.Stdout.(*delivery).to.(*os.File))
}

// errWidth is how many columns stderr has; 0 where it is no terminal.
func (a *app) errWidth() int {
	if f, ok := a.Stderr.(*os.File); ok && isTerminal(f) {
		return console.Width(f)
	}
	return 0
}
