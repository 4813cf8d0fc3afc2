package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/internal/procid"
)

// Frame is what the arguments of a graph (dag.Args) must offer to its commands.
type Frame interface {
	Session() *Session
	Scope(dag.View) expr.Scope // answers references
	Environ() []string         // the graph's own variables, K=V, on top of the session's
	Dir() string               // where steps run; "" is this process's directory
	Resolve(dir string) string // a step's own directory as an absolute path
	Temp() string              // the run's temporary folder, or ""
	Confinement() Confinement  // what the graph's commands have to do without
	Secret(key string) string  // the value of a SecretVar
}

// DefaultLimit is how much of a stream references see unless told otherwise, in
// bytes.
const DefaultLimit = 10_000_000

// defaultPath is PATH for a step that inherits nothing.
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Reasons of failed Results, beside the kernel's.
const (
	ReasonStartFailed    = "start-failed"     // there is no such program or folder; exit code 126 or 127
	ReasonOutputTooLarge = "output-too-large" // truncation: false, and more than the limit was printed
)

// Command is one step's command. It implements dag.Runner and is immutable; the
// Args of the graph must be a Frame.
type Command struct {
	Template *expr.Template
	// Shell runs the template as a script: a name or a path.
	// A shell that expr knows, cmd, PowerShell and Python among them,
	// gets values as expr.Script puts them; any other program gets a
	// file with the template's text. "" executes the template's words directly.
	// cmd exists on Windows only: elsewhere the step fails to start, 127.
	Shell  string
	Strict bool // stop at a failure: set -e, -u and, where the shell has it, -o pipefail; $ErrorActionPreference

	Env       []EnvVar // on top of everything inherited
	EnvFiles  []EnvFile
	Secrets   []SecretVar
	Hidden    []string // variables of the step's EnvFiles whose values are masked
	NoInherit bool     // only the graph's and the step's variables, and a default PATH
	Dir       *expr.Template
	Input     *expr.Template // stdin; nil is empty

	Limit        int64   // bytes of each stream that references see; 0: DefaultLimit
	NoTruncation bool    // printing more than Limit fails the step
	Keep         Streams // streams that other steps mention

	Interactive *Interactive // nil: it cannot ask anything
	Stream      *Stream      // nil: its output is kept only

	Masked []*expr.Template // values to hide, beside the session's
	Detach bool             // what it leaves in the background outlives the run
}

// EnvVar is a variable of a step's environment.
type EnvVar struct {
	Name  string
	Value *expr.Template
}

// SecretVar is a variable of a step whose value was fetched, and masked, when the run
// began; the graph's arguments have it under Key.
type SecretVar struct{ Name, Key string }

// attempt is one try of a command.
type attempt struct {
	*Command
	call    *dag.Call
	frame   Frame
	session *Session
	scope   expr.Scope

	env     []string
	dir     string
	launch  launch
	confine Confinement
	stdin   *os.File
	streams [2]*stream

	file      *os.File            // that its output is streamed to
	memory    *cgroup.MemoryLimit // nil: none
	container *container          // nil: none
	envFile   string              // of the container; "" for none

	// Of an interactive try.
	person          Attachment    // nil: nobody is there
	personGone      chan struct{} // closed when the person is gone; nil before anybody read what they type
	tty             *tty
	defaultResponse string          // the default one
	inputEnded      bool            // its input was ended
	stopReason      unansweredError // why it was stopped; "" if it was not
}

// Run runs the command once. It returns when everything the command started has
// ended or, after a success, has been left in the background. When ctx ends first
// the whole tree is stopped: TERM, the session's grace, KILL; the caller
// makes a timeout or a cancel of the failed Result.
func (c *Command) Run(ctx context.Context, call *dag.Call) (dag.Result, error) {
	t, err := c.newAttempt(call)
	if err != nil {
		return dag.Result{}, err
	}
	res, err := t.run(ctx)
	t.cleanUp()
	if err != nil {
		return t.failure(err)
	}
	res.Message = t.session.mask.String(res.Message)
	return res, nil
}

