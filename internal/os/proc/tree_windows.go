package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/windows"

	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

// tree is the first process of a step and the job that holds it with all its descendants.
type tree struct {
	*os.Process
	job *job
}

// startTree starts a process in a job of its own. It is suspended until it is in the job: a process that it had started
// before would be outside for ever.
func startTree(s Spec) (_ *tree, err error) {
	file := s.Path
	if !filepath.IsAbs(file) {
		file = filepath.Join(s.Dir, file)
	}
	if file, err = programfile.Executable(file); err != nil {
		return nil, &os.PathError{Op: "start", Path: s.Path, Err: err}
	}
	if err := checkBatch(file, s.Args); err != nil {
		return nil, err
	}
	j, err := newJob(!s.Detach || s.Bound)
	if err != nil {
		return nil, err
	}
	// In a group of its own it does not get Ctrl-C of the console, which is for flowrun.
	attributes := &os.ProcAttr{Dir: s.Dir, Env: s.Env, Files: s.Files[:],
		Sys: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED}}
	p, err := os.StartProcess(file, s.Args, attributes)
	if err == nil {
		err = j.adopt(p)
	}
	if err != nil {
		j.close()
		return nil, err
	}
	return &tree{p, j}, nil
}

// checkBatch returns an error if cmd would read an argument of a batch file as more than a value. Windows starts such a
// file by a command line of cmd, on which these characters have a meaning, in quotes as well.
func checkBatch(file string, args []string) error {
	switch strings.ToLower(filepath.Ext(file)) {
	case ".bat", ".cmd":
	default:
		return nil
	}
	for _, a := range args[1:] {
		if i := strings.IndexAny(a, "\"%!&|<>^\r\n"); i >= 0 {
			return fmt.Errorf("%s is a batch file, and cmd gives the character %q in its arguments a meaning of its own; write the line as a cmd step, or start the program that the file starts", file, a[i])
		}
	}
	return nil
}

// wait waits for the first process. The processor time is that of the whole tree so far.
func (t *tree) wait() Exit {
	state, err := t.Wait()
	if err != nil {
		return Exit{Code: 1}
	}
	return Exit{Code: state.ExitCode(), Usage: t.job.usage()}
}

// ask asks the processes to end, and returns whether they can have noticed: only those that share a console with this
// process, for which Ctrl-Break is what TERM is elsewhere.
func (t *tree) ask() bool {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(t.Pid)) == nil
}

// kill ends all processes.
func (t *tree) kill() { t.job.kill() }

// left returns the processes of a step whose first process has ended.
func (t *tree) left(s Spec) []procid.Info {
	list := t.job.processes()
	for i := range list {
		list[i].Step = s.Step
	}
	return list
}

// release gives up the tree without ending it, unless the job ends its processes with this one.
func (t *tree) release() { t.job.close() }
