package steps

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/container"
	"github.com/flowrun/flowrun/internal/engine/limitednet"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/output"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/engine/remote"
	"github.com/flowrun/flowrun/internal/engine/stepfile"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

// Frame is what a Command needs of one call of a tool. The arguments of a graph (dag.Args)
// implement it.
type Frame interface {
	Session() *Session
	Scope(dag.View) expr.Scope            // resolves references
	Environ() []string                    // variables of the graph, K=V, in addition to those of the Session
	Dir() string                          // where steps run; "" is the directory of this process
	Resolve(base, path string) string     // makes a path absolute; a relative one starts at base, "" for the workspace
	Temp() string                         // temporary folder of the run, or ""
	Confinement() confinement.Confinement // rights that the commands of the graph do not have
	Secret(key string) string             // value of a SecretVar
}

// DefaultLimit is how many bytes of a stream references can read, unless Command.Limit is set.
const DefaultLimit = 10_000_000

// defaultPath is PATH for a step that inherits nothing.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Reasons of failed Results, in addition to those of package dag.
const (
	ReasonStartFailed    = "start-failed"     // the program or the directory does not exist or cannot be used; exit code 126 or 127
	ReasonOutputTooLarge = "output-too-large" // more than the limit was printed, with truncation: false
)

// Command is the command of one step. It implements dag.Runner and is immutable. The Args of the
// graph must be a Frame.
type Command struct {
	Template *expr.Template
	// Shell is the name or path of the program that runs the template as a script. A shell that
	// package expr knows (including cmd, PowerShell and Python) gets values the way expr.Script
	// passes them. Any other program gets a file with the text of the template. With "" the words
	// of the template are the program and its arguments. cmd exists only on Windows; elsewhere the
	// step fails to start with exit code 127.
	Shell        string
	Strict       bool // stop at the first failure: set -e, -u and, if the shell has it, -o pipefail; $ErrorActionPreference
	NoInherit    bool // inherit only the variables of the graph, and a default PATH
	Detach       bool // what it leaves in the background may outlive the run
	NoTruncation bool // if more than Limit is printed, the step fails

	Env      []EnvVar // override everything inherited
	EnvFiles []EnvFile
	Secrets  []SecretVar
	Hidden   []string // variables of the step's EnvFiles whose values are masked
	Dir      *expr.Template
	Input    *expr.Template // stdin; nil: empty

	Limit int64   // bytes of each stream that references can read; 0: DefaultLimit
	Keep  Streams // streams that other steps refer to

	Outputs []stepfile.Declaration // values that the command writes to the file in $FLOWRUN_OUTPUT

	State []stepfile.Declaration // values that the command can write to the file in $FLOWRUN_STATE

	Remote    *remote.Account       // nil: it runs on this machine
	Container *container.Definition // nil: it runs in none, or in that of its tool's isolation

	Interactive *terminal.Interactive // nil: it has no terminal and cannot ask anything
	Stream      *Stream               // nil: its output is kept but not streamed

	Masked []*expr.Template // values to mask, in addition to those of the Session
	Files  []string         // files and folders of flowrun that it needs, if its permissions are enforced
}

// EnvVar is a variable of a step's environment.
type EnvVar struct {
	Name  string
	Value *expr.Template
}

// SecretVar is a variable of a step whose value was fetched and masked when the run started.
// Frame.Secret returns the value for Key.
type SecretVar struct{ Name, Key string }

// attempt is one attempt of a command.
type attempt struct {
	*Command
	call    *dag.Call
	frame   Frame
	session *Session
	scope   expr.Scope
	began   time.Time

	descriptors int64 // how many it has of descriptors
	confine     confinement.Confinement
	printed     *output.Counter // nil: no limit
	place       commandPlace
	dialog      *terminal.Dialog
}

// start is what an attempt has opened to run once. An attempt that could not start for a shortage makes a new one.
type start struct {
	*attempt
	env     []string
	dir     string
	launch  commandline.Launch
	stdin   *os.File
	streams [2]*output.Stream
	times   *output.Times // nil: nobody wants them

	file       *os.File // the file that its output is streamed to
	limits     limits
	valueFiles []valueFile
	network    *limitednet.Place // nil: it uses the network of this process
	made       []string          // folders that were made for its permissions
	withheld   []string          // inherited variables that its script names and that its permissions withhold
}

