// Package terminal gives interactive steps a terminal, and answers them there. A [Desk] is what the steps of a run share: the
// terminal of a person, which one step has at a time, and who is asked without one. Each attempt has a [Dialog]. Its [TTY] is a
// pseudo-terminal: what the step prints there is shown to the person and is its output; what the person types goes the other
// way. When step and person are both silent, the default response is typed.
//
// The package starts no processes: it gives package steps the files for one, and watches it while it runs.
package terminal

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/mask"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// Dialog is the terminal of one attempt, and who answers there.
type Dialog struct {
	*Interactive // nil: the attempt has no terminal
	desk         *Desk
	step         dag.ID
	scope        expr.Scope
	person       Attachment    // nil: there is no person at a terminal
	personGone   chan struct{} // closed when the person has left; nil until what they type is read

	// Of a start.
	tty             *TTY            // nil: none
	transcript      *transcript     // for Options.Prompt; nil: not used
	defaultResponse string          // rendered
	inputEnded      bool            // the end of input was sent
	stopReason      unansweredError // why the attempt was stopped; "" if it was not
}

// leaveTimeout is how long the end of an attempt waits for the terminal of the person to be given back.
const leaveTimeout = 500 * time.Millisecond

// Desk is what the interactive steps of a run share.
type Desk struct {
	Terminal Terminal // nil: no person answers at a terminal
	// Prompt is asked what to type if there is no Terminal; nil: nobody answers.
	Prompt func(context.Context, Prompt) (line string, err error)
	Mask   *mask.Mask
	Notify func(notice.Notice)

	turn chan struct{} // held by the attempt that has the terminal
}

// OpenDesk returns a desk whose terminal is free.
func OpenDesk(d Desk) *Desk {
	d.turn = make(chan struct{}, 1)
	return &d
}

// Dialog returns the dialog of an attempt, which has no terminal if i is nil.
func (d *Desk) Dialog(i *Interactive, step dag.ID, scope expr.Scope) *Dialog {
	return &Dialog{Interactive: i, desk: d, step: step, scope: scope}
}

// Attended reports whether a person has the terminal of the attempt before them.
func (d *Dialog) Attended() bool { return d.person != nil }

// Terminal returns the terminal of the start, nil if it has none.
func (d *Dialog) Terminal() *TTY { return d.tty }

// Acquire waits until the attempt has the terminal of the person. It returns false if ctx ended first.
func (d *Dialog) Acquire(ctx context.Context) bool {
	if d.Interactive == nil || d.desk.Terminal == nil {
		return true
	}
	select {
	case d.desk.turn <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	a, err := d.desk.Terminal.Attach(d.step)
	if err != nil {
		<-d.desk.turn
		d.desk.Notify(notice.Notice{Code: notice.Unanswered, Step: d.step, Message: "nobody can answer this step: " + err.Error()})
		return true
	}
	d.person = a
	return true
}

// Release lets the next attempt have the terminal.
func (d *Dialog) Release() {
	if d.person == nil {
		return
	}
	d.person.Close()
	if d.personGone != nil {
		select {
		case <-d.personGone:
		case <-time.After(leaveTimeout): // Read should have returned
		}
	}
	<-d.desk.turn
}

// Open makes the terminal of a start.
func (d *Dialog) Open() (err error) {
	if d.Interactive == nil {
		return nil
	}
	if err := d.renderDefault(); err != nil {
		return err
	}
	var shown io.Writer
	switch {
	case d.person != nil:
		shown = d.person
	case d.desk.Prompt != nil:
		d.transcript = &transcript{}
		shown = d.transcript
	}
	if d.tty, err = newTTY(shown, d.desk.Mask); err != nil || d.person == nil {
		return err
	}
	select {
	case s := <-d.person.Size():
		d.tty.resize(s)
	default:
	}
	return nil
}

// renderDefault renders the default response and checks that a terminal would not interpret it.
func (d *Dialog) renderDefault() (err error) {
	if d.Interactive.Default == nil {
		return nil
	}
	if d.defaultResponse, err = d.Interactive.Default.Text(d.scope); err != nil {
		return place.BadInput(fmt.Errorf("cannot use the default response: %w", err))
	}
	if err := checkTyped(d.defaultResponse); err != nil {
		return place.BadInput(fmt.Errorf("cannot use the default response: %w", err))
	}
	return nil
}

// Wait waits for the process while a person, or the default response, answers it. wait reports whether it was stopped.
func (d *Dialog) Wait(ctx context.Context, p proc.Process, wait func(context.Context, proc.Process) (exit proc.Exit, stopped bool, err error)) (proc.Exit, bool, error) {
	if d.tty == nil {
		return wait(ctx, p)
	}
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	d.personGone = make(chan struct{})
	a := &responder{Dialog: d, cancel: giveUp, leader: p.PID(), done: make(chan struct{})}
	prompts, end := context.WithCancel(ctx)
	a.begin(prompts)
	exit, stopped, err := wait(ctx, p)
	end()
	a.stop()
	d.tty.closeSlave()
	d.stopReason, _ = context.Cause(ctx).(unansweredError)
	return exit, stopped, err
}

// endOfInputHint is the message of a step that failed after its input was ended.
const endOfInputHint = "the step may have asked a question, but its input was closed: there is no terminal and no default-response; set default-response, or run it in a terminal"

// noTerminalErrors are parts of error messages of programs that could not ask because they had no
// terminal: shells, gpg, git, sudo, su, docker, ssh.
var noTerminalErrors = []string{
	"/dev/tty", "No such device or address", "Inappropriate ioctl for device",
	"a terminal is required", "no tty present", "must have a tty", "must be run from a terminal", "is not a TTY",
	"Host key verification failed", "Permission denied (publickey", "Permission denied (password",
}

// noTerminalHint tells the author how to give the step a terminal.
const noTerminalHint = "it may need a terminal to ask a question; set interactive: true to give the step one (/dev/tty)"

// Explain sets the message of a step that nobody answered, or that seems to have failed because it had no terminal.
func (d *Dialog) Explain(r *dag.Result) {
	switch {
	case d.stopReason.message != "":
		r.Status, r.ExitCode, r.Reason, r.Message = dag.Failed, 1, ReasonUnanswered, d.stopReason.message
	case d.inputEnded && r.Status == dag.Failed && r.Message == "":
		r.Message = endOfInputHint
	case d.tty == nil && r.Reason == dag.ReasonExit && r.Message == "" && r.Stderr != nil &&
		slices.ContainsFunc(noTerminalErrors, func(words string) bool { return strings.Contains(r.Stderr.Inline, words) }):
		r.Message = noTerminalHint
	}
}

// Files returns stdin, stdout and stderr of a process on the terminal. It returns the others if there is none.
func (d *Dialog) Files(others [3]*os.File) [3]*os.File {
	if d.tty == nil {
		return others
	}
	return [3]*os.File{d.tty.slave, d.tty.slave, d.tty.slave}
}

// Close ends what a start has of the terminal. What the step has printed is still read from it.
func (d *Dialog) Close() {
	d.tty.detachPerson()
	d.tty.closeSlave()
}
