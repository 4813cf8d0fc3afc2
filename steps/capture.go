package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/procid"
)

// Capture is a program that is no step: what it prints is an answer to the engine,
// held in memory only.
type Capture struct {
	Name     string   // stands in place of a step's path in the program's environment
	Argv     []string // the program first; not empty
	Dir      string
	Env      []string // K=V, on top of what steps inherit
	MaxBytes int      // bytes that it may print

	Confinement Confinement // what it has to do without; of memory it has what there is
}

// captureGrace is what a program that took too long has between TERM and KILL.
const captureGrace = time.Second

// Capture runs a program to its end and answers its standard output. It reads
// nothing, and what it prints as errors is not kept. When ctx is done everything it
// started is ended, and the error is context.Cause(ctx). Errors never hold what was
// printed. What it leaves in the background (an agent that keeps a key) is not ended
// with the run.
func (s *Session) Capture(ctx context.Context, c Capture) (string, error) {
	run := s.options.Run
	env := s.inherits.with(c.Confinement.userVariables(), c.Env, []string{procid.MarkRun + "=" + run, procid.MarkStep + "=" + c.Name,
		procid.MarkOwner + "=" + procid.Mark(run, s.options.Epoch)})
	file, err := s.programs.find(c.Argv[0], lookup(env, "PATH"))
	if err != nil {
		return "", err
	}
	argv := c.Argv
	if c.Confinement.Reduced {
		if err := canConfine(s.options.Confines); err != nil {
			return "", fmt.Errorf("cannot start %q with reduced privileges: %w", c.Argv[0], err)
		}
		file, argv = s.reduction(c.Confinement).Wrap(file, argv)
	}
	var from *os.File
	var p proc.Process
	err = s.retryShortage(ctx, dag.ID(c.Name), func() (err error) {
		var end *os.File
		if from, end, err = os.Pipe(); err != nil {
			return fmt.Errorf("cannot make a pipe: %w", err)
		}
		defer end.Close()
		if p, err = s.host.Start(proc.Spec{Step: c.Name, Path: file, Args: argv, Env: env, Dir: c.Dir,
			Files: [3]*os.File{s.null, end, s.null}, Detach: true}); err != nil {
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
		from.Close() // one that prints for ever ends by that
		printed <- b
	}()
	exit, err := p.Wait(ctx)
	if err != nil {
		p.Stop(captureGrace, s.options.Force)
	}
	from.SetReadDeadline(time.Now().Add(outputTimeout)) // for what is left in the background and holds the pipe
	var b []byte
	select {
	case b = <-printed:
	case <-time.After(2 * outputTimeout): // where a pipe has no deadlines
		err = errors.Join(err, errors.New("what it left in the background keeps its output open"))
	}
	switch {
	case err != nil:
		return "", err
	case len(b) > c.MaxBytes:
		return "", fmt.Errorf("it printed more than %d bytes", c.MaxBytes)
	case exit.Code != 0:
		return "", fmt.Errorf("it ended with exit code %d; what it printed is not shown: run it yourself", exit.Code)
	}
	return string(b), nil
}