// Run runs the command once. It returns when everything that the command started has ended, or,
// after a success, is left in the background. When ctx ends first, all its processes are stopped:
// TERM, the grace period of the Session, KILL. The Result is then a failure; the caller turns it
// into a timeout or a cancellation.
func (c *Command) Run(ctx context.Context, call *dag.Call) (dag.Result, error) {
	t, err := c.newAttempt(call)
	if err != nil {
		return dag.Result{}, err
	}
	defer t.releaseDescriptors()
	res, err := t.run(ctx)
	if err != nil {
		return t.failure(err)
	}
	res.Message = t.session.mask.String(res.Message)
	return res, nil
}

func (c *Command) newAttempt(call *dag.Call) (*attempt, error) {
	frame, ok := call.Args().(Frame)
	if !ok {
		return nil, fmt.Errorf("cannot run a command: the arguments of the graph must be a steps.Frame, but are a %T", call.Args())
	}
	confined := c.Container.Within(frame.Confinement())
	printed := output.NewCounter(confined.MaxOutput)
	if c.Remote != nil {
		confined = confinement.Confinement{} // of this machine: connection refuses what another one cannot provide
	}
	t := &attempt{Command: c, call: call, frame: frame, session: frame.Session(), scope: frame.Scope(call.View), began: time.Now(), confine: confined,
		printed: printed}
	t.place = t.newPlace()
	t.dialog = t.session.desk.Dialog(c.Interactive, call.Path, t.scope)
	return t, nil
}

// failure returns a failed Result if err is the fault of the step, and err otherwise.
func (t *attempt) failure(err error) (dag.Result, error) {
	r := dag.Result{Status: dag.Failed, ExitCode: 1, Message: t.session.mask.String(err.Error())}
	var start place.StartError
	var input place.InputError
	switch {
	case errors.As(err, &start):
		r.Reason, r.ExitCode = ReasonStartFailed, start.Code
	case errors.As(err, &input):
		r.Reason, r.Permanent = dag.ReasonInput, true
	default:
		return dag.Result{}, err
	}
	return r, nil
}

func (t *attempt) run(ctx context.Context) (dag.Result, error) {
	if !t.dialog.Acquire(ctx) {
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	}
	defer t.dialog.Release()
	defer t.place.end()
	if r, err := t.place.open(ctx); r != nil || err != nil {
		return *cmp.Or(r, &dag.Result{}), err
	}
	s, p, err := t.startLimited(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	case err != nil:
		return dag.Result{}, err
	}
	defer s.cleanUp()
	return s.await(ctx, p)
}

// await waits for the process and returns the Result.
func (t *start) await(ctx context.Context, p proc.Process) (dag.Result, error) {
	for _, st := range t.streams {
		t.timesOf(st)
	}
	t.times.Watch()
	defer t.times.Stop()
	ctx, stopWatching := t.limits.watch(ctx)
	exit, stopped, err := t.dialog.Wait(ctx, p, t.wait)
	stopWatching()
	if err != nil {
		return dag.Result{}, err
	}
	r, err := t.result(exit, stopped)
	t.dialog.Explain(&r)
	return r, err
}

