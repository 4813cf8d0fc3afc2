package ui

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/internal/sqlite"
	"github.com/flowrun/flowrun/tool"
)

// IsTerminal says whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	switch d := w.(type) {
	case *Delivery:
		w = d.To
	case *Screen:
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

// TerminalName is the device of a terminal, such as /dev/pts/3; "" where f is none, or
// where the system does not say.
func TerminalName(f io.Reader) string {
	file, ok := f.(*os.File)
	if !ok || !IsTerminal(file) {
		return ""
	}
	name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", file.Fd()))
	if err != nil {
		return ""
	}
	return name
}

// UserAndTerminal is who answers a question on the terminal behind stdin, for the audit list.
func (env *Env) UserAndTerminal() string {
	if name := TerminalName(env.Stdin); name != "" {
		return sqlite.UserName() + " on " + name
	}
	return sqlite.UserName()
}

// OnScreen is w for what a program printed: a terminal gets it cleaned, everything else
// byte for byte.
func OnScreen(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return console.NewCleaner(w)
	}
	return w
}

// Flush writes what a writer of onScreen holds back.
func Flush(w io.Writer) error {
	if c, ok := w.(*console.Cleaner); ok {
		return c.Flush()
	}
	return nil
}

// IsPipe says whether another program reads what is written to w.
func IsPipe(w io.Writer) bool {
	if d, ok := w.(*Delivery); ok {
		w = d.To
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
	case *Delivery:
		return terminalOf(d.To)
	case *Screen:
		return terminalOf(d.To)
	case *os.File:
		if IsTerminal(d) {
			return d
		}
	}
	return nil
}

// SizeOf is the size of a terminal; zeros where w is none.
func SizeOf(w io.Writer) (cols, rows int) {
	f := terminalOf(w)
	if f == nil {
		return 0, 0
	}
	return console.Size(f)
}

// SameTerminal says whether two writers are one terminal.
func SameTerminal(v, w io.Writer) bool {
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

// Style is how diagnostics are drawn on w: colours where they are wanted, links on a
// terminal only.
func (env *Env) Style(w io.Writer) tool.Style {
	return tool.Style{Color: env.Colored(w), Links: IsTerminal(w) && os.Getenv("TERM") != "dumb"}
}

// Width is how many columns stdout has; 0 where it is no terminal.
func (env *Env) Width() int {
	cols, _ := SizeOf(env.Stdout)
	return cols
}

// ErrWidth is how many columns stderr has; 0 where it is no terminal.
func (env *Env) ErrWidth() int {
	cols, _ := SizeOf(env.Stderr)
	return cols
}

// PlainLocale says whether the terminal takes ASCII only.
func PlainLocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
