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

// HasPerson reports whether a person at a terminal can be asked. If CI is set, it returns false.
func (env *Env) HasPerson() bool {
	in, ok := env.Stdin.(*os.File)
	return ok && os.Getenv("CI") == "" && IsTerminal(in) && IsTerminal(env.Stderr)
}

// Asking are the flags that determine what a person sees, and is asked, during a run.
type Asking struct {
	Progress     string // mode of --progress
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
	usual        bool         // meaning of an empty line
	DiscardTyped bool         // discard input from before the question
	Details      func() error // shows more if the answer is d; may be nil
}

// Confirm asks a question. The end of the input means no. The error is an Interrupted for Ctrl-C
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

// Questions asks a person at a terminal.
type Questions struct {
	Env         *Env
	in          *os.File
	interrupted chan os.Signal
}

// Questions catches Ctrl-C and the other signals that end a command, until Over is called. Without
// this, a signal during a secret answer would leave the terminal without echo.
func (env *Env) Questions() *Questions {
	q := &Questions{Env: env, in: env.Stdin.(*os.File), interrupted: make(chan os.Signal, 1)}
	signal.Notify(q.interrupted, TerminationSignals()...)
	return q
}

// Over restores the default handling of the signals.
func (q *Questions) Over() { signal.Stop(q.interrupted) }

// Interrupted is the error for a signal that arrived instead of an answer.
type Interrupted struct{ sig os.Signal }

func (e Interrupted) Error() string { return fmt.Sprintf("received %v", e.sig) }

// Code returns the exit code for the signal.
func (e Interrupted) Code() CodeError { return CodeError(signalCode(e.sig)) }

// Answer reads a line, without echo if it is secret. The error is io.EOF or an Interrupted; the
// modes of the terminal are restored.
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
	go func() { // abandoned after Ctrl-C, because the process ends then
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

// readLine reads a line byte by byte. It must not read beyond the end of the line, because the rest
// of the input is for another reader.
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