// startLimited starts the process. Only maxStarting attempts do this at the same time: a blocking
// system call occupies a thread, and hundreds of steps that start together would need hundreds of
// threads and gain nothing.
func (t *attempt) startLimited(ctx context.Context) (s *start, p proc.Process, err error) {
	if err := t.takeDescriptors(ctx); err != nil {
		return nil, nil, err
	}
	select {
	case t.session.startSlots <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
	defer func() { <-t.session.startSlots }()
	s, err = t.open(ctx, func(s *start) (err error) {
		if err = s.prepare(ctx); err == nil {
			p, err = s.process()
		}
		return err
	})
	if err != nil {
		return nil, nil, startFailure(err)
	}
	t.place.started(s)
	return s, p, nil
}

// open returns a start that prepare has prepared. It begins again with a new one while the system is short of something.
func (t *attempt) open(ctx context.Context, prepare func(*start) error) (s *start, err error) {
	err = t.session.retryShortage(ctx, t.call.Path, func() error {
		s = &start{attempt: t, limits: limits{Limits: &t.confine.Limits, session: t.session, detached: t.Detach, printed: t.printed}}
		err := prepare(s)
		if err != nil {
			s.cleanUp()
		}
		return err
	})
	return s, err
}

// startFailure turns a shortage that did not end into a failure of the step, because it is not an
// error of flowrun. It returns other errors unchanged.
func startFailure(err error) error {
	if !shortage(err) {
		return err
	}
	return place.CannotStart(126, "cannot start the step: %v; run fewer steps at once (max-parallel) or raise the limits of this user", err)
}

// prepare renders all templates and opens what the process will use.
func (t *start) prepare(ctx context.Context) (err error) {
	if err := t.addSecrets(); err != nil {
		return err
	}
	if t.dir, err = t.workingDirectory(); err != nil {
		return err
	}
	if err := t.makeValueFiles(); err != nil {
		return err
	}
	if err := t.environment(); err != nil {
		return err
	}
	if err := t.place.command(ctx, t); err != nil {
		return err
	}
	if err := t.openFile(); err != nil {
		return err
	}
	if err := t.dialog.Open(); err != nil {
		return err
	}
	viaPipe := !t.session.mask.Empty() || t.confine.MaxFileSize > 0 || commandline.OpensOwnStreams(t.launch.Argv)
	for i, which := range [2]Streams{Stdout, Stderr} {
		if t.streams[i], err = t.openStream(which, viaPipe); err != nil {
			if t.dialog.Terminal() != nil && i == 0 {
				t.dialog.Terminal().Close() // otherwise its stream closes it
			}
			return err
		}
	}
	return nil
}

// outputLimits returns how much of a stream to read.
func (t *attempt) outputLimits(s Streams) output.Limits {
	limit := t.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return output.Limits{Limit: limit, Keep: t.Keep&s != 0}
}

// addSecrets masks the values of masked-values.
func (t *attempt) addSecrets() error {
	for _, m := range t.Masked {
		v, err := m.Text(t.scope)
		if err == nil {
			err = t.session.mask.Add(v)
		}
		if err != nil {
			return place.BadInput(fmt.Errorf("cannot mask a value of masked-values: %w", err))
		}
	}
	return nil
}

// environment sets the environment of the step: inherited variables, those of the graph, of the
// step's env files, secrets and env, and those that describe the run and the step.
func (t *start) environment() error {
	own, err := t.envFiles()
	if err != nil {
		return err
	}
	own = slices.Grow(own, len(t.Secrets)+len(t.Env)+8)
	for _, v := range t.Secrets {
		own = append(own, v.Name+"="+t.frame.Secret(v.Key))
	}
	for _, v := range t.Env {
		text, err := t.variable(v)
		if err != nil {
			return err
		}
		own = append(own, v.Name+"="+text)
	}
	own = append(own, t.markVariables()...)
	own = append(own,
		"FLOWRUN_ATTEMPT="+strconv.Itoa(t.call.Attempt),
		"FLOWRUN_IDEMPOTENCY_KEY="+t.session.options.Run+"/"+string(t.call.Path.WithoutAttempts()))
	if temp := t.frame.Temp(); temp != "" {
		own = append(own, "FLOWRUN_TEMP="+temp, "TMPDIR="+temp)
	} else if t.confine.Sandboxed() || t.session.Observed() {
		if temp, err = t.session.tempFolder(t.confine); err != nil {
			return err
		}
		own = append(own, "TMPDIR="+temp)
	}
	for _, f := range t.valueFiles {
		own = append(own, f.variable+"="+f.path)
	}
	if filepath.IsAbs(t.dir) {
		own = append(own, "PWD="+t.dir)
	}
	return t.place.environment(t, own)
}

// setEnvironment sets the environment of a process on this machine. base are the variables that it inherits.
func (t *start) setEnvironment(base commandline.Environ, own []string) (err error) {
	if t.network, err = t.session.networks.Join(t.confine, t.call.Path); err != nil {
		return err
	}
	t.env = inherited(t.confine, base).With(t.confine.UserVariables(), t.gitVariables(), t.traceVariables(), t.frame.Environ(), own, t.network.Variables(), t.session.observer.variables())
	t.noteWithheld(base)
	return nil
}

// traceVariables returns the variables that let spans of the process join the trace of the run.
func (t *attempt) traceVariables() (list []string) {
	if t.session.options.Trace == nil {
		return nil
	}
	parent, state := t.session.options.Trace(t.call.Path, t.call.Attempt)
	if parent != "" {
		list = append(list, "TRACEPARENT="+parent)
	}
	if state != "" {
		list = append(list, "TRACESTATE="+state)
	}
	return list
}

// markVariables returns the variables by which the processes of the attempt are found.
func (t *attempt) markVariables() []string {
	return []string{t.session.markRun, procid.MarkStep + "=" + string(t.call.Path), t.session.markOwner}
}

func (t *attempt) variable(v EnvVar) (string, error) {
	text, err := v.Value.Text(t.scope)
	if err != nil {
		return "", place.BadInput(fmt.Errorf("cannot set the environment variable %q: %w", v.Name, err))
	}
	return text, nil
}

// workingDirectory returns the working directory of the step. The start of the process fails if it does not exist.
func (t *attempt) workingDirectory() (string, error) {
	if t.Dir == nil || t.Remote != nil { // that of a remote step is on the other machine
		return t.frame.Dir(), nil
	}
	own, err := t.Dir.Text(t.scope)
	if err != nil {
		return "", place.BadInput(fmt.Errorf("cannot use the working directory: %w", err))
	}
	return t.frame.Resolve("", own), nil
}

// input opens stdin. It is a file, so text of any size can wait there until it is read.
func (t *start) input() error {
	t.stdin = t.session.null
	if t.Input == nil {
		return nil
	}
	text, err := t.inputText()
	if err != nil {
		return err
	}
	path, err := t.session.secretFile("input-*", text)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	if t.stdin, err = os.Open(path); err != nil {
		return fmt.Errorf("cannot open a step's input: %w", err)
	}
	return nil
}

func (t *attempt) inputText() (string, error) {
	text, err := t.Input.Text(t.scope)
	if err != nil {
		return "", place.BadInput(fmt.Errorf("cannot use the input: %w", err))
	}
	return text, nil
}

// resolvedCommand is a command with its values: argv, or a script and the variables that it reads.
type resolvedCommand struct {
	argv       []string
	script     expr.Script
	shell      expr.Shell
	knownShell bool // expr knows shell, and flowrun how to start a script for it
}

func (t *attempt) resolve() (r resolvedCommand, err error) {
	r.shell, r.knownShell = expr.ShellByName(t.Shell)
	switch {
	case t.Shell == "":
		r.argv, err = t.Template.Argv(t.scope)
		if len(r.argv) == 0 {
			r.argv = []string{""}
		}
	case r.knownShell:
		r.script, err = t.Template.Script(t.scope)
	default:
		r.script.Text, err = t.Template.Text(t.scope)
	}
	if err != nil {
		return resolvedCommand{}, place.BadInput(err)
	}
	return r, nil
}

// render makes the command line. With bySource values are passed in a file and not in the
// environment.
func (t *start) render(bySource bool) (commandline.Launch, error) {
	r, err := t.resolve()
	switch {
	case err != nil:
		return commandline.Launch{}, err
	case t.Shell == "":
		return commandline.Launch{Argv: r.argv}, nil
	case r.knownShell:
		return t.interpreterLaunch(r, bySource)
	}
	path, err := t.session.secretFile("script-*", r.script.Text)
	return commandline.Launch{Argv: append(t.Interpreter(), path), Files: []string{path}}, err
}

// interpreterLaunch returns the command line of a script in a language that expr knows.
func (t *start) interpreterLaunch(r resolvedCommand, bySource bool) (commandline.Launch, error) {
	i := commandline.Interpreter{Shell: t.Shell, Strict: t.Strict, File: t.session.secretFile,
		Find: func(name string) error { return t.place.find(t, name) }}
	switch r.shell {
	case expr.Cmd:
		return i.Cmd(r.script)
	case expr.PowerShell:
		return i.PowerShell(r.script)
	case expr.Python:
		return i.Python(r.script)
	}
	return i.Sh(r.script, bySource)
}

// process starts the process. It tries a second time if the program has moved since it was found, or
// if the values do not fit into the environment.
func (t *start) process() (proc.Process, error) {
	path := commandline.Lookup(t.env, "PATH")
	for retry := 0; ; retry++ {
		spec, err := t.place.spec(t)
		if err != nil {
			return nil, err
		}
		spec.Step, spec.Dir, spec.Bound, spec.NoCore = string(t.call.Path), t.dir, !t.Detach, !t.session.mask.Empty()
		spec.Files = t.dialog.Files([3]*os.File{t.stdin, t.streams[0].End, t.streams[1].End})
		spec.TTY, spec.Enter = t.dialog.Terminal() != nil, t.network.Namespaces()
		p, err := t.session.host.Start(spec)
		if err == nil || shortage(err) {
			return p, err
		}
		if retry > 0 {
			return nil, t.explainStart(spec.Path, err)
		}
		switch {
		case errors.Is(err, syscall.ENOENT) && t.launch.Argv[0] != spec.Path:
			t.session.programs.Forget(t.launch.Argv[0], path)
		case errors.Is(err, syscall.E2BIG) && len(t.launch.Env) > 0:
			old := t.launch.Files
			if t.launch, err = t.render(true); err != nil {
				return nil, err
			}
			t.launch.Files = append(t.launch.Files, old...)
		default:
			return nil, t.explainStart(spec.Path, err)
		}
	}
}

// explainStart returns an error that explains why a start failed and what to do.
func (t *start) explainStart(file string, err error) error {
	if dir := t.dir; dir != "" && !isFolder(dir) {
		if t.Dir == nil { // it is that of the run
			return place.NoWorkspace(dir)
		}
		return place.NoFolder("working directory", dir)
	}
	name := t.launch.Argv[0]
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return place.CannotStart(126, `cannot start %q: %s is not a program; a script needs a first line such as "#!/bin/sh"`, name, file)
	case errors.Is(err, syscall.E2BIG):
		return place.CannotStart(126, "cannot start %q: its arguments and environment are too long for the system; pass large values through input or a file", name)
	case errors.Is(err, fs.ErrNotExist):
		return place.CannotStart(127, "cannot start %q: %s does not exist, or the interpreter in its first line does not", name, file)
	case errors.Is(err, fs.ErrPermission) && t.confine.Sandboxed() && t.isExecutable(file):
		return place.CannotStart(126, "cannot start %q: the permissions of this tool do not allow the interpreter that %s names; add filesystem:execute: with its path", name, file)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return place.CannotStart(126, "cannot start %q: you may not execute %s; make it executable with chmod +x", name, file)
	}
	return place.CannotStart(126, "%v", err)
}

