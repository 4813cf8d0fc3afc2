package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/console"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// Exit codes (design: "Exit codes").
const (
	exitFailed    = 1
	exitUsage     = 2
	exitInvalid   = 3
	exitNotFound  = 4
	exitRefused   = 5
	exitParams    = 6
	exitWaiting   = 7
	exitServer    = 8
	exitBug       = 70
	exitInterrupt = 130
	exitPipe      = 141
)

// usageError is a wrong command line.
type usageError struct {
	err error
	cmd *cobra.Command
}

func (e *usageError) Error() string { return e.err.Error() }

func usage(err error, c *cobra.Command) error { return &usageError{err, c} }

func usagef(c *cobra.Command, format string, args ...any) error {
	return usage(fmt.Errorf(format, args...), c)
}

// missingError is a file named on the command line that does not exist.
type missingError struct{ error }

func missing(err error) error { return &missingError{err} }

// named marks an error about a definition that the caller named.
func named(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return missing(err)
	}
	if errors.Is(err, syscall.EISDIR) {
		return usage(fmt.Errorf("%w; name a file in it, or a tool", err), nil)
	}
	return err
}

// codeError is an error whose message has been printed already, or has none.
type codeError int

func (e codeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// refusedError says that the policy, or a person, did not let a call go ahead.
type refusedError struct {
	reason      string
	permissions []string // that it would have needed
	askable     bool     // a person could have let it go ahead
}

func (e *refusedError) Error() string { return console.Visible(e.reason) }

// serverError is why a service cannot be, or cannot be reached.
type serverError struct{ error }

func (e *serverError) Unwrap() error { return e.error }

func noService(format string, args ...any) error { return &serverError{fmt.Errorf(format, args...)} }

// fail prints an error and answers its exit code.
func (env *Env) fail(err error) int {
	if env.inJSON {
		return env.failJSON(err)
	}
	var (
		code     codeError
		use      *usageError
		diags    tool.Diagnostics
		notFound *tool.NotFoundError
		params   *flowrun.ParamsError
		step     *flowrun.StepError
		platform *flowrun.UnsupportedError
		confined *flowrun.ConfinementError
		missing  *missingError
		many     *flowrun.AmbiguousError
		rests    *flowrun.InterruptedError
		withheld *flowrun.WithheldError
		alone    *flowrun.AloneError
		environ  *flowrun.EnvironmentError
		refused  *refusedError
		noLine   *flowrun.NoLineError
		server   *serverError
	)
	switch {
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return exitPipe
	case errors.As(err, &use):
		env.say("%v", err)
		if use.cmd != nil {
			fmt.Fprintf(env.Stderr, "Usage: %s\nMore: %s --help\n", use.cmd.UseLine(), use.cmd.CommandPath())
		}
		return exitUsage
	case errors.As(err, &diags):
		env.diagnose(diags)
		return exitInvalid
	case errors.As(err, &notFound), errors.As(err, &step), errors.As(err, &missing):
		env.say("%v", err)
		return exitNotFound
	case errors.Is(err, flowrun.ErrNoRun):
		env.say("%s", then(err.Error(), "flowrun runs lists them"))
		return exitNotFound
	case errors.As(err, &many):
		env.say("%v", err)
		return exitUsage
	case errors.As(err, &rests):
		env.say("%v", err)
		return exitWaiting
	case errors.Is(err, flowrun.ErrLive), errors.Is(err, flowrun.ErrChanged), errors.As(err, &withheld), errors.As(err, &alone), errors.As(err, &confined):
		env.say("%v", err)
		return exitRefused
	case errors.As(err, &refused):
		env.say("refused: %v", err)
		for _, p := range refused.permissions {
			env.say("Permission not granted: %s", console.Visible(p)) // S1-219
		}
		if refused.askable {
			env.say("run it at a terminal, where a person can answer: without --no-input, and with CI not set")
		}
		return exitRefused
	case errors.As(err, &params):
		for _, p := range params.Problems {
			env.say("%s: %s%s", p.Subject(), p.Message, hint(p.Hint))
		}
		return exitParams
	case errors.As(err, &environ):
		for _, p := range environ.Problems {
			env.say("%s", p)
		}
		return exitParams
	case errors.Is(err, steps.ErrShortSecret):
		env.say("%v", err)
		return exitParams
	case errors.As(err, &noLine):
		env.say("refused: %v; run it without --no-history", err)
		return exitRefused
	case errors.As(err, &platform):
		env.say("%v", err)
		return exitRefused
	case errors.As(err, &server):
		env.say("%v", err)
		return exitServer
	}
	env.say("%v", err)
	if strings.HasPrefix(err.Error(), "internal error") {
		return exitBug
	}
	return exitFailed
}

func hint(h string) string {
	if h == "" {
		return ""
	}
	return "; " + h
}

// say tells something on stderr. Its lines are cleaned: much of it comes from definitions.
func (env *Env) say(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, line := range lines {
		lines[i] = console.Clean(line)
	}
	fmt.Fprintf(env.Stderr, "flowrun: %s\n", strings.Join(lines, "\n"))
}

// diagnose draws diagnostics on stderr, with the lines they are about.
func (env *Env) diagnose(ds tool.Diagnostics) {
	shown, left := capped(ds, mostShown)
	tool.Render(env.Stderr, relative(shown), readSource, env.style(env.Stderr))
	if left > 0 {
		env.say("+%d more; flowrun validate --limit 0 shows every one", left)
	}
}

// readSource is the text of a definition, nil for what is no file: reading a pipe
// would wait for ever.
func readSource(file string) []byte {
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	b, _ := os.ReadFile(file)
	return b
}

// exitCode is the process's exit code for a run (S1-071 and contracts).
func exitCode(res *flowrun.Result, passThrough bool) int {
	switch res.Status {
	case dag.Succeeded, dag.Reused:
		return 0
	case dag.TimedOut:
		return dag.ExitTimeout
	case dag.Waiting, dag.Interrupted:
		return exitWaiting
	case dag.Cancelled:
		return exitInterrupt
	}
	if passThrough {
		return res.ExitCode
	}
	return exitFailed
}
