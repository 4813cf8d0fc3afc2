package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/store/storepipe"
)

// temporalRuns returns what reaches the runs on Temporal: the program flowrun-temporal serves them, so that this one links
// nothing of Temporal.
func temporalRuns(env *ui.Env) func(context.Context, func(history.Store) error) error {
	return func(_ context.Context, f func(history.Store) error) error {
		p, ok := findPlugin("temporal")
		if !ok {
			return errors.New("cannot reach the runs on Temporal: there is no program flowrun-temporal in PATH; install it, or use --engine local")
		}
		program := &servingProgram{path: p.path, stderr: env.Stderr}
		client := storepipe.NewClient(program.start)
		defer client.Close()
		env.Artifact = func(a dag.Artifact) (dag.Artifact, error) {
			if !strings.HasPrefix(a.Path, engine.DepositedPrefix) {
				return a, nil
			}
			return client.Artifact(a)
		}
		return program.explain(f(client))
	}
}

// servingProgram is a program that serves its runs over its standard input and output.
type servingProgram struct {
	path   string
	stderr io.Writer
	exit   chan error // gets how the program ended
}

// start starts the program. It ends when its input is closed.
func (s *servingProgram) start() (io.ReadWriteCloser, error) {
	out, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	process := exec.Command(s.path, "serve-runs")
	process.Stdout, process.Stderr = stdout, s.stderr
	in, err := process.StdinPipe()
	if err == nil {
		err = process.Start()
	}
	if err != nil {
		out.Close()
		return nil, fmt.Errorf("cannot run %s: %w", s.path, err)
	}
	s.exit = make(chan error, 1)
	go func() { s.exit <- process.Wait() }()
	return struct {
		io.Reader
		io.WriteCloser
	}{out, in}, nil
}

// explain returns an error of the pipe as this program reports it.
func (s *servingProgram) explain(err error) error {
	switch {
	case errors.Is(err, storepipe.ErrProtocol):
		return fmt.Errorf("cannot reach the runs on Temporal: %s is of another release than this program; install the one of flowrun %s", s.path, ui.ThisBuild().Version)
	case errors.Is(err, storepipe.ErrEnded): // it has printed why
		var exit *exec.ExitError
		if errors.As(<-s.exit, &exit) {
			return ui.CodeError(exit.ExitCode())
		}
	}
	return err
}
