package steps

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/internal/proc"
)

// Frame is what the arguments of a graph (dag.Args) must offer to its commands.
type Frame interface {
	Session() *Session
	Scope(dag.View) expr.Scope // answers references
	Environ() []string         // the graph's own variables, K=V, on top of the session's
	Dir() string               // where steps run; "" is this process's directory
	Resolve(dir string) string // a step's own directory as an absolute path
	Temp() string              // the run's temporary folder, or ""
}

// DefaultLimit is how much of a stream references see unless told otherwise, in
// bytes.
const DefaultLimit = 10_000_000

// defaultPath is PATH for a step that inherits nothing (S1-171).
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
	// Shell runs the template as a script: a name or a path (S1-020, S1-024,
	// S1-025). One of the sh family gets values as expr.Script puts them; any other
	// program gets a file with the template's text. "" executes the template's
	// words directly (S1-023).
	Shell  string
	Strict bool // set -e, -u and, where the shell has it, -o pipefail

	Env       []EnvVar // on top of everything inherited (S1-170)
	NoInherit bool     // only the graph's and the step's variables, and a default PATH (S1-171)
	Dir       *expr.Template
	Input     *expr.Template // stdin; nil is empty (S1-200)

	Limit        int64   // bytes of each stream that references see; 0: DefaultLimit (S1-081)
	NoTruncation bool    // printing more than Limit fails the step (S1-082)
	Keep         Streams // streams that other steps mention

	Masked []*expr.Template // values to hide, beside the session's (S1-175)
	Detach bool             // what it leaves in the background outlives the run
}

// EnvVar is a variable of a step's environment.
type EnvVar struct {
	Name  string
	Value *expr.Template
}

// try is one try of a command.
type try struct {
	*Command
	call    *dag.Call
	frame   Frame
	session *Session
	scope   expr.Scope

	env     []string
	dir     string
	launch  launch
	stdin   *os.File
	streams [2]*stream
}

// Run runs the command once. It returns when everything the command started has
// ended or, after a success, has been left in the background. When ctx ends first
// the whole tree is stopped: TERM, the session's grace, KILL (S1-192); the caller
// makes a timeout or a cancel of the failed Result.
func (c *Command) Run(ctx context.Context, call *dag.Call) (dag.Result, error) {
	frame, ok := call.Args().(Frame)
	if !ok {
		return dag.Result{}, fmt.Errorf("cannot run a command: the graph's arguments are a %T and no steps.Frame", call.Args())
	}
	t := &try{Command: c, call: call, frame: frame, session: frame.Session(), scope: frame.Scope(call.View)}
	res, err := t.run(ctx)
	t.cleanUp()
	if err != nil {
		return t.failure(err)
	}
	res.Message = t.session.mask.String(res.Message)
	return res, nil
}

// inputError is a value that was refused: the definition or the caller must
// change, so trying again cannot help.
type inputError struct{ error }

