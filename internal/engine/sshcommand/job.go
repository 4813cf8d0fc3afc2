package sshcommand

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Variable is a variable of the remote script.
type Variable struct{ Name, Value string }

// Job is what the supervisor runs.
type Job struct {
	Mark    string   // random text that begins the trailer
	Shell   []string // the shell and its options
	Script  string
	Values  []Variable // variables of the shell
	Environ []Variable // variables of its environment
	Input   string     // standard input of the script
	Dir     string     // "" for the home directory of the user
	Grace   time.Duration
	Outputs bool // the script can write to $FLOWRUN_OUTPUT
	State   bool // the script can write to $FLOWRUN_STATE
}

//go:embed supervisor.sh
var supervisor string

// Stdin returns what the remote shell reads first: the supervisor with the job. Its last line starts it, so a
// supervisor that is cut off does nothing.
func (j *Job) Stdin() string {
	var b strings.Builder
	set := func(name, value string) { b.WriteString(name + "=" + shellword.Sh(value) + "\n") }
	set("mark", j.Mark)
	set("script", ". \"$FLOWRUN_SSH/values\"; "+j.Script)
	set("values", j.assignments())
	set("input", j.Input)
	set("dir", j.Dir)
	set("grace", strconv.Itoa(seconds(j.Grace)))
	set("limit", strconv.Itoa(stepfile.Limit+1))
	set("output", yes(j.Outputs))
	set("state", yes(j.State))
	b.WriteString(supervisor)
	b.WriteString("main " + shellword.Join(shellword.Sh, j.Shell) + "\n")
	return b.String()
}

// assignments returns the text of the file that the script reads first.
func (j *Job) assignments() string {
	var b strings.Builder
	for _, v := range j.Environ {
		b.WriteString("export " + v.Name + "=" + shellword.Sh(v.Value) + "\n")
	}
	for _, v := range j.Values {
		b.WriteString(v.Name + "=" + shellword.Sh(v.Value) + "\n")
	}
	return b.String()
}

// Command returns the command for the login shell of the user. It reads size bytes, the supervisor, from its standard
// input. It has no character that sh, csh and fish read differently between single quotes.
func Command(size int) string {
	return fmt.Sprintf(`exec sh -c 'u=$(umask); umask 077; d=$(mktemp -d) || exit 1; clean() { rm -rf -- "$d"; }; trap clean EXIT; head -c %d >"$d/run" && . "$d/run"'`, size)
}

// StopLine returns what flowrun writes to end the script: how long its processes have after TERM.
func StopLine(grace time.Duration) string { return strconv.Itoa(seconds(grace)) + "\n" }

func seconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }

func yes(b bool) string {
	if b {
		return "yes"
	}
	return ""
}

// ValidName reports whether every shell of the sh family takes s as the name of a variable.
func ValidName(s string) bool {
	return s != "" && strings.Trim(s, letters+"0123456789_") == "" && strings.Trim(s[:1], "0123456789") != ""
}
