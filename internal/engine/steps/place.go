package steps

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/sshcommand"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// commandPlace is where the command of an attempt runs. What open makes belongs to the attempt, and what the other methods make
// belongs to one start.
type commandPlace interface {
	// open makes what the command needs beside it, before the first start. A Result says why that was not possible.
	open(ctx context.Context) (*dag.Result, error)
	// environment sets the environment of a start. own are the variables of the step.
	environment(t *start, own []string) error
	// command sets the command line and the input of a start.
	command(ctx context.Context, t *start) error
	// find returns why a program is known not to be in the PATH of a start.
	find(t *start, program string) error
	// spec returns which process to start, after the streams were opened. It is called again for a second try.
	spec(t *start) (proc.Spec, error)
	// started closes this process's ends of the streams. The process has its own.
	started(t *start)
	// stop ends the command, and returns the processes that it could not end.
	stop(p proc.Process, grace time.Duration, force <-chan struct{}) (proc.Exit, []procid.Info)
	// finish is called when the process has ended, before its output is read. It corrects how the command has ended.
	finish(t *start, exit *proc.Exit, stopped bool) error
	// explain adds to a Result what only the place knows.
	explain(r *dag.Result)
	// values returns what the command has written to the file in a variable.
	values(t *start, variable string) ([]byte, error)
	// close releases what a start has opened.
	close()
	// end releases what open has made.
	end()
}

// newPlace returns the place of an attempt.
func (t *attempt) newPlace() commandPlace {
	switch {
	case t.Remote != nil:
		s, m := t.session, t.machine()
		return &remotePlace{Client: &remote.Client{Machine: m, Account: t.Remote, Frame: t.frame, Scope: t.scope, Mask: &s.mask,
			Shared: &s.connections, Folder: s.folder,
			LookUp: func(program string) (string, error) { return s.programs.Find(program, m.Path) }}}
	case t.confine.Image != "":
		return &containerPlace{attempt: t, Runner: &container.Runner{Machine: t.machine(), Definition: t.Container, Confine: t.confine,
			Tool: t.frame.Confinement(), Scope: t.scope, Resolve: func(path string) string { return t.frame.Resolve("", path) }, Temp: t.frame.Temp()}}
	}
	return thisMachine{}
}

func (t *attempt) machine() place.Machine {
	s := t.session
	return place.Machine{Run: s.options.Run, Step: t.call.Path, Host: s.host, Null: s.null, Marks: t.markVariables(),
		Path: commandline.Lookup(s.inherits.List, "PATH"), Environ: s.inherits.With, File: s.secretFile, NoCore: func() bool { return !s.mask.Empty() }, Notify: s.Notify}
}

// thisMachine is the place of a command that runs beside flowrun.
type thisMachine struct{}

func (thisMachine) open(context.Context) (*dag.Result, error) { return nil, nil }

func (thisMachine) environment(t *start, own []string) error {
	base := t.session.inherits
	switch {
	case t.NoInherit:
		base = commandline.NewEnviron([]string{"PATH=" + defaultPath})
	case t.Shell != "":
		base = t.session.shells
	}
	return t.setEnvironment(base, own)
}

func (thisMachine) command(_ context.Context, t *start) (err error) {
	if err = t.input(); err == nil {
		t.launch, err = t.render(false)
	}
	return err
}

func (thisMachine) find(t *start, program string) error {
	_, err := t.session.programs.Find(program, commandline.Lookup(t.env, "PATH"))
	return err
}

func (thisMachine) spec(t *start) (proc.Spec, error) {
	file, err := t.session.programs.Find(t.launch.Argv[0], commandline.Lookup(t.env, "PATH"))
	if err != nil {
		return proc.Spec{}, err
	}
	rights, err := t.rightsOf(file)
	env := append(t.env[:len(t.env):len(t.env)], t.launch.Env...)
	return proc.Spec{Path: file, Args: t.launch.Argv, Env: env, Detach: t.Detach, Confine: rights}, err
}

func (thisMachine) started(t *start) {
	for _, st := range t.streams {
		st.CloseEnd()
	}
}

func (thisMachine) stop(p proc.Process, grace time.Duration, force <-chan struct{}) (proc.Exit, []procid.Info) {
	return p.Stop(grace, force)
}

func (thisMachine) finish(*start, *proc.Exit, bool) error { return nil }
func (thisMachine) explain(*dag.Result)                   {}

func (thisMachine) values(t *start, variable string) ([]byte, error) {
	return t.valueFiles[slices.IndexFunc(t.valueFiles, func(f valueFile) bool { return f.variable == variable })].read()
}

func (thisMachine) close() {}
func (thisMachine) end()   {}

// containerPlace is a container on this machine.
type containerPlace struct {
	thisMachine
	*container.Runner
	attempt *attempt
}

func (p *containerPlace) open(ctx context.Context) (*dag.Result, error) {
	if p.Definition == nil {
		return nil, nil
	}
	t := p.attempt
	if !t.session.containersSwept.Swap(true) {
		p.Sweep(ctx)
	}
	if len(p.Definition.Services) == 0 {
		return nil, nil
	}
	err := t.addSecrets()
	if err == nil {
		err = p.Start(ctx)
	}
	r := &dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}
	var failed container.ServiceError
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
	case errors.As(err, &failed):
		r.ExitCode, r.Reason, r.Message = 1, container.ReasonService, err.Error()
	default:
		return nil, startFailure(err)
	}
	r.Stderr, err = t.session.Stream(t.call.Path, t.call.Attempt, Stderr, p.Logs())
	return r, err
}

