package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

// command starts the rule's command. The command gets the run on its standard input, and
// the most important facts in its environment. Its output is discarded. Processes that it
// leaves behind are stopped.
func (s Settings) command(ctx context.Context, r Rule, o Outcome) (err error) {
	argv, err := expr.Words(r.Command)
	if err != nil {
		return err
	}
	name := argv[0]
	if programfile.IsPath(name) {
		name = s.path(name)
	}
	path, err := programfile.Find(name, s.Dir)
	if err != nil {
		return err
	}
	rights, err := r.rights(o.Result.ID)
	if err != nil {
		return err
	}
	doc, err := o.input(r)
	if err != nil {
		return err
	}
	in, err := inputFile(append(doc, '\n'))
	if err != nil {
		return err
	}
	defer func() {
		in.Close()
		os.Remove(in.Name())
	}()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	mark := procid.Mark(o.Result.ID+"@notice", 1) // not the run's own mark: resuming the run must not stop this process
	host := proc.Open(mark, procid.DomainOf(engine.DefaultStateDir()))
	defer func() {
		_, closeErr := host.Close(context.WithoutCancel(ctx), 0)
		err = errors.Join(err, closeErr)
	}()
	process, err := host.Start(proc.Spec{Step: "@notice", Path: path, Args: argv, Env: s.environ(o, r.Text(o), mark), Dir: s.Dir,
		Files: [3]*os.File{in, null, null}, Confine: rights})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, attemptTimeout, fmt.Errorf("it did not exit within %v", attemptTimeout))
	defer cancel()
	exit, err := process.Wait(ctx)
	switch {
	case err != nil:
		process.Stop(0, nil)
		return err
	case exit.Code != 0:
		return fmt.Errorf("it failed with exit code %d", exit.Code)
	}
	return nil
}

// input returns what the command reads: the run, or the document of a webhook if there is none.
func (o Outcome) input(r Rule) ([]byte, error) {
	if !o.hasRun() {
		return o.body(r.Text(o))
	}
	return json.Marshal(o.Result.Brief(dag.InlineLimit))
}

// rights returns what the command gives up to have the same privileges as its tool's steps; nil if nothing.
func (r Rule) rights(run string) (*confine.Confinement, error) {
	switch {
	case r.Contained:
		return nil, errors.New("the tool runs in containers, but the command would run outside; use a webhook, or move the command to your settings (notifications)")
	case r.Enforced:
		return nil, errors.New("the permissions of the tool are enforced, but the command would run without them; use a webhook, or move the command to your settings (notifications)")
	case !r.Reduced:
		return nil, nil
	}
	if err := confine.Available(); err != nil {
		return nil, fmt.Errorf("cannot reduce its privileges: %w", err)
	}
	return &confine.Confinement{Reduced: true, User: confine.RunUser(run)}, nil
}

// environ returns the environment of the command.
func (s Settings) environ(o Outcome, message, mark string) []string {
	r := o.Result
	own := map[string]string{
		"FLOWRUN_EVENT": string(o.Event), "FLOWRUN_MESSAGE": message, "FLOWRUN_RUN_ID": r.ID, "FLOWRUN_TOOL": r.Tool,
		"FLOWRUN_STATUS": o.status(), "FLOWRUN_EXIT_CODE": strconv.Itoa(r.ExitCode),
		procid.MarkOwner: mark, procid.MarkStep: "@notice",
	}
	if o.Schedule != nil {
		own["FLOWRUN_SCHEDULE"] = o.Schedule.Name
	}
	env := slices.DeleteFunc(slices.Clone(s.Env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		_, mine := own[name]
		return mine
	})
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	return env
}

// programOf returns the only part of a command that is shown: its arguments may be secret.
func programOf(command string) string {
	argv, err := expr.Words(command)
	if err != nil {
		return "command"
	}
	return argv[0]
}

// inputFile returns a file with the text, to be read from its start. The caller closes and
// removes it.
func inputFile(text []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "flowrun-notice-*") // 0600
	if err != nil {
		return nil, fmt.Errorf("cannot create a file for the command's input: %w", err)
	}
	if _, err = f.Write(text); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		os.Remove(f.Name())
		return nil, fmt.Errorf("cannot write a file for the command's input: %w", err)
	}
	return f, nil
}