// failure makes a Result of an error that is the step's, not the engine's.
func (t *try) failure(err error) (dag.Result, error) {
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

func (t *try) run(ctx context.Context) (dag.Result, error) {
	p, err := t.begin()
	if err != nil {
		return dag.Result{}, err
	}
	exit, stopped, err := t.wait(ctx, p)
	if err != nil {
		return dag.Result{}, err
	}
	return t.result(exit, stopped)
}

// begin starts the process. Only a few tries do this at the same moment: a system
// call that blocks holds a thread, and hundreds of steps that start together would
// take hundreds of threads for no gain.
func (t *try) begin() (proc.Process, error) {
	t.session.starting <- struct{}{}
	defer func() { <-t.session.starting }()
	if err := t.prepare(); err != nil {
		return nil, err
	}
	p, err := t.start()
	if err != nil {
		return nil, err
	}
	for _, st := range t.streams {
		st.started()
	}
	return p, nil
}

// prepare renders every template and opens what the process will use.
func (t *try) prepare() (err error) {
	if err := t.addSecrets(); err != nil {
		return err
	}
	if err := t.environment(); err != nil {
		return err
	}
	if err := t.directory(); err != nil {
		return err
	}
	if err := t.input(); err != nil {
		return err
	}
	if t.launch, err = t.render(false); err != nil {
		return err
	}
	viaPipe := !t.session.mask.Empty() || reopens(t.launch.argv)
	for i, which := range [2]Streams{Stdout, Stderr} {
		st, err := t.session.openStream(t.call.Path, t.call.Attempt, which, viaPipe, t.wanted(which))
		if err != nil {
			return err
		}
		t.streams[i] = st
	}
	return nil
}

func (t *try) wanted(s Streams) wanted {
	limit := t.Limit
	if limit <= 0 {
		limit = DefaultLimit
	}
	return wanted{limit: limit, keep: t.Keep&s != 0, whole: t.NoTruncation}
}

func (t *try) addSecrets() error {
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
// step's, and what tells the step where it is.
func (t *try) environment() error {
	own := make([]string, 0, len(t.Env)+7)
	for _, v := range t.Env {
		text, err := v.Value.Text(t.scope)
		if err != nil {
			return inputError{fmt.Errorf("cannot set the environment variable %q: %w", v.Name, err)}
		}
		own = append(own, v.Name+"="+text)
	}
	path := string(t.call.Path)
	run := t.session.options.Run
	own = append(own, proc.MarkRun+"="+run, proc.MarkStep+"="+path,
		fmt.Sprintf("FLOWRUN_ATTEMPT=%d", t.call.Attempt),
		"FLOWRUN_IDEMPOTENCY_KEY="+run+"/"+stablePath(path))
	if temp := t.frame.Temp(); temp != "" {
		own = append(own, "FLOWRUN_TEMP="+temp, "TMPDIR="+temp)
	}
	base := t.session.inherits
	switch {
	case t.NoInherit:
		base = environ{list: []string{"PATH=" + defaultPath}, at: map[string]int{"PATH": 0}}
	case t.Shell != "":
		base = t.session.shells
	}
	t.env = base.with(t.frame.Environ(), own)
	return nil
}

// stablePath is a path without the numbers of outer tries (setup#2/clone), so that
// a step keeps its idempotency key however often something around it is tried.
func stablePath(path string) string {
	var b strings.Builder
	depth := 0 // in [KEY], '#' is the key's own
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case '[':
			depth++
		case ']':
			depth--
		case '#':
			end := i + 1
			for end < len(path) && '0' <= path[end] && path[end] <= '9' {
				end++
			}
			if depth <= 0 && end > i+1 && (end == len(path) || path[end] == '/') {
				i = end - 1
				continue
			}
		}
		b.WriteByte(path[i])
	}
	return b.String()
}

// directory finds the step's working directory. Whether it exists is for the
// start to find out.
func (t *try) directory() error {
	t.dir = t.frame.Dir()
	if t.Dir != nil {
		own, err := t.Dir.Text(t.scope)
		if err != nil {
			return inputError{fmt.Errorf("cannot use the working directory: %w", err)}
		}
		t.dir = t.frame.Resolve(own)
	}
	if filepath.IsAbs(t.dir) {
		t.env = environ{}.overlay(t.env, []string{"PWD=" + t.dir})
	}
	return nil
}