func (c *Command) newAttempt(call *dag.Call) (*attempt, error) {
	frame, ok := call.Args().(Frame)
	if !ok {
		return nil, fmt.Errorf("cannot run a command: the graph's arguments are a %T and no steps.Frame", call.Args())
	}
	return &attempt{Command: c, call: call, frame: frame, session: frame.Session(), scope: frame.Scope(call.View), confine: frame.Confinement()}, nil
}

// inputError is a value that was refused: the definition or the caller must
// change, so trying again cannot help.
type inputError struct{ error }

func (e inputError) Unwrap() error { return e.error }

// failure makes a Result of an error that is the step's, not the engine's.
func (t *attempt) failure(err error) (dag.Result, error) {
	r := dag.Result{Status: dag.Failed, ExitCode: 1, Message: t.session.mask.String(err.Error())}
	var start startError
	var input inputError
	switch {
	case errors.As(err, &start):
		r.Reason, r.ExitCode = ReasonStartFailed, start.code
	case errors.As(err, &input):
		r.Reason, r.Permanent = dag.ReasonInput, true
	default:
		return dag.Result{}, err
	}
	return r, nil
}

func (t *attempt) run(ctx context.Context) (dag.Result, error) {
	if t.Interactive != nil {
		if !t.acquireTerminal(ctx) {
			return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
		}
		defer t.releaseTerminal()
	}
	p, err := t.startLimited(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}, nil
	case err != nil:
		return dag.Result{}, err
	}
	if t.session.options.LogDir != "" {
		shows := showAfter(showSoon, [2]*logFile{t.streams[0].file, t.streams[1].file})
		defer shows.Stop()
	}
	wait := t.wait
	if t.tty != nil {
		wait = t.waitInteractive
	}
	exit, stopped, err := wait(ctx, p)
	if err != nil {
		return dag.Result{}, err
	}
	r, err := t.result(exit, stopped)
	t.explainUnanswered(&r)
	t.explainTerminal(&r)
	return r, err
}

// startLimited starts the process. Only a few tries do this at the same moment: a system
// call that blocks holds a thread, and hundreds of steps that start together would
// take hundreds of threads for no gain.
func (t *attempt) startLimited(ctx context.Context) (p proc.Process, err error) {
	select {
	case t.session.starting <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-t.session.starting }()
	err = t.session.retryShortage(ctx, t.call.Path, func() (err error) {
		if err = t.prepare(); err == nil {
			p, err = t.start()
		}
		if shortage(err) {
			t.reset()
		}
		return err
	})
	if err != nil {
		return nil, startFailure(err)
	}
	for _, st := range t.streams {
		st.closeEnd()
	}
	return p, nil
}

// startFailure makes a failure of the step of a shortage that did not end: it is none of the
// engine's.
func startFailure(err error) error {
	if !shortage(err) {
		return err
	}
	return startError{126, fmt.Sprintf("cannot start the step: %v; run fewer steps at once (max-parallel) or raise the limits of this user", err)}
}

// reset gives back what a try that could not start has opened, so that it can begin anew.
func (t *attempt) reset() {
	t.cleanUp()
	*t = attempt{Command: t.Command, call: t.call, frame: t.frame, session: t.session, scope: t.scope, confine: t.confine, person: t.person, personGone: t.personGone}
}

// prepare renders every template and opens what the process will use.
func (t *attempt) prepare() (err error) {
	if err := t.addSecrets(); err != nil {
		return err
	}
	if err := t.directory(); err != nil {
		return err
	}
	if err := t.environment(); err != nil {
		return err
	}
	if err := t.input(); err != nil {
		return err
	}
	if t.launch, err = t.render(false); err != nil {
		return err
	}
	if err := t.openFile(); err != nil {
		return err
	}
	if err := t.terminal(); err != nil {
		return err
	}
	viaPipe := !t.session.mask.Empty() || reopens(t.launch.argv)
	for i, which := range [2]Streams{Stdout, Stderr} {
		if t.streams[i], err = t.openStream(which, viaPipe); err != nil {
			if t.tty != nil && i == 0 {
				t.tty.Close() // else its stream does
			}
			return err
		}
	}
	return nil
}

