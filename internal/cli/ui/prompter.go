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
func (t *Terminal) HasPerson() bool {
	in, ok := t.Stdin.(*os.File)
	return ok && os.Getenv("CI") == "" && IsTerminal(in) && IsTerminal(t.Stderr)
}

// InteractionFlags are the flags that determine what a person sees, and is asked, during a run.
type InteractionFlags struct {
	Progress     string // mode of --progress
	NoInput      bool
	TrustProject bool // --trust-project
}

// CanAsk reports whether a command that runs something may ask questions: a person is at the
// terminal, and the flags allow it.
func (t *Terminal) CanAsk(f InteractionFlags) bool {
	return !f.NoInput && Verbose(f.Progress) && t.HasPerson()
}

// AskYesNo asks a yes-or-no question. An empty line means byDefault; any other text except y and
// yes means no. Call it only if HasPerson is true.
func (t *Terminal) AskYesNo(question string, byDefault bool) bool {
	choices := "[y/N]"
	if byDefault {
		choices = "[Y/n]"
	}
	yes, err := t.Confirm(YesNoQuestion{Text: fmt.Sprintf("flowrun: %s %s ", question, choices), byDefault: byDefault})
	return yes && err == nil
}

// YesNoQuestion is a yes-or-no question.
type YesNoQuestion struct {
	Text         string
	byDefault    bool         // meaning of an empty line
	DiscardTyped bool         // discard input from before the question
	Details      func() error // shows more if the answer is d; may be nil
}

// Confirm asks a question. The end of the input means no. The error is a SignalError for Ctrl-C
// and other signals.
func (t *Terminal) Confirm(i YesNoQuestion) (bool, error) {
	q := t.Prompter()
	defer q.Close()
	for {
		if i.DiscardTyped {
			DiscardTyped(q.in)
		}
		switch word, err := q.Ask(i.Text, false); {
		case errors.Is(err, io.EOF):
			fmt.Fprintln(t.Stderr)
			return false, nil
		case err != nil:
			fmt.Fprintln(t.Stderr)
			return false, err
		case word == "":
			return i.byDefault, nil
		case i.Details != nil && strings.EqualFold(word, "d"):
			if err := i.Details(); err != nil {
				return false, err
			}
		default:
			return strings.EqualFold(word, "y") || strings.EqualFold(word, "yes"), nil
		}
	}
}

// Prompter asks a person at a terminal.
type Prompter struct {
	Terminal *Terminal
	in       *os.File
	signals  chan os.Signal
}

// Prompter catches Ctrl-C and the other signals that end a command, until Close is called. Without
// this, a signal during a secret answer would leave the terminal without echo.
func (t *Terminal) Prompter() *Prompter {
	q := &Prompter{Terminal: t, in: t.Stdin.(*os.File), signals: make(chan os.Signal, 1)}
	signal.Notify(q.signals, TerminationSignals()...)
	return q
}

// Close restores the default handling of the signals.
func (q *Prompter) Close() { signal.Stop(q.signals) }

// SignalError is the error for a signal that arrived instead of an answer.
type SignalError struct{ sig os.Signal }

func (e SignalError) Error() string { return fmt.Sprintf("received %v", e.sig) }

// Code returns the exit code for the signal.
func (e SignalError) Code() CodeError { return CodeError(SignalCode(e.sig)) }

// Ask shows a question and reads a line, without echo if the answer is secret. The error is io.EOF
// or a SignalError; the modes of the terminal are restored.
func (q *Prompter) Ask(question string, secret bool) (string, error) {
	type line struct {
		text string
		err  error
	}
	fd := int(q.in.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return "", err
	}
	defer term.Restore(fd, before)
	if secret { // before the question, which tells a person to type
		if err := disableEcho(fd); err != nil {
			return "", err
		}
	}
	fmt.Fprint(q.Terminal.Stderr, question)
	got := make(chan line, 1)
	go func() { // abandoned after Ctrl-C, because the process ends then
		text, err := readLine(q.in)
		got <- line{text, err}
	}()
	select {
	case l := <-got:
		if secret {
			fmt.Fprintln(q.Terminal.Stderr)
		}
		return strings.TrimSpace(l.text), l.err
	case sig := <-q.signals:
		return "", SignalError{sig}
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