func (t *start) isExecutable(file string) bool {
	_, err := programfile.Executable(t.absolute(file))
	return err == nil
}

// wait waits for the process. If ctx ends first, it stops the step.
func (t *start) wait(ctx context.Context, p proc.Process) (exit proc.Exit, stopped bool, err error) {
	exit, err = p.Wait(ctx)
	if err == nil {
		return exit, false, nil
	}
	if ctx.Err() == nil {
		return exit, false, fmt.Errorf("cannot wait for a process: %w", err)
	}
	grace := t.session.options.Grace
	var most dag.StopWithin
	if errors.As(context.Cause(ctx), &most) {
		grace = min(grace, time.Duration(most))
	}
	done := t.session.noteStop()
	exit, survivors := t.place.stop(p, grace, t.session.options.Force)
	done()
	if len(survivors) > 0 {
		t.session.Notify(notice.Notice{Code: notice.Escaped, Step: t.call.Path, Processes: processesOf(survivors),
			Message: "cannot stop these processes: " + proc.Names(survivors) + "; stop them yourself"})
	}
	return exit, true, nil
}

// result reads the output and returns the Result.
func (t *start) result(exit proc.Exit, stopped bool) (dag.Result, error) {
	if err := t.place.finish(t, &exit, stopped); err != nil {
		return dag.Result{}, err
	}
	r := dag.Result{Status: dag.Succeeded, ExitCode: exit.Code, Usage: t.limits.usage(exit), Refused: int32(t.network.Refusals())}
	tooLarge, err := t.collect(&r, t.dialog.Terminal() != nil && !stopped && exit.Code == 0 && exit.Signal == 0)
	if err != nil {
		return r, err
	}
	switch {
	case stopped: // whatever the exit code
		r.Status = dag.Failed
		r.ExitCode = dag.ExitCancelled
	case exit.Signal != 0:
		r.Status, r.Reason = dag.Failed, dag.ReasonExit
		r.Message = fmt.Sprintf(endedBySignal, int(exit.Signal), exit.Signal)
	case exit.Code != 0:
		r.Status, r.Reason = dag.Failed, dag.ReasonExit
	case tooLarge:
		t.failTooLarge(&r)
	}
	if !stopped {
		t.place.explain(&r)
		t.network.Explain(&r)
		t.explainEnforced(&r)
		t.explainFullDisk(&r)
	}
	t.removeUnused(&r)
	t.limits.explain(&r, stopped)
	if err := t.addOutputs(&r); err != nil {
		return r, err
	}
	t.addState(&r)
	return r, nil
}

