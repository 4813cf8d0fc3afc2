package ui

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"sync/atomic"
)

// Page runs print with its output sent through the user's pager, if stdout is a terminal. The pager
// is $FLOWRUN_PAGER, $PAGER, or less. If the user quits the pager early, that is not an error.
func (t *Terminal) Page(print func() error) error {
	words := t.pager()
	terminal := terminalOf(t.Stdout)
	if len(words) == 0 || terminal == nil {
		return print()
	}
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = terminal, os.Stderr
	if os.Getenv("LESS") == "" {
		cmd.Env = append(os.Environ(), "LESS=FRX") // quit if it fits one screen, show colors, and leave the text on the screen
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		t.Notef("cannot start the pager %s: %v; set PAGER, or use --no-pager", words[0], err)
		return print()
	}
	interrupt := make(chan os.Signal, 1) // Ctrl-C is for the pager
	signal.Notify(interrupt, os.Interrupt)
	defer signal.Stop(interrupt)
	stdout, stderr := t.Stdout, t.Stderr
	to := &pagerInput{to: in}
	t.Stdout = &TerminalWriter{To: to, Raw: new(atomic.Bool)}
	if SameTerminal(stdout, stderr) {
		t.Stderr = t.Stdout
	}
	err = print()
	t.Stdout, t.Stderr = stdout, stderr
	in.Close()
	if ended := cmd.Wait(); ended != nil && !to.closed {
		return fmt.Errorf("the pager %s failed: %w; set PAGER, or use --no-pager", words[0], ended)
	}
	if to.closed {
		return nil
	}
	return err
}

// pager returns the command of the pager, or nothing if the output is not to be paged.
func (t *Terminal) pager() []string {
	if term := os.Getenv("TERM"); term == "" || term == "dumb" || noAnimations() {
		return nil
	}
	words := strings.Fields(cmp.Or(os.Getenv("FLOWRUN_PAGER"), os.Getenv("PAGER"), "less"))
	if len(words) == 0 || words[0] == "cat" {
		return nil
	}
	if len(words) == 1 && words[0] == "less" {
		if _, err := exec.LookPath("less"); err != nil {
			return nil
		}
	}
	return words
}

// pagerInput writes to a pager and remembers that the user has quit it.
type pagerInput struct {
	to     io.Writer
	closed bool
}

func (p *pagerInput) Write(b []byte) (int, error) {
	n, err := p.to.Write(b)
	p.closed = p.closed || err != nil
	return n, err
}