// terminal makes the terminal of an interactive try.
func (t *attempt) terminal() (err error) {
	if t.Interactive == nil {
		return nil
	}
	if err := t.renderDefault(); err != nil {
		return err
	}
	if t.tty, err = newTTY(t.person, &t.session.mask); err != nil || t.person == nil {
		return err
	}
	select {
	case s := <-t.person.Size():
		t.tty.resize(s)
	default:
	}
	return nil
}

func (t *attempt) outputLimits(s Streams) outputLimits {
	limit := t.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return outputLimits{limit: limit, keep: t.Keep&s != 0, whole: t.NoTruncation}
}

func (t *attempt) addSecrets() error {
	for _, m := range t.Masked {
		v, err := m.Text(t.scope)
		if err == nil {
			err = t.session.mask.Add(v)
		}
		if err != nil {
			return inputError{fmt.Errorf("cannot mask a value of masked-values: %w", err)}
		}
	}
	return nil
}

// environment puts the step's environment together: inherited, the graph's, the
// step's files, secrets and variables, and what tells the step where it is.
func (t *attempt) environment() error {
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
	run := t.session.options.Run
	own = append(own, t.markVariables()...)
	own = append(own,
		fmt.Sprintf("FLOWRUN_ATTEMPT=%d", t.call.Attempt),
		"FLOWRUN_IDEMPOTENCY_KEY="+run+"/"+string(t.call.Path.WithoutAttempts()))
	if temp := t.frame.Temp(); temp != "" {
		own = append(own, "FLOWRUN_TEMP="+temp, "TMPDIR="+temp)
	}
	base := t.session.inherits
	switch {
	case t.confine.Image != "": // what is inherited is about this machine
		base = environ{}
	case t.NoInherit:
		base = environ{list: []string{"PATH=" + defaultPath}, index: map[string]int{"PATH": 0}}
	case t.Shell != "":
		base = t.session.shells
	}
	if filepath.IsAbs(t.dir) {
		own = append(own, "PWD="+t.dir)
	}
	t.env = base.with(t.confine.userVariables(), t.traceVariables(), t.frame.Environ(), own)
	return nil
}

// traceVariables are the variables by which the try's own spans join the run's trace.
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

// markVariables are the variables by which the try's processes are found.
func (t *attempt) markVariables() []string {
	run := t.session.options.Run
	return []string{procid.MarkRun + "=" + run, procid.MarkStep + "=" + string(t.call.Path),
		procid.MarkOwner + "=" + procid.Mark(run, t.session.options.Epoch)}
}

func (t *attempt) variable(v EnvVar) (string, error) {
	text, err := v.Value.Text(t.scope)
	if err != nil {
		return "", inputError{fmt.Errorf("cannot set the environment variable %q: %w", v.Name, err)}
	}
	return text, nil
}

// directory finds the step's working directory. Whether it exists is for the
// start to find out.
func (t *attempt) directory() (err error) {
	if t.dir, err = t.workingDirectory(); err != nil {
		return err
	}
	return nil
}

func (t *attempt) workingDirectory() (string, error) {
	if t.Dir == nil {
		return t.frame.Dir(), nil
	}
	own, err := t.Dir.Text(t.scope)
	if err != nil {
		return "", inputError{fmt.Errorf("cannot use the working directory: %w", err)}
	}
	return t.frame.Resolve(own), nil
}

// input opens stdin: a file, so that any amount of text can wait there while
// nobody reads.
func (t *attempt) input() error {
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
		return "", inputError{fmt.Errorf("cannot use the input: %w", err)}
	}
	return text, nil
}

