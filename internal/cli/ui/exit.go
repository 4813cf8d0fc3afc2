package ui

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// cliError is an error of the command line itself, and so not in the table of errors. It
// prints err, which wraps it, and returns the exit code.
type cliError interface {
	error
	report(env *Env, err error) int
}

// UsageError is an invalid command line.
type UsageError struct {
	err error
	cmd *cobra.Command
}

func (e *UsageError) Error() string { return e.err.Error() }

func (e *UsageError) Unwrap() error { return e.err }

func (e *UsageError) report(env *Env, err error) int {
	env.Notef("%v", err)
	if e.cmd != nil {
		fmt.Fprintf(env.Stderr, "Usage: %s\nMore: %s --help\n", e.cmd.UseLine(), e.cmd.CommandPath())
	}
	return outcome.ExitUsage
}

// Usage marks an error as a usage error. c is the command whose usage is printed, or nil if that
// does not help.
func Usage(err error, c *cobra.Command) error { return &UsageError{err, c} }

// Usagef returns a usage error with a formatted message.
func Usagef(c *cobra.Command, format string, args ...any) error {
	return Usage(fmt.Errorf(format, args...), c)
}

// notFoundError is a file named on the command line that does not exist.
type notFoundError struct{ error }

func (e *notFoundError) Unwrap() error { return e.error }

func (e *notFoundError) report(env *Env, err error) int {
	env.Notef("%v", err)
	return outcome.ExitNotFound
}

// Missing marks an error about something that the caller named and that does not exist.
func Missing(err error) error { return &notFoundError{err} }

// CodeError is an error whose message has been printed already, or has none.
type CodeError int

func (e CodeError) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

func (e CodeError) report(*Env, error) int { return int(e) }

// RefusedError reports that the policy, or a person, has refused a call.
type RefusedError struct {
	Reason      string
	Permissions []string // that it needs
	Askable     bool     // a person could have allowed it
}

func (e *RefusedError) Error() string { return console.Visible(e.Reason) }

func (e *RefusedError) report(env *Env, err error) int {
	env.Notef("refused: %v", err)
	for _, p := range e.Permissions {
		env.Notef("Permission not granted: %s", console.Visible(p))
	}
	if e.Askable {
		env.Notef("run it at a terminal, where a person can answer: without --no-input, and with CI not set")
	}
	return outcome.ExitRefused
}

// serviceError reports that the service cannot start, or cannot be reached.
type serviceError struct{ error }

func (e *serviceError) Unwrap() error { return e.error }

func (e *serviceError) report(env *Env, err error) int {
	env.Notef("%v", err)
	return outcome.ExitServer
}

// ServiceErrorf returns a formatted serviceError.
func ServiceErrorf(format string, args ...any) error {
	return &serviceError{fmt.Errorf(format, args...)}
}

// ReportError prints an error and returns its exit code.
func (env *Env) ReportError(err error) int {
	if env.inJSON {
		return env.failJSON(err)
	}
	if errors.Is(err, syscall.EPIPE) { // the reader has closed the pipe
		return outcome.ExitPipe
	}
	if own, ok := errors.AsType[cliError](err); ok {
		return own.report(env, err)
	}
	o := outcome.Of(err)
	if o.Diagnostics != nil {
		env.Diagnose(o.Diagnostics)
		return o.Exit
	}
	for _, line := range o.Lines {
		line = withoutCalls(line, err)
		if hint := hintOf(env, o.CommandHint); hint != "" {
			line = AddHint(line, hint)
		}
		env.Notef("%s", line)
	}
	return o.Exit
}

// hintOf returns a hint in the words of the program.
func hintOf(env *Env, hint string) string {
	if env.Hint == nil {
		return hint
	}
	return env.Hint(hint)
}

// Suggest prints a hint that names commands of flowrun, in the words of the program.
func Suggest(env *Env, format string, args ...any) {
	if hint := hintOf(env, Format(format, args...)); hint != "" {
		env.Notef("%s", hint)
	}
}

// HintSuffix returns a hint in the form that follows a message, or "" if there is none.
func HintSuffix(h string) string {
	if h == "" {
		return ""
	}
	return "; " + h
}

// Diagnose prints diagnostics on stderr, with the lines that they refer to.
func (env *Env) Diagnose(ds tool.Diagnostics) {
	shown, left := LimitDiagnostics(ds, MaxDiagnostics)
	shown = AppliedFixes(env.Library(), shown, ReadSource)
	diagnostic.Render(env.Stderr, WithPaths(shown, console.ShortPath), ReadSource, env.Style(env.Stderr))
	if left > 0 {
		env.Notef("+%d more; flowrun validate --limit 0 shows every one", left)
	}
}

// ReadSource returns the text of a definition, or nil if the path is not a regular file: reading a
// pipe could block forever.
func ReadSource(file string) []byte {
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	b, _ := os.ReadFile(file)
	return b
}

// ExitCode returns the exit code of the process for a run, as listed in flowrun help exit-codes.
func ExitCode(res *runresult.Result, passThrough bool) int {
	switch res.Status {
	case dag.Succeeded, dag.Reused:
		return 0
	case dag.TimedOut:
		return dag.ExitTimeout
	case dag.Waiting, dag.Interrupted:
		return outcome.ExitWaiting
	case dag.Cancelled:
		return outcome.ExitInterrupted
	}
	if passThrough {
		return res.ExitCode
	}
	return outcome.ExitFailed
}
