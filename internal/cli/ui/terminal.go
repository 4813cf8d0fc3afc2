package ui

import (
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// Terminal is the streams of one invocation of the program, and how to show things on them: colours, language, width, and
// whether a person can be asked.
type Terminal struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer

	Completing bool // the shell has called the program to complete a command line

	color    string // --color; "" means auto
	language string // --lang; "" means that of the environment
	inJSON   bool   // --progress json: errors are JSON too
}

// Notef prints a message on stderr. Control characters are removed, because parts of messages come
// from definitions.
func (t *Terminal) Notef(format string, args ...any) {
	lines := strings.Split(Format(format, args...), "\n")
	for i, line := range lines {
		lines[i] = console.Clean(line)
	}
	fmt.Fprintf(t.Stderr, "flowrun: %s\n", strings.Join(lines, "\n"))
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	switch d := w.(type) {
	case *CheckedWriter:
		w = d.To
	case *TerminalWriter:
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
	conn.Control(func(fd uintptr) { terminal = term.IsTerminal(int(fd)) }) // works even if the name is /dev/stdin
	return terminal
}

// TerminalName returns the device of a terminal, such as /dev/pts/3, or "" if f is not a terminal
// or the system does not tell.
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

// UserAndTerminal returns who answers a question on the terminal of stdin, for the audit log.
func (t *Terminal) UserAndTerminal() string {
	if name := TerminalName(t.Stdin); name != "" {
		return sqlite.UserName() + " on " + name
	}
	return sqlite.UserName()
}

// CleanWriter returns a writer for the output of programs. For a terminal, it removes control
// sequences; everything else is written byte for byte.
func CleanWriter(w io.Writer) io.Writer {
	if IsTerminal(w) {
		return console.NewCleaner(w)
	}
	return w
}

// Flush writes what a writer of CleanWriter has buffered.
func Flush(w io.Writer) error {
	if c, ok := w.(*console.Cleaner); ok {
		return c.Flush()
	}
	return nil
}

// IsPipe reports whether w is a pipe or socket, so that another program reads the output.
func IsPipe(w io.Writer) bool {
	if d, ok := w.(*CheckedWriter); ok {
		w = d.To
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// terminalOf returns the file behind a writer if it is a terminal, and nil otherwise.
func terminalOf(w io.Writer) *os.File {
	switch d := w.(type) {
	case *CheckedWriter:
		return terminalOf(d.To)
	case *TerminalWriter:
		return terminalOf(d.To)
	case *os.File:
		if IsTerminal(d) {
			return d
		}
	}
	return nil
}

// TerminalSize returns the size of a terminal, or zeros if w is not a terminal.
func TerminalSize(w io.Writer) (cols, rows int) {
	f := terminalOf(w)
	if f == nil {
		return 0, 0
	}
	return console.Size(f)
}

// SameTerminal reports whether two writers are the same terminal.
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

// Style returns how to print diagnostics on w: with colours if they are on, with links only on a
// terminal.
func (t *Terminal) Style(w io.Writer) diagnostic.Style {
	return diagnostic.Style{Color: t.Colored(w), Links: IsTerminal(w) && os.Getenv("TERM") != "dumb"}
}

// Table writes a table on stdout, as wide as its terminal. The color is that of console.TableOptions.
func Table(env *Env, cols []console.Column, rows [][]string, color func(col int, cell string) string) error {
	return console.Table(env.Stdout, cols, rows, console.TableOptions{Width: env.StdoutWidth(), Color: color})
}

// StdoutWidth returns the number of columns of stdout, or 0 if it is not a terminal.
func (t *Terminal) StdoutWidth() int {
	cols, _ := TerminalSize(t.Stdout)
	return cols
}

// StderrWidth returns the number of columns of stderr, or 0 if it is not a terminal.
func (t *Terminal) StderrWidth() int {
	cols, _ := TerminalSize(t.Stderr)
	return cols
}

// ASCIILocale reports whether the terminal may be unable to show anything but ASCII, because the
// locale is not UTF-8.
func ASCIILocale() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := os.Getenv(name); v != "" {
			v = strings.ToLower(v)
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