// resolvedCommand is a command with its values: argv, or a script with what it reads.
type resolvedCommand struct {
	argv       []string
	script     expr.Script
	shell      expr.Shell
	knownShell bool // what shell is: expr knows it, and how a script for it is started
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
		return resolvedCommand{}, inputError{err}
	}
	return r, nil
}

// render makes the command line. bySource keeps values out of the environment.
func (t *attempt) render(bySource bool) (launch, error) {
	r, err := t.resolve()
	switch {
	case err != nil:
		return launch{}, err
	case t.Shell == "":
		return launch{argv: r.argv}, nil
	case r.knownShell:
		return t.interpreterLaunch(r, bySource)
	}
	path, err := t.session.secretFile("script-*", r.script.Text)
	return launch{argv: []string{t.Shell, path}, files: []string{path}}, err
}

// interpreterLaunch is the command line of a script whose language expr knows.
func (t *attempt) interpreterLaunch(r resolvedCommand, bySource bool) (launch, error) {
	switch r.shell {
	case expr.Cmd:
		return t.cmd(r.script)
	case expr.PowerShell:
		return t.powerShell(r.script)
	case expr.Python:
		return t.python(r.script)
	}
	return t.session.shellLaunch(t.Shell, t.Strict, r.script, bySource)
}

// start starts the process. Two failures have a second chance: a program that has
// moved since it was found, and values that do not fit into the environment.
func (t *attempt) start() (proc.Process, error) {
	path := lookup(t.env, "PATH")
	for again := 0; ; again++ {
		file, argv, env, err := t.invocation(path)
		if err != nil {
			return nil, err
		}
		p, err := t.session.host.Start(proc.Spec{
			Step: string(t.call.Path), Path: file, Args: argv, Env: env, Dir: t.dir,
			// What a container program leaves is still clearing the container away.
			Detach: t.Detach || t.container != nil, Bound: !t.Detach,
			Files: t.files(), TTY: t.tty != nil,
		})
		if err == nil || shortage(err) {
			return p, err
		}
		if again > 0 {
			return nil, t.explainStart(file, err)
		}
		switch {
		case errors.Is(err, syscall.ENOENT) && t.launch.argv[0] != file:
			t.session.programs.forget(t.launch.argv[0], path)
		case errors.Is(err, syscall.E2BIG) && len(t.launch.env) > 0:
			old := t.launch.files
			if t.launch, err = t.render(true); err != nil {
				return nil, err
			}
			t.launch.files = append(t.launch.files, old...)
		default:
			return nil, t.explainStart(file, err)
		}
	}
}

// invocation is what is started: the command's own program, or the one that confines it.
func (t *attempt) invocation(path string) (file string, argv, env []string, err error) {
	if t.confine.Image != "" {
		return t.containerInvocation()
	}
	if file, err = t.session.programs.find(t.launch.argv[0], path); err != nil {
		return "", nil, nil, err
	}
	file, argv, err = t.confinedCommand(file)
	return file, argv, append(t.env[:len(t.env):len(t.env)], t.launch.env...), err
}

// files are the process's stdin, stdout and stderr.
func (t *attempt) files() [3]*os.File {
	if t.tty != nil {
		return [3]*os.File{t.tty.slave, t.tty.slave, t.tty.slave}
	}
	return [3]*os.File{t.stdin, t.streams[0].end, t.streams[1].end}
}

// explainStart says what to do about a start that failed.
func (t *attempt) explainStart(file string, err error) error {
	if dir := t.dir; dir != "" && !isFolder(dir) {
		return startError{127, fmt.Sprintf("cannot start the step: its working directory %q is not there; make it, or change working-directory", dir)}
	}
	name := t.launch.argv[0]
	switch {
	case errors.Is(err, syscall.ENOEXEC):
		return startError{126, fmt.Sprintf(`cannot start %q: %s is no program; a script needs a first line such as "#!/bin/sh"`, name, file)}
	case errors.Is(err, syscall.E2BIG):
		return startError{126, fmt.Sprintf("cannot start %q: its arguments and environment are too long for the system; pass large values by input or by file", name)}
	case errors.Is(err, fs.ErrNotExist):
		return startError{127, fmt.Sprintf("cannot start %q: there is no %s, or the interpreter its first line names is missing", name, file)}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.ENOTDIR):
		return startError{126, fmt.Sprintf("cannot start %q: %s may not be executed; try chmod +x", name, file)}
	}
	return startError{126, fmt.Sprintf("cannot start %q: %v", name, err)}
}

