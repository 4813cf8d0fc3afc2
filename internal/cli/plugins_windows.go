package cli

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"

	"github.com/flowrun/flowrun/internal/cli/ui"
)

// run runs the program and returns its exit code. Ctrl-C reaches all processes of the console, so the
// program handles it and this process waits.
func (p plugin) run(args []string) error {
	signal.Ignore(os.Interrupt)
	c := exec.Command(p.path, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return ui.CodeError(exit.ExitCode())
	}
	if err != nil {
		return fmt.Errorf("cannot run %s: %w", p.path, err)
	}
	return ui.CodeError(0)
}
