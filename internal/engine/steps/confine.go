package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/programfile"
)

// rightsOf returns what the attempt gives up before it executes its program; nil if nothing.
func (t *start) rightsOf(file string) (*confine.Confinement, error) {
	trace := ""
	if !t.Detach { // what outlives flowrun cannot be observed
		trace = t.session.observer.traceFolder()
	}
	if t.confine.IsZero() && trace == "" {
		return nil, nil
	}
	reasons := t.confine.Check(nil)
	limits, unheld := t.confine.Enforceable()
	if t.session.options.Unenforced {
		t.confine.Limits = limits
	} else {
		reasons = slices.Concat(reasons, t.confine.CheckGrants(t.session.options.means()), unheld)
	}
	if len(reasons) > 0 {
		return nil, place.CannotStart(126, "cannot start the step: %v", errors.Join(reasons...))
	}
	if err := t.makeGranted(); err != nil {
		return nil, err
	}
	c, err := t.session.rights(t.confine)
	if err != nil {
		return nil, err
	}
	c.Trace = trace
	if err := t.limits.apply(&c); err != nil {
		return nil, err
	}
	if !c.Reduced && c.Sandbox == nil && !t.confine.NeedKernel() && trace == "" {
		return nil, nil
	}
	if err := t.checkProgram(file); err != nil {
		return nil, err
	}
	if c.Sandbox != nil {
		c.Sandbox.Files = append(c.Sandbox.Files, t.ownFiles(file)...)
	}
	if t.confine.ChangesUser() {
		if err := t.session.shareFiles(slices.Concat(t.launch.Files, t.valuePaths())); err != nil {
			return nil, err
		}
	}
	return &c, nil
}

// checkProgram reports the errors that starting the program itself would report. Without it they
// are lost if the process has to confine itself first, because that can always be started.
func (t *start) checkProgram(file string) error {
	if t.dir != "" && !isFolder(t.dir) {
		return t.explainStart(file, os.ErrNotExist)
	}
	if _, err := programfile.Executable(t.absolute(file)); err != nil {
		return t.explainStart(file, fmt.Errorf("cannot start %q: %w", file, err))
	}
	return nil
}

// absolute returns the path of a program that is found in the working directory of the step.
func (t *start) absolute(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(t.dir, file)
}

// rights returns how package confine starts a process with these rights. Limits are not among them.
func (s *Session) rights(c confinement.Confinement) (confine.Confinement, error) {
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
func (s *Session) handOver(dir string, c confinement.Confinement) error {
	if !c.ChangesUser() {
		return nil
	}
	return confine.HandOver(dir, s.options.Run)
}

// WithRights calls f with the rights to files that steps with this confinement have. It is for
// files that a definition names: flowrun must not read or write what the steps could not. access is what f does, read or
// write; an error says which permission it lacked.
func (s *Session) WithRights(c confinement.Confinement, access string, f func() error) error {
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
