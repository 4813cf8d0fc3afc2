package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"golang.org/x/term"
)

// HasPerson says whether somebody sits at a terminal who can be asked. Under CI nobody
// does.
func (env *Env) HasPerson() bool {
	in, ok := env.Stdin.(*os.File)
	return ok && os.Getenv("CI") == "" && IsTerminal(in) && IsTerminal(env.Stderr)
}

// Asking are the flags that say what a person reads, and is asked, while something runs.
type Asking struct {
	Progress     string // a mode of --progress
	NoInput      bool
	TrustProject bool // --trust-project
}

// CanAsk reports whether a command that runs something may ask questions: a person is at the
// terminal, and the flags allow it.
func (env *Env) CanAsk(f Asking) bool { return !f.NoInput && Verbose(f.Progress) && env.HasPerson() }

// AskYesNo asks a yes-or-no question. An empty line means usual; any other text except y and
// yes means no. Call it only if HasPerson is true.
func (env *Env) AskYesNo(question string, usual bool) bool {
	choices := "[y/N]"
	if usual {
		choices = "[Y/n]"
	}
	yes, err := env.Confirm(Inquiry{Text: fmt.Sprintf("flowrun: %s %s ", question, choices), usual: usual})
	return yes && err == nil
}

// Inquiry is a yes-or-no question.
type Inquiry struct {
	Text         string
	usual        bool         // what an empty line means
	DiscardTyped bool         // what was typed before the question is no answer
	Details      func() error // shows more for d; nil where there is no more
}

// Confirm asks a question. The end of input means no. The error is an Interrupted for Ctrl-C
// and other signals.
func (env *Env) Confirm(i Inquiry) (bool, error) {
	q := env.Questions()
	defer q.Over()
	for {
		if i.DiscardTyped {
			DiscardTyped(q.in)
		}
		fmt.Fprint(env.Stderr, i.Text)
		switch word, err := q.Answer(false); {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(env.Stderr)
			return false, nil
		case err != nil:
			fmt.Fprintln(env.Stderr)
			return false, err
		case word == "":
			return i.usual, nil
		case i.Details != nil && strings.EqualFold(word, "d"):
			if err := i.Details(); err != nil {
				return false, err
			}
		default:
			return strings.EqualFold(word, "y") || strings.EqualFold(word, "yes"), nil
		}
	}
}

// Questions are put to a person at a terminal.
type Questions struct {
	Env         *Env
	in          *os.File
	interrupted chan os.Signal
}

// Questions takes Ctrl-C, and what else ends a command, until over: dying of it would
// leave a terminal that shows nothing of what is typed.
func (env *Env) Questions() *Questions {
	q := &Questions{Env: env, in: env.Stdin.(*os.File), interrupted: make(chan os.Signal, 1)}
	signal.Notify(q.interrupted, TerminationSignals()...)
	return q
}

// Over has signals end the program again.
func (q *Questions) Over() { signal.Stop(q.interrupted) }

// Interrupted is the signal that came in the place of an answer.
type Interrupted struct{ sig os.Signal }

func (e Interrupted) Error() string { return fmt.Sprintf("received %v", e.sig) }

// Code is what the command ends with.
func (e Interrupted) Code() CodeError { return CodeError(signalCode(e.sig)) }

// Answer reads a line, without showing it where it is secret. The error is io.EOF, or
// interrupted; the terminal is then as it was.
func (q *Questions) Answer(secret bool) (string, error) {
	type line struct {
		text string
		err  error
	}
	before, err := term.GetState(int(q.in.Fd()))
	if err != nil {
		return "", err
	}
	got := make(chan line, 1)
	go func() { // after Ctrl-C it is left behind: the process ends
		var l line
		if secret {
			var b []byte
			b, l.err = term.ReadPassword(int(q.in.Fd()))
			l.text = string(b)
		} else {
			l.text, l.err = readLine(q.in)
		}
		got <- l
	}()
	select {
	case l := <-got:
		if secret {
			fmt.Fprintln(q.Env.Stderr)
		}
		return strings.TrimSpace(l.text), l.err
	case sig := <-q.interrupted:
		term.Restore(int(q.in.Fd()), before)
		return "", Interrupted{sig}
	}
}

// readLine reads to the end of a line and not a byte further: what comes after it is
// for somebody else.
func readLine(r io.Reader) (string, error) {
	var line []byte
	b := make([]byte, 1)
	for {
		switch n, err := r.Read(b); {
		case n == 1 && b[0] == '\n':
			return string(line), nil
		case n == 1:
			line = append(line, b[0])
		case err != nil && len(line) > 0:
			return string(line), nil
		case err != nil:
			return "", err
		}
	}
}