// input opens stdin: a file, so that any amount of text can wait there while
// nobody reads.
func (t *try) input() error {
	t.stdin = t.session.null
	if t.Input == nil {
		return nil
	}
	text, err := t.Input.Text(t.scope)
	if err != nil {
		return inputError{fmt.Errorf("cannot use the input: %w", err)}
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

// render makes the command line. bySource keeps values out of the environment.
func (t *try) render(bySource bool) (launch, error) {
	if t.Shell == "" {
		argv, err := t.Template.Argv(t.scope)
		if err != nil {
			return launch{}, inputError{err}
		}
		if len(argv) == 0 {
			argv = []string{""}
		}
		return launch{argv: argv}, nil
	}
	if _, family := expr.ShellByName(t.Shell); family {
		script, err := t.Template.Script(t.scope)
		if err != nil {
			return launch{}, inputError{err}
		}
		return t.session.shellLaunch(t.Shell, t.Strict, script, bySource)
	}
	text, err := t.Template.Text(t.scope)
	if err != nil {
		return launch{}, inputError{err}
	}
	path, err := t.session.secretFile("script-*", text)
	return launch{argv: []string{t.Shell, path}, files: []string{path}}, err
}

// start starts the process. Two failures have a second chance: a program that has
// moved since it was found, and values that do not fit into the environment.
func (t *try) start() (proc.Process, error) {
	path := lookup(t.env, "PATH")
	for again := 0; ; again++ {
		file, err := t.session.programs.find(t.launch.argv[0], path)
		if err != nil {
			return nil, err
		}
		p, err := t.session.host.Start(proc.Spec{
			Step: string(t.call.Path), Path: file, Args: t.launch.argv, Dir: t.dir, Detach: t.Detach,
			Env:   append(t.env[:len(t.env):len(t.env)], t.launch.env...),
			Files: [3]*os.File{t.stdin, t.streams[0].end, t.streams[1].end},
		})
		if err == nil {
			return p, nil
		}
		if again > 0 {
			return nil, t.explain(file, err)
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
			return nil, t.explain(file, err)
		}
	}
}

// explain says what to do about a start that failed.
func (t *try) explain(file string, err error) error {
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
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM), errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return startError{126, fmt.Sprintf("cannot start %q: %v; run fewer steps at once (max-parallel) or raise the limits of this user", name, err)}
	}
	return startError{126, fmt.Sprintf("cannot start %q: %v", name, err)}
}

// wait waits for the process; if ctx ends first, it ends the step.
func (t *try) wait(ctx context.Context, p proc.Process) (exit proc.Exit, stopped bool, err error) {
	exit, err = p.Wait(ctx)
	if err == nil {
		return exit, false, nil
	}
	if ctx.Err() == nil {
		return exit, false, fmt.Errorf("cannot wait for a process: %w", err)
	}
	grace := t.session.options.Grace
	if errors.Is(context.Cause(ctx), dag.ErrForced) {
		grace = 0
	}
	t.session.stopping()
	exit, survivors := p.Stop(grace, t.session.options.Force)
	if len(survivors) > 0 {
		t.session.Notify(Notice{Code: NoticeEscaped, Step: t.call.Path, Processes: survivors,
			Message: "could not be ended: " + proc.Names(survivors) + "; end them yourself"})
	}
	return exit, true, nil
}

func (t *try) result(exit proc.Exit, stopped bool) (dag.Result, error) {
	r := dag.Result{Status: dag.Succeeded, ExitCode: exit.Code}
	private := t.session.options.LogDir == ""
	outs := [2]**dag.Output{&r.Stdout, &r.Stderr}
	var tooLarge *dag.Output
	by := time.Now().Add(holdTime)
	for i, st := range t.streams {
		if st.settle(by) {
			t.session.Notify(Notice{Code: NoticePipeHeld, Step: t.call.Path,
				Message: "a background process keeps the step's output open; what it prints from now on is only in the log"})
		}
		t.streams[i] = nil // output gives it back
		out, err := st.output(t.session, t.wanted(st.which), private)
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
		r.Message = fmt.Sprintf("ended by signal %d (%v)", int(exit.Signal), exit.Signal)
	case exit.Code != 0:
		r.Status, r.Reason = dag.Failed, dag.ReasonExit
	case tooLarge != nil:
		r.Status, r.Reason, r.ExitCode = dag.Failed, ReasonOutputTooLarge, 1
		r.Message = fmt.Sprintf("printed %d bytes, the limit is %d; raise output.buffer-limit or allow truncation", tooLarge.Size, t.wanted(0).limit)
	}
	return r, nil
}

// cleanUp gives back what a try that did not get far has opened.
func (t *try) cleanUp() {
	for _, st := range t.streams {
		if st != nil {
			st.discard()
		}
	}
	if t.stdin != nil && t.stdin != t.session.null {
		t.stdin.Close()
	}
	for _, f := range t.launch.files {
		os.Remove(f)
	}
}
