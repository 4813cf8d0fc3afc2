package steps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/flowrun/flowrun/internal/confine"
	"github.com/flowrun/flowrun/internal/permission"
)

// Confinement lists the rights that the steps of a tool do not have. The zero Confinement takes
// none away.
type Confinement struct {
	Reduced bool // no capabilities and no way to get any; root becomes a user of this run only, in the group nobody
	Limits
	Image   string // container image that each step runs in; "": none
	Network bool   // the container may use the network

	// Enforced limits the steps to Grants: files, the network, environment variables and programs
	// that Grants does not name are denied.
	Enforced bool
	Grants   permission.Grants
}

// IsZero reports whether c takes no rights away.
func (c Confinement) IsZero() bool {
	return !c.Reduced && c.Limits == (Limits{}) && c.Image == "" && !c.Enforced
}

// Within returns the confinement of a tool that a confined tool uses. It takes at least as many
// rights away as outer.
func (c Confinement) Within(outer Confinement) Confinement {
	c.Reduced = c.Reduced || outer.Reduced
	if outer.Enforced {
		c.Enforced, c.Grants = true, c.Grants.Within(outer.Grants)
	}
	c.Limits = c.Limits.within(outer.Limits)
	if outer.Image == "" {
		return c
	}
	if c.Image == "" {
		c.Image, c.Network = outer.Image, outer.Network
	}
	c.Network = c.Network && outer.Network
	return c
}

// errNoConfiner is for programs that embed flowrun and do not call HelperMain.
var errNoConfiner = errors.New("this program does not call flowrun.HelperMain, so flowrun cannot restrict its steps")

// Check returns why a process cannot be confined like this here: one reason for each demand that
// cannot be met. confines is Options.Confines, env is what the run inherits. CheckGrants and
// CheckLimits do the same for what Enforced demands and for the limits.
func (c Confinement) Check(confines bool, env []string) (reasons []error) {
	if c.Image != "" {
		if _, err := containerProgram(lookup(env, "PATH")); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide isolation: container: %w", err))
		}
		return reasons // the container program takes away rights and limits what is used
	}
	if c.Reduced {
		if err := canConfine(confines); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide execution-privilege: reduced: %w", err))
		}
	}
	return reasons
}

func canConfine(confines bool) error {
	if err := confine.Available(); err != nil {
		return err
	}
	if !confines {
		return errNoConfiner
	}
	return nil
}

// confinedCommand returns the file and argv that start a program with the confinement of the
// attempt.
func (t *attempt) confinedCommand(file string) (string, []string, error) {
	argv := t.launch.argv
	trace := ""
	if !t.Detach { // what outlives flowrun cannot be observed
		trace = t.session.observer.traceFolder()
	}
	if t.confine.IsZero() && trace == "" {
		return file, argv, nil
	}
	confines := t.session.options.Confines
	reasons := t.confine.Check(confines, nil)
	limits, unheld := t.confine.enforceable(confines)
	if t.session.options.Unenforced {
		t.confine.Limits = limits
	} else {
		reasons = slices.Concat(reasons, t.confine.CheckGrants(t.session.options.means()), unheld)
	}
	if len(reasons) > 0 {
		return "", nil, startError{126, fmt.Sprintf("cannot start the step: %v", errors.Join(reasons...))}
	}
	c, err := t.session.rights(t.confine)
	if err != nil {
		return "", nil, err
	}
	c.Trace = trace
	if err := t.limitProcesses(&c); err != nil {
		return "", nil, err
	}
	if !c.Reduced && c.Sandbox == nil && !t.confine.needKernel() && trace == "" {
		return file, argv, nil
	}
	if err := t.checkProgram(file); err != nil {
		return "", nil, err
	}
	if c.Sandbox != nil {
		c.Sandbox.Files = append(c.Sandbox.Files, t.ownFiles(file)...)
	}
	if t.confine.changesUser() {
		if err := t.session.shareFiles(t.launch.files); err != nil {
			return "", nil, err
		}
	}
	path, wrapped := c.Wrap(file, argv)
	return path, wrapped, nil
}

// checkProgram reports the errors that starting the program itself would report. Without it they
// would be lost, because the process that confines itself first can always be started.
func (t *attempt) checkProgram(file string) error {
	if t.dir != "" && !isFolder(t.dir) {
		return t.explainStart(file, os.ErrNotExist)
	}
	if !filepath.IsAbs(file) {
		file = filepath.Join(t.dir, file)
	}
	if err := executable(file); err != nil {
		return t.explainStart(file, err)
	}
	return nil
}

// rights returns how package confine starts a process with these rights. Limits are not among them.
func (s *Session) rights(c Confinement) (confine.Confinement, error) {
	sandbox, err := s.sandbox(c)
	return confine.Confinement{Reduced: c.Reduced, User: confine.RunUser(s.options.Run), Sandbox: sandbox}, err
}

// shareFiles gives the files of a step, its script and large values, to the other user that root
// starts it as. That user can open files in their folder but not list it.
func (s *Session) shareFiles(files []string) error {
	if len(files) == 0 {
		return nil
	}
	err := os.Chmod(filepath.Dir(files[0]), 0o711)
	for _, f := range files {
		err = errors.Join(err, confine.HandOver(f, s.options.Run))
	}
	if err != nil {
		return fmt.Errorf("cannot give a step with reduced privileges access to its files: %w", err)
	}
	return nil
}

// HandOver makes a folder belong to the user that steps with this confinement run as.
func (s *Session) HandOver(dir string, c Confinement) error {
	if !c.changesUser() {
		return nil
	}
	return confine.HandOver(dir, s.options.Run)
}

// WithRights calls f with the rights to files that steps with this confinement have. It is for
// files that a definition names: flowrun must not read or write what the steps could not.
func (s *Session) WithRights(c Confinement, f func() error) error {
	rights, err := s.rights(c)
	if err != nil {
		return err
	}
	if rights.Sandbox == nil && !c.changesUser() {
		return f()
	}
	return rights.WithRights(f)
}

// changesUser reports whether steps run as another user than this process: reduced steps of root
// do.
func (c Confinement) changesUser() bool {
	return c.Reduced && c.Image == "" && runtime.GOOS == "linux" && os.Geteuid() == 0
}

// userVariables returns the variables that describe the other user, for steps that change it.
func (c Confinement) userVariables() []string {
	if !c.changesUser() {
		return nil
	}
	return []string{"HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody"}
}
