package ui

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
	"github.com/flowrun/flowrun/internal/mask"
	"github.com/flowrun/flowrun/tool"
)

// Exit codes (design: "Exit codes").
const (
	ExitFailed    = 1
	exitUsage     = 2
	ExitInvalid   = 3
	ExitNotFound  = 4
	ExitRefused   = 5
	ExitParams    = 6
	ExitWaiting   = 7
	exitServer    = 8
	exitBug       = 70
	ExitInterrupt = 130
	exitPipe      = 141
)

// UsageError is a wrong command line.
type UsageError struct {
	err error
	cmd *cobra.Command
}

func (e *UsageError) Error() string { return e.err.Error() }

// Usage marks an error as one of the command line; c is nil where its usage does not help.
func Usage(err error, c *cobra.Command) error { return &UsageError{err, c} }

// Usagef is Usage with a formatted message.
func Usagef(c *cobra.Command, format string, args ...any) error {
	return Usage(fmt.Errorf(format, args...), c)
}

// missingError is a file named on the command line that does not exist.
type missingError struct{ error }

// Missing marks an error about something that the caller named and that does not exist.
func Missing(err error) error { return &missingError{err} }

// MarkMissing marks an error about a definition that the caller named.
func MarkMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return Missing(err)
	}
	if errors.Is(err, syscall.EISDIR) {
		return Usage(fmt.Errorf("%w; name a file in it, or a tool", err), nil)
	}
	return err
}

// CodeError is an error whose message has been printed already, or has none.
type CodeError int

func (e CodeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// RefusedError says that the policy, or a person, did not let a call go ahead.
type RefusedError struct {
	Reason      string
	Permissions []string // that it would have needed
	Askable     bool     // a person could have let it go ahead
}

func (e *RefusedError) Error() string { return console.Visible(e.Reason) }

// serverError is why a service cannot be, or cannot be reached.
type serverError struct{ error }

func (e *serverError) Unwrap() error { return e.error }

// NoService is a formatted serverError.
func NoService(format string, args ...any) error { return &serverError{fmt.Errorf(format, args...)} }

// ReportError prints an error and answers its exit code.
func (env *Env) ReportError(err error) int {
	if env.inJSON {
		return env.failJSON(err)
	}
	var (
		code     CodeError
		use      *UsageError
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
		refused  *RefusedError
		noLine   *flowrun.NoLineError
		server   *serverError
	)
	switch {
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, syscall.EPIPE): // the reader has seen enough
		return exitPipe
	case errors.As(err, &use):
		env.Notef("%v", err)
		if use.cmd != nil {
			fmt.Fprintf(env.Stderr, "Usage: %s\nMore: %s --help\n", use.cmd.UseLine(), use.cmd.CommandPath())
		}
		return exitUsage
	case errors.As(err, &diags):
		env.Diagnose(diags)
		return ExitInvalid
	case errors.As(err, &notFound), errors.As(err, &step), errors.As(err, &missing):
		env.Notef("%v", err)
		return ExitNotFound
	case errors.Is(err, flowrun.ErrNoRun):
		env.Notef("%s", AddHint(err.Error(), "flowrun runs lists them"))
		return ExitNotFound
	case errors.As(err, &many):
		env.Notef("%v", err)
		return exitUsage
	case errors.As(err, &rests):
		env.Notef("%v", err)
		return ExitWaiting
	case errors.Is(err, flowrun.ErrLive), errors.Is(err, flowrun.ErrChanged), errors.As(err, &withheld), errors.As(err, &alone), errors.As(err, &confined):
		env.Notef("%v", err)
		return ExitRefused
	case errors.As(err, &refused):
		env.Notef("refused: %v", err)
		for _, p := range refused.Permissions {
			env.Notef("Permission not granted: %s", console.Visible(p)) // S1-219
		}
		if refused.Askable {
			env.Notef("run it at a terminal, where a person can answer: without --no-input, and with CI not set")
		}
		return ExitRefused
	case errors.As(err, &params):
		for _, p := range params.Problems {
			env.Notef("%s: %s%s", p.Subject(), p.Message, HintSuffix(p.Hint))
		}
		return ExitParams
	case errors.As(err, &environ):
		for _, p := range environ.Problems {
			env.Notef("%s", p)
		}
		return ExitParams
	case errors.Is(err, mask.ErrShortSecret):
		env.Notef("%v", err)
		return ExitParams
	case errors.As(err, &noLine):
		env.Notef("refused: %v; run it without --no-history", err)
		return ExitRefused
	case errors.As(err, &platform):
		env.Notef("%v", err)
		return ExitRefused
	case errors.As(err, &server):
		env.Notef("%v", err)
		return exitServer
	}
	env.Notef("%v", err)
	if strings.HasPrefix(err.Error(), "internal error") {
		return exitBug
	}
	return ExitFailed
}

// HintSuffix is a hint as it follows a message; "" for none.
func HintSuffix(h string) string {
	if h == "" {
		return ""
	}
	return "; " + h
}

// Notef tells something on stderr. Its lines are cleaned: much of it comes from definitions.
func (env *Env) Notef(format string, args ...any) {
	lines := strings.Split(fmt.Sprintf(format, args...), "\n")
	for i, line := range lines {
		lines[i] = console.Clean(line)
	}
	fmt.Fprintf(env.Stderr, "flowrun: %s\n", strings.Join(lines, "\n"))
}

// Diagnose draws diagnostics on stderr, with the lines they are about.
func (env *Env) Diagnose(ds tool.Diagnostics) {
	shown, left := Capped(ds, MostShown)
	tool.Render(env.Stderr, Relative(shown), ReadSource, env.Style(env.Stderr))
	if left > 0 {
		env.Notef("+%d more; flowrun validate --limit 0 shows every one", left)
	}
}

// ReadSource is the text of a definition, nil for what is no file: reading a pipe
// would wait for ever.
func ReadSource(file string) []byte {
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	b, _ := os.ReadFile(file)
	return b
}

// ExitCode is the process's exit code for a run (S1-071 and contracts).
func ExitCode(res *flowrun.Result, passThrough bool) int {
	switch res.Status {
	case dag.Succeeded, dag.Reused:
		return 0
	case dag.TimedOut:
		return dag.ExitTimeout
	case dag.Waiting, dag.Interrupted:
		return ExitWaiting
	case dag.Cancelled:
		return ExitInterrupt
	}
	if passThrough {
		return res.ExitCode
	}
	return ExitFailed
}