// collect waits until the streams have ended, and adds them to the Result. With split, what a terminal printed up to the last
// answer becomes stderr. tooLarge reports whether a stream exceeds the limit and may not be truncated.
func (t *start) collect(r *dag.Result, split bool) (tooLarge bool, err error) {
	by := time.Now().Add(output.CloseTimeout)
	for i, st := range t.streams {
		if st == nil {
			continue
		}
		if st.WaitForEnd(by) {
			t.session.Notify(notice.Notice{Code: notice.OutputOpen, Step: t.call.Path,
				Message: "a background process keeps the output of the step open; from now on, its output is only in the log"})
		}
		if split && i == 0 {
			if err := st.SplitAnswered(t.streams[1]); err != nil {
				return false, err
			}
		}
		if err := st.Look(); err != nil {
			return false, fmt.Errorf("cannot read a log file: %w", err)
		}
	}
	t.times.End(t.streams)
	for i, to := range [2]struct {
		which Streams
		out   **dag.Output
	}{{Stdout, &r.Stdout}, {Stderr, &r.Stderr}} {
		st := t.streams[i]
		if st == nil {
			continue
		}
		t.streams[i] = nil // output releases it
		out, err := st.Output(t.outputLimits(to.which))
		if err != nil {
			return false, err
		}
		*to.out = out
		tooLarge = tooLarge || out != nil && out.Truncated && t.NoTruncation
	}
	t.times.Settle(r)
	return tooLarge, nil
}

// failTooLarge fails a step that collect found to have printed too much.
func (t *attempt) failTooLarge(r *dag.Result) {
	r.Status, r.Reason, r.ExitCode = dag.Failed, ReasonOutputTooLarge, 1
	r.Message = fmt.Sprintf("the output exceeds the limit of %d bytes; raise output.buffer-limit, or allow truncation", t.outputLimits(0).Limit)
}

// cleanUp releases everything that is still open.
func (t *start) cleanUp() {
	t.dialog.Close()
	t.place.close()
	for _, st := range t.streams {
		if st != nil {
			st.Discard()
		}
	}
	if t.file != nil {
		t.file.Close()
	}
	if t.stdin != nil && t.stdin != t.session.null {
		t.stdin.Close()
	}
	for _, f := range t.launch.Files {
		os.Remove(f)
	}
	for _, f := range t.valueFiles {
		f.remove()
	}
	t.limits.release()
	t.network.Leave()
}
