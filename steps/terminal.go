package steps

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
)

// Interactive has a command run on a terminal of its own, where it can ask
// questions. A person answers them where Options.Terminal says how to reach
// one, else the default response does. stdout and stderr are one stream then, kept
// as stdout. Not available on Windows: there the step fails and says so.
type Interactive struct {
	// Timeout is how long the step and the person may both be silent before the
	// default response is taken; 0 is for ever. Where there is nobody it is not
	// waited for.
	Timeout time.Duration
	// Default is what is typed then, and a newline. Nil: the end of input.
	Default *expr.Template
}

// Terminal is a person's terminal on which interactive steps ask. Of a run's steps
// one at a time has it, the others wait their turn; what they wait counts towards
// their timeouts.
type Terminal interface {
	// Attach gives the terminal to a step until the Attachment is closed, at once. An
	// error says why nobody can be asked now; then the default response is taken.
	Attach(step dag.ID) (Attachment, error)
}

// Attachment is a terminal in the hands of one step. Read, Write and Close are
// called by different goroutines.
type Attachment interface {
	// Read is what the person types, byte for byte. An error says that the person
	// is gone.
	io.Reader
	// Write shows what the step prints: as it comes, secrets masked. While it does not
	// return, nothing more of the step's output is read.
	io.Writer
	// Size tells the window's size: that of now first, then every new one. It may be
	// nil where no size is known.
	Size() <-chan Size
	// Close gives the terminal back as it was. A Read or Write under way must return.
	Close() error
}

// Size is a window's, in characters.
type Size struct{ Rows, Cols int }

// usualSize is that of a terminal nobody looks at.
var usualSize = Size{24, 80}

// acquireTerminal waits for the try's turn at the terminal. It says false when ctx ended
// first. Where there is no terminal there is nothing to wait for.
func (t *attempt) acquireTerminal(ctx context.Context) bool {
	terminal := t.session.options.Terminal
	if terminal == nil {
		return true
	}
	select {
	case t.session.terminalLock <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	a, err := terminal.Attach(t.call.Path)
	if err != nil {
		<-t.session.terminalLock
		t.session.Notify(Notice{Code: NoticeUnanswered, Step: t.call.Path, Message: "nobody can answer the step: " + err.Error()})
		return true
	}
	t.person = a
	return true
}

// releaseTerminal gives the terminal to the next one.
func (t *attempt) releaseTerminal() {
	if t.person == nil {
		return
	}
	t.tty.detachPerson()
	t.person.Close()
	if t.personGone != nil {
		select {
		case <-t.personGone:
		case <-time.After(outputTimeout): // Read should have returned
		}
	}
	<-t.session.terminalLock
}

// noTerminalErrors are words of programs that could not ask because they have no terminal:
// shells and gpg, git, sudo, su, docker, ssh.
var noTerminalErrors = []string{
	"/dev/tty", "No such device or address", "Inappropriate ioctl for device",
	"a terminal is required", "no tty present", "must have a tty", "must be run from a terminal", "is not a TTY",
	"Host key verification failed", "Permission denied (publickey", "Permission denied (password",
}

// noTerminalHint is the way out for a step that failed like that.
const noTerminalHint = "it may have wanted to ask somebody: a step has a terminal (/dev/tty) only with interactive: true"

// explainTerminal says so in a Result that failed for want of a terminal.
func (t *attempt) explainTerminal(r *dag.Result) {
	if t.tty != nil || r.Reason != dag.ReasonExit || r.Message != "" || r.Stderr == nil {
		return
	}
	if slices.ContainsFunc(noTerminalErrors, func(words string) bool { return strings.Contains(r.Stderr.Inline, words) }) {
		r.Message = noTerminalHint
	}
}
