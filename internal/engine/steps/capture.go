package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Capture describes a program that is not a step. What it prints is for flowrun itself, and is kept
// only in memory.
type Capture struct {
	Name     string   // takes the place of a step's path in the program's environment
	Argv     []string // starts with the program; not empty
	Dir      string
	Env      []string // K=V, in addition to what steps inherit
	MaxBytes int      // maximum size of its output

	Confinement confinement.Confinement // rights that it does not have; Limits are not used
}

// captureGrace is the time between TERM and KILL for a program that ran too long.
const captureGrace = time.Second

// Capture runs a program and returns its standard output. Its stdin is empty and its stderr is
// dropped. When ctx is done, everything that the program started is ended, and the error is
// context.Cause(ctx). Errors never contain output of the program. What it leaves in the background,
// such as an agent that holds a key, is not ended with the run.
func (s *Session) Capture(ctx context.Context, c Capture) (string, error) {
	network, err := s.networks.Join(c.Confinement, dag.ID(c.Name))
	if err != nil {
		return "", err
	}
	defer network.Leave()
	env := inherited(c.Confinement, s.inherits).With(c.Confinement.UserVariables(), c.Env, network.Variables(), []string{s.markRun, procid.MarkStep + "=" + c.Name, s.markOwner})
	file, err := s.programs.Find(c.Argv[0], commandline.Lookup(env, "PATH"))
	if err != nil {
		return "", err
	}
	if c.Confinement.Sandboxed() {
		temp, err := s.tempFolder(c.Confinement)
		if err != nil {
			return "", err
		}
		env = append(env, "TMPDIR="+temp)
	}
	var rights *confine.Confinement
	if c.Confinement.Reduced || c.Confinement.Enforced {
		if err := confine.Available(); err != nil {
			return "", fmt.Errorf("cannot start %q with fewer rights: %w", c.Argv[0], err)
		}
		own, err := s.rights(c.Confinement)
		if err != nil {
			return "", err
		}
		if own.Sandbox != nil {
			own.Sandbox.Files = append(own.Sandbox.Files, programFile(file, c.Dir))
		}
		rights = &own
	}
	var from *os.File
	var p proc.Process
	err = s.retryShortage(ctx, dag.ID(c.Name), func() (err error) {
		var end *os.File
		if from, end, err = os.Pipe(); err != nil {
			return fmt.Errorf("cannot create a pipe: %w", err)
		}
		defer end.Close()
		if p, err = s.host.Start(proc.Spec{Step: c.Name, Path: file, Args: c.Argv, Env: env, Dir: c.Dir,
			Files: [3]*os.File{s.null, end, s.null}, Detach: true, NoCore: true, Enter: network.Namespaces(), Confine: rights}); err != nil {
			from.Close()
			return fmt.Errorf("cannot start %q: %w", c.Argv[0], err)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	printed := make(chan []byte, 1)
	go func() {
		b, _ := io.ReadAll(io.LimitReader(from, int64(c.MaxBytes)+1))
		from.Close() // ends a program that never stops printing
		printed <- b
	}()
	exit, err := p.Wait(ctx)
	if err != nil {
		p.Stop(captureGrace, s.options.Force)
	}
	from.SetReadDeadline(time.Now().Add(output.CloseTimeout)) // a background process may hold the pipe open
	var b []byte
	select {
	case b = <-printed:
	case <-time.After(2 * output.CloseTimeout): // pipes without deadlines
		err = errors.Join(err, errors.New("a process that it left in the background keeps its output open"))
	}
	switch {
	case err != nil:
		return "", err
	case len(b) > c.MaxBytes:
		return "", fmt.Errorf("it printed more than %d bytes", c.MaxBytes)
	case exit.Code != 0:
		return "", fmt.Errorf("exit code %d; its output is not shown, because it may contain secrets; to see it, run the command yourself", exit.Code)
	}
	return string(b), nil
}