// wait waits for the process; if ctx ends first, it ends the step.
func (t *attempt) wait(ctx context.Context, p proc.Process) (exit proc.Exit, stopped bool, err error) {
	exit, err = p.Wait(ctx)
	if err == nil {
		if exit.Signal != 0 {
			t.endContainer()
		}
		return exit, false, nil
	}
	if ctx.Err() == nil {
		return exit, false, fmt.Errorf("cannot wait for a process: %w", err)
	}
	grace := t.session.options.Grace
	if errors.Is(context.Cause(ctx), dag.ErrForced) {
		grace = 0
	}
	done := t.session.noteStop()
	exit, survivors := p.Stop(grace, t.session.options.Force)
	t.endContainer()
	done()
	if len(survivors) > 0 {
		t.session.Notify(Notice{Code: NoticeEscaped, Step: t.call.Path, Processes: survivors,
			Message: "could not be ended: " + proc.Names(survivors) + "; end them yourself"})
	}
	return exit, true, nil
}

func (t *attempt) result(exit proc.Exit, stopped bool) (dag.Result, error) {
	r := dag.Result{Status: dag.Succeeded, ExitCode: exit.Code}
	private := t.session.options.LogDir == ""
	outs := [2]**dag.Output{&r.Stdout, &r.Stderr}
	var tooLarge *dag.Output
	by := time.Now().Add(outputTimeout)
	for i, st := range t.streams {
		if st.waitForEnd(by) {
			t.session.Notify(Notice{Code: NoticeOutputOpen, Step: t.call.Path,
				Message: "a background process keeps the step's output open; what it prints from now on is only in the log"})
		}
		t.streams[i] = nil // output gives it back
		out, err := st.output(t.session, t.outputLimits(st.which), private)
		if err != nil {
			return r, err
		}
		*outs[i] = out
		if out != nil && out.Truncated && t.NoTruncation {
			tooLarge = out
		}
	}
	switch {
	case stopped: // whatever it made of being asked to end
		r.Status = dag.Failed
		r.ExitCode = dag.ExitCancelled
	case exit.Signal != 0:
		r.Status, r.Reason = dag.Failed, dag.ReasonExit
		r.Message = fmt.Sprintf(endedBySignal, int(exit.Signal), exit.Signal)
	case exit.Code != 0:
		r.Status, r.Reason = dag.Failed, dag.ReasonExit
	case tooLarge != nil:
		r.Status, r.Reason, r.ExitCode = dag.Failed, ReasonOutputTooLarge, 1
		r.Message = t.tooLargeMessage()
	}
	if !stopped {
		t.explainMemory(&r)
		t.explainContainer(&r)
	}
	return r, nil
}

// tooLargeMessage is what is said of a stream that may not be cut.
func (t *attempt) tooLargeMessage() string {
	return fmt.Sprintf("printed more than the limit of %d bytes; raise output.buffer-limit or allow truncation", t.outputLimits(0).limit)
}

// cleanUp gives back what a try that did not get far has opened.
func (t *attempt) cleanUp() {
	t.tty.closeSlave()
	for _, st := range t.streams {
		if st != nil {
			st.discard()
		}
	}
	if t.file != nil {
		t.file.Close()
	}
	if t.stdin != nil && t.stdin != t.session.null {
		t.stdin.Close()
	}
	for _, f := range t.launch.files {
		os.Remove(f)
	}
	if t.envFile != "" {
		os.Remove(t.envFile)
	}
	t.releaseMemoryLimit()
}
