package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
)

// answers says whether somebody can be asked: at a terminal that is typed into and read.
func (a *app) answers() bool {
	f, ok := a.Stdin.(*os.File)
	return ok && isTerminal(f) && isTerminal(a.Stderr)
}

// ask puts a question where somebody can be asked; an empty line means usual, and
// whatever is no answer means no.
func (a *app) ask(question string, usual bool) bool {
	choices := "[y/N]"
	if usual {
		choices = "[Y/n]"
	}
	yes, err := a.decide(inquiry{text: fmt.Sprintf("flowrun: %s %s ", question, choices), usual: usual})
	return yes && err == nil
}

// errInterrupted says that Ctrl-C was the answer.
var errInterrupted = errors.New("interrupted")

// inquiry is a question that yes or no answers.
type inquiry struct {
	text    string
	usual   bool         // what an empty line means
	grave   bool         // what was typed before it is no answer
	details func() error // shows more for d; nil where there is no more
}

// decide puts a question; no line at all means no. The error is errInterrupted for Ctrl-C.
func (a *app) decide(q inquiry) (bool, error) {
	in := bufio.NewReader(a.Stdin)
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	for {
		if f, ok := a.Stdin.(*os.File); ok && q.grave {
			dropTyped(f)
		}
		fmt.Fprint(a.Stderr, q.text)
		type line struct {
			text string
			err  error
		}
		typed := make(chan line, 1)
		go func() {
			text, err := in.ReadString('\n')
			typed <- line{text, err}
		}()
		select {
		case <-interrupt:
			fmt.Fprintln(a.Stderr)
			return false, errInterrupted // the reader ends with the process
		case l := <-typed:
			switch word := strings.ToLower(strings.TrimSpace(l.text)); {
			case word == "d" && q.details != nil:
				if err := q.details(); err != nil {
					return false, err
				}
				continue
			case l.err != nil && !errors.Is(l.err, io.EOF):
				return false, l.err
			case l.err != nil:
				fmt.Fprintln(a.Stderr)
			case word == "":
				return q.usual, nil
			default:
				return word == "y" || word == "yes", nil
			}
			return false, nil
		}
	}
}