// environment inherits nothing: inherited variables describe this machine, not the container.
func (p *containerPlace) environment(t *start, own []string) error {
	return t.setEnvironment(commandline.Environ{}, own)
}

// find knows of no program: the image may contain it.
func (p *containerPlace) find(*start, string) error { return nil }

func (p *containerPlace) spec(t *start) (proc.Spec, error) {
	return p.Spec(container.Command{Argv: t.launch.Argv, Environ: slices.Concat(t.env, t.launch.Env), Dir: t.dir, TTY: t.dialog.Terminal() != nil,
		Read: t.launch.Files, Write: t.valuePaths(), Artifacts: t.session.artifacts()})
}

// started keeps the stderr open to which finish adds the logs of the services.
func (p *containerPlace) started(t *start) {
	t.streams[0].CloseEnd()
	if !p.HasServices() {
		t.streams[1].CloseEnd()
	}
}

func (p *containerPlace) stop(c proc.Process, grace time.Duration, force <-chan struct{}) (proc.Exit, []procid.Info) {
	exit, survivors := c.Stop(grace, force)
	p.End()
	return exit, survivors
}

func (p *containerPlace) finish(t *start, exit *proc.Exit, stopped bool) error {
	if exit.Signal != 0 && !stopped {
		p.End()
	}
	exit.Usage = proc.Usage{} // of the container program, whose children the processes of the container are not
	if !p.HasServices() {
		return nil
	}
	if stopped || exit.Code != 0 {
		_, _ = io.WriteString(t.streams[1].End, p.Logs()) // a stream that cannot be written loses the logs
	}
	t.streams[1].CloseEnd()
	return nil
}

func (p *containerPlace) explain(r *dag.Result) { p.Explain(r) }
func (p *containerPlace) close()                { p.Close() }
func (p *containerPlace) end()                  { p.Stop() }

// remotePlace is an account on another machine.
type remotePlace struct {
	thisMachine
	*remote.Client
	environ    []string           // variables of the definition, for the script
	connection *remote.Connection // of the start; nil: none yet
}

// environment keeps the variables for the other machine. The ssh client has those of flowrun.
func (p *remotePlace) environment(t *start, own []string) error {
	p.environ = slices.Concat(t.frame.Environ(), own)
	t.env = p.Environ(p.Marks)
	return nil
}

func (p *remotePlace) command(ctx context.Context, t *start) error {
	p.connection = p.New()
	target, err := p.connection.Target(ctx)
	if err != nil {
		return err
	}
	job, err := t.job(p.connection.Mark, p.environ)
	if err != nil {
		return err
	}
	t.launch.Argv, t.stdin, err = p.connection.Connect(ctx, target, job)
	return err
}

func (p *remotePlace) spec(t *start) (proc.Spec, error) {
	if !p.connection.IsOpen() {
		t.streams[1].End = p.connection.Open(t.streams[1].End)
	}
	return p.thisMachine.spec(t)
}

func (p *remotePlace) stop(c proc.Process, grace time.Duration, force <-chan struct{}) (proc.Exit, []procid.Info) {
	if exit, ended := p.connection.Stop(c, grace, force); ended {
		return exit, nil
	}
	return c.Stop(grace, force)
}

func (p *remotePlace) finish(_ *start, exit *proc.Exit, _ bool) error {
	return p.connection.Finish(exit)
}
func (p *remotePlace) explain(r *dag.Result) { p.connection.Explain(r) }

func (p *remotePlace) values(_ *start, variable string) ([]byte, error) {
	text := p.connection.Report().Output
	if variable == stateVariable {
		text = p.connection.Report().State
	}
	if text == nil {
		return nil, fmt.Errorf("the step has removed or replaced the file in $%s; write into it", variable)
	}
	return text, nil
}

func (p *remotePlace) close() {
	if p.connection != nil {
		p.connection.Close()
	}
	p.connection = nil
}

// job renders the script and what it gets.
func (t *start) job(mark string, environ []string) (*sshcommand.Job, error) {
	r, err := t.resolve()
	if err != nil {
		return nil, err
	}
	j := &sshcommand.Job{Mark: mark, Shell: t.Interpreter(), Script: r.script.Text,
		Grace: t.session.options.Grace, Outputs: len(t.Outputs) > 0, State: len(t.State) > 0}
	for _, v := range r.script.Vars {
		j.Values = append(j.Values, sshcommand.Variable{Name: v.Name, Value: v.Value})
	}
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		if ofThisMachine(name) {
			continue
		}
		if !sshcommand.ValidName(name) {
			return nil, place.BadInput(fmt.Errorf("cannot pass the variable %q to another machine: its name is not letters, digits and '_'", name))
		}
		j.Environ = append(j.Environ, sshcommand.Variable{Name: name, Value: value})
	}
	if t.Input != nil {
		if j.Input, err = t.inputText(); err != nil {
			return nil, err
		}
	}
	if t.Dir != nil {
		if j.Dir, err = t.Dir.Text(t.scope); err != nil {
			return nil, place.BadInput(fmt.Errorf("cannot use the working directory: %w", err))
		}
	}
	return j, nil
}

// ofThisMachine reports whether a variable has a meaning on this machine only.
func ofThisMachine(name string) bool {
	switch name {
	case "FLOWRUN_TEMP", "TMPDIR", "PWD", outputVariable, stateVariable:
		return true
	}
	return false
}
