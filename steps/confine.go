package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/confine"
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

// Check returns why a process cannot be confined like this here: one reason for each demand that
// cannot be met. env is what the run inherits. CheckGrants and CheckLimits do the same for what Enforced
// demands and for the limits.
func (c Confinement) Check(env []string) (reasons []error) {
	if c.Image != "" {
		if _, err := containerProgram(lookup(env, "PATH")); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide isolation: container: %w", err))
		}
		return reasons // the container program takes away rights and limits what is used
	}
	if c.Reduced {
		if err := confine.Available(); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide execution-privilege: reduced: %w", err))
		}
	}
	return reasons
}

// rightsOf returns what the attempt gives up before it executes its program; nil if nothing.
func (t *attempt) rightsOf(file string) (*confine.Confinement, error) {
	trace := ""
	if !t.Detach { // what outlives flowrun cannot be observed
		trace = t.session.observer.traceFolder()
	}
	if t.confine.IsZero() && trace == "" {
		return nil, nil
	}
	reasons := t.confine.Check(nil)
	limits, unheld := t.confine.enforceable()
	if t.session.options.Unenforced {
		t.confine.Limits = limits
	} else {
		reasons = slices.Concat(reasons, t.confine.CheckGrants(t.session.options.means()), unheld)
	}
	if len(reasons) > 0 {
		return nil, startError{126, fmt.Sprintf("cannot start the step: %v", errors.Join(reasons...))}
	}
	if err := t.makeGranted(); err != nil {
		return nil, err
	}
	c, err := t.session.rights(t.confine)
	if err != nil {
		return nil, err
	}
	c.Trace = trace
	if err := t.limitProcesses(&c); err != nil {
		return nil, err
	}
	if !c.Reduced && c.Sandbox == nil && !t.confine.needKernel() && trace == "" {
		return nil, nil
	}
	if err := t.checkProgram(file); err != nil {
		return nil, err
	}
	if c.Sandbox != nil {
		c.Sandbox.Files = append(c.Sandbox.Files, t.ownFiles(file)...)
	}
	if t.confine.ChangesUser() {
		if err := t.session.shareFiles(slices.Concat(t.launch.files, t.valueFiles())); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// checkProgram reports the errors that starting the program itself would report. Without it they
// are lost if the process has to confine itself first, because that can always be started.
func (t *attempt) checkProgram(file string) error {
	if t.dir != "" && !isFolder(t.dir) {
		return t.explainStart(file, os.ErrNotExist)
	}
	if err := executable(t.absolute(file)); err != nil {
		return t.explainStart(file, fmt.Errorf("cannot start %q: %w", file, err))
	}
	return nil
}

// absolute returns the path of a program that is found in the working directory of the step.
func (t *attempt) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(t.dir, file)
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

// makeParents makes a folder and those above it. With enterable every user can enter them.
func makeParents(dir string, enterable bool) error {
	if parent := filepath.Dir(dir); !isFolder(parent) && parent != dir {
		if err := makeParents(parent, enterable); err != nil {
			return err
		}
	}
	switch err := os.Mkdir(dir, 0o711); {
	case err != nil && isFolder(dir): // another run has made it
		return nil
	case err != nil:
		return err
	}
	if enterable {
		return os.Chmod(dir, 0o711)
	}
	return nil
}

// handOver makes a folder belong to the user that steps with this confinement run as.
func (s *Session) handOver(dir string, c Confinement) error {
	if !c.ChangesUser() {
		return nil
	}
	return confine.HandOver(dir, s.options.Run)
}

// WithRights calls f with the rights to files that steps with this confinement have. It is for
// files that a definition names: flowrun must not read or write what the steps could not. access is what f does, read or
// write; an error says which permission it lacked.
func (s *Session) WithRights(c Confinement, access string, f func() error) error {
	rights, err := s.rights(c)
	if err != nil {
		return err
	}
	if rights.Sandbox == nil && !c.ChangesUser() {
		return f()
	}
	err = rights.WithRights(f)
	if file := new(fs.PathError); c.Enforced && errors.Is(err, fs.ErrPermission) && errors.As(err, &file) {
		return fmt.Errorf("%w: the permissions of the tool are enforced, and it lacks %q", fs.ErrPermission, "filesystem:"+access+":"+file.Path)
	}
	return err
}

// ChangesUser reports whether steps run as another user than this process: reduced steps of root
// do.
func (c Confinement) ChangesUser() bool {
	return c.Reduced && c.Image == "" && runtime.GOOS == "linux" && os.Geteuid() == 0
}

// userVariables returns the variables that describe the other user, for steps that change it.
func (c Confinement) userVariables() []string {
	if !c.ChangesUser() {
		return nil
	}
	return []string{"HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody"}
}
