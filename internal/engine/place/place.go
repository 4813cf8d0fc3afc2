// Package place is what the places of commands have in common: a machine that starts programs, and why a command cannot
// start. Packages container and remote are places.
package place

import (
	"fmt"
	"os"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// Machine is what a place uses of this machine to start programs of its own.
type Machine struct {
	Run     string
	Step    dag.ID
	Host    proc.Host
	Null    *os.File
	Marks   []string                        // variables by which the processes of the step are found
	Path    string                          // PATH
	Environ func(more ...[]string) []string // inherited variables, and more
	// File writes a file that only this user can read. The caller removes it.
	File   func(pattern, text string) (path string, err error)
	NoCore func() bool // a core dump could have secrets
	Notify func(notice.Notice)
}

// StartError is why a step could not start, with the exit code that a shell would return: 127 for
// not found, 126 for not executable.
type StartError struct {
	Code    int
	message string
}

func (e StartError) Error() string { return e.message }

// CannotStart returns a StartError.
func CannotStart(code int, format string, values ...any) error {
	return StartError{code, fmt.Sprintf(format, values...)}
}

// InputError is a rejected value. A retry cannot help: the definition or the caller must change.
type InputError struct{ error }

// Unwrap returns the reason.
func (e InputError) Unwrap() error { return e.error }

// BadInput returns an InputError.
func BadInput(err error) error { return InputError{err} }

// NoWorkspace returns why a path cannot be the working directory of the run.
func NoWorkspace(dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return NoFolder("working directory", dir)
	}
	return CannotStart(127, "cannot start the step: its working directory %q does not exist; create it, or if the project has moved: flowrun resume RUN --workspace DIR", dir)
}

// NoFolder returns why a path cannot be a directory of the step. what says which one it is.
func NoFolder(what, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return CannotStart(127, "cannot start the step: its %s %q is not a folder; change working-directory", what, dir)
	}
	return CannotStart(127, "cannot start the step: its %s %q does not exist; create it, or change working-directory", what, dir)
}
