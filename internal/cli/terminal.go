package cli

import (
	"fmt"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
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
	conn, err := f.SyscallConn()
	if err != nil {
		return false
	}
	terminal := false
	conn.Control(func(fd uintptr) { terminal = term.IsTerminal(int(fd)) }) // the name may be /dev/stdin
	return terminal
}

// terminalName is the device of a terminal, such as /dev/pts/3; "" where f is none, or
// where the system does not say.
func terminalName(f io.Reader) string {
	file, ok := f.(*os.File)
	if !ok || !isTerminal(file) {
		return ""
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		return ""
	}
	return name
}

// answerer is who answers a question on the terminal behind stdin, for the audit list.
func (env *Env) answerer() string {
	if name := terminalName(env.Stdin); name != "" {
		return sqlite.UserName() + " on " + name
	}
	return sqlite.UserName()
}

// onScreen is w for what a program printed: a terminal gets it cleaned, everything else
// byte for byte.
func onScreen(w io.Writer) io.Writer {
	if isTerminal(w) {
		return console.NewCleaner(w)
	}
	return w
}

// flush writes what a writer of onScreen holds back.
func flush(w io.Writer) error {
	if c, ok := w.(*console.Cleaner); ok {
		return c.Flush()
	}
	return nil
}

// isPipe says whether another program reads what is written to w.
func isPipe(w io.Writer) bool {
	if d, ok := w.(*delivery); ok {
		w = d.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// terminalOf is the file behind a writer that is a terminal; nil for other writers.
func terminalOf(w io.Writer) *os.File {
	switch d := w.(type) {
	case *delivery:
		return terminalOf(d.to)
	case *screen:
		return terminalOf(d.to)
	case *os.File:
		if isTerminal(d) {
			return d
		}
	}
	return nil
}

// sizeOf is the size of a terminal; zeros where w is none.
func sizeOf(w io.Writer) (cols, rows int) {
	f := terminalOf(w)
	if f == nil {
		return 0, 0
	}
	return console.Size(f)
}

// sameTerminal says whether two writers are one terminal.
func sameTerminal(v, w io.Writer) bool {
	f, g := terminalOf(v), terminalOf(w)
	if f == nil || g == nil {
		return false
	}
	one, err := f.Stat()
	if err != nil {
		return false
	}
	other, err := g.Stat()
	return err == nil && os.SameFile(one, other)
}

// style is how diagnostics are drawn on w: colours where they are wanted, links on a
// terminal only.
func (env *Env) style(w io.Writer) tool.Style {
	return tool.Style{Color: env.colored(w), Links: isTerminal(w) && os.Getenv("TERM") != "dumb"}
}

// width is how many columns stdout has; 0 where it is no terminal.
func (env *Env) width() int {
	cols, _ := sizeOf(env.Stdout)
	return cols
}

// errWidth is how many columns stderr has; 0 where it is no terminal.
func (env *Env) errWidth() int {
	cols, _ := sizeOf(env.Stderr)
	return cols
}
