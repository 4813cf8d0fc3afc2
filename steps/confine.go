package steps

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cgroup"
	"github.com/flowrun/flowrun/internal/confine"
	"github.com/flowrun/flowrun/internal/permission"
	"github.com/flowrun/flowrun/internal/procid"
)

// Confinement lists the rights that the steps of a tool do not have. The zero Confinement takes
// none away.
type Confinement struct {
	Reduced   bool   // no capabilities and no way to get any; root becomes a user of this run only, in the group nobody
	MaxMemory int64  // bytes for each step; 0: no limit
	Image     string // container image that each step runs in; "": none
	Network   bool   // the container may use the network

	// Enforced limits the steps to Grants: files, the network, environment variables and programs
	// that Grants does not name are denied.
	Enforced bool
	Grants   permission.Grants
}

// IsZero reports whether c takes no rights away.
func (c Confinement) IsZero() bool {
	return !c.Reduced && c.MaxMemory == 0 && c.Image == "" && !c.Enforced
}

// Within returns the confinement of a tool that a confined tool uses. It takes at least as many
// rights away as outer.
func (c Confinement) Within(outer Confinement) Confinement {
	c.Reduced = c.Reduced || outer.Reduced
	if outer.Enforced {
		c.Enforced, c.Grants = true, c.Grants.Within(outer.Grants)
	}
	if c.MaxMemory == 0 || outer.MaxMemory > 0 && outer.MaxMemory < c.MaxMemory {
		c.MaxMemory = outer.MaxMemory
	}
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
// cannot be met. confines is Options.Confines, env is what the run inherits. CheckGrants does the same
// for what Enforced demands.
func (c Confinement) Check(confines bool, env []string) (reasons []error) {
	if c.Image != "" {
		if _, err := containerProgram(lookup(env, "PATH")); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide isolation: container: %w", err))
		}
		return reasons // the container program takes away rights and memory
	}
	if c.Reduced {
		if err := canConfine(confines); err != nil {
			reasons = append(reasons, fmt.Errorf("cannot provide execution-privilege: reduced: %w", err))
		}
	}
	// If this platform cannot limit memory at all, the tool runs anyway, and a notice says so.
	if c.MaxMemory > 0 && confine.Available() == nil && !confines {
		reasons = append(reasons, fmt.Errorf("cannot enforce max-memory: %w", errNoConfiner))
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

// Reasons and notices about confinement.
const (
	ReasonMemory = "memory-limit" // the step used more memory than max-memory allows

	NoticeMemory NoticeCode = "memory-limit" // max-memory is not enforced, or only for each process
)

// confinedCommand returns the file and argv that start a program with the confinement of the
// attempt.
func (t *attempt) confinedCommand(file string) (string, []string, error) {
	argv := t.launch.argv
	if t.confine.IsZero() {
		return file, argv, nil
	}
	reasons := t.confine.Check(t.session.options.Confines, nil)
	if !t.session.options.Unenforced {
		reasons = append(reasons, t.confine.CheckGrants(t.session.options.Confines)...)
	}
	if len(reasons) > 0 {
		return "", nil, startError{126, fmt.Sprintf("cannot start the step: %v", errors.Join(reasons...))}
	}
	c, err := t.session.rights(t.confine)
	if err != nil {
		return "", nil, err
	}
	if err := t.limitMemory(&c); err != nil {
		return "", nil, err
	}
	if !c.Reduced && c.Join == nil && c.AddressSpace == 0 && c.Sandbox == nil {
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

// limitMemory sets the memory limit of the attempt: a cgroup, which limits all its processes
// together, or else the address space of each process.
func (t *attempt) limitMemory(c *confine.Confinement) (err error) {
	limit := t.confine.MaxMemory
	if limit == 0 {
		return nil
	}
	if t.memory != nil { // second start of the same attempt
		c.Join = []string{t.memory.JoinFile()}
		return nil
	}
	if err := confine.Available(); err != nil {
		t.session.Notify(Notice{Code: NoticeMemory, Message: "max-memory is not enforced: " + err.Error()})
		return nil
	}
	mark := procid.Mark(t.session.options.Run, t.session.options.Epoch)
	if t.Detach {
		mark = "" // its processes may outlive the run
	}
	if t.memory, err = cgroup.NewMemoryLimit(mark, limit); err == nil {
		c.Join = []string{t.memory.JoinFile()}
		return nil
	}
	c.AddressSpace = limit
	t.session.Notify(Notice{Code: NoticeMemory, Message: fmt.Sprintf(
		"max-memory limits only the address space of each process, not the total memory of a step: %v", err)})
	return nil
}

// explainMemory changes the Result of an attempt that reached its limit.
func (t *attempt) explainMemory(r *dag.Result) {
	limit := sizeText(t.confine.MaxMemory)
	switch {
	case t.confine.MaxMemory == 0:
	case t.memory != nil && t.memory.Exceeded():
		r.Status, r.Reason = dag.Failed, ReasonMemory
		r.Message = fmt.Sprintf("memory limit of %s exceeded; raise resources.max-memory, or make the step use less memory", limit)
		if r.ExitCode == 0 { // the shell continued after its program was killed
			r.ExitCode = 137
		}
	case t.container != nil && r.ExitCode == 137:
		r.Message = fmt.Sprintf("ended by KILL, probably because the memory limit of %s was exceeded; raise resources.max-memory, or make the step use less memory", limit)
	case t.memory == nil && r.Reason == dag.ReasonExit && t.container == nil && confine.Available() == nil:
		if r.Message != "" {
			r.Message += "; "
		}
		r.Message += fmt.Sprintf("resources.max-memory limited each of its processes to %s of address space, which may be too little", limit)
	}
}

// sizeText returns a size as it is written in a definition.
func sizeText(n int64) string {
	units := []struct {
		name string
		size int64
	}{{"TiB", 1 << 40}, {"TB", 1e12}, {"GiB", 1 << 30}, {"GB", 1e9}, {"MiB", 1 << 20}, {"MB", 1e6}, {"KiB", 1 << 10}, {"KB", 1e3}}
	for _, u := range units {
		if n >= u.size && n%u.size == 0 {
			return strconv.FormatInt(n/u.size, 10) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

// releaseMemoryLimit removes the memory limit. If processes that the step left in the background
// are still in it, the Session keeps it.
func (t *attempt) releaseMemoryLimit() {
	if t.memory == nil || t.memory.Remove() {
		return
	}
	t.session.mu.Lock()
	defer t.session.mu.Unlock()
	t.session.limits = append(t.session.limits, memoryLimit{t.memory, t.Detach})
}

type memoryLimit struct {
	*cgroup.MemoryLimit
	detached bool
}

// removeLimits removes the memory limits after the processes of the run have ended. A process that
// has lost every other sign of the run is still in one of them, and is killed with it unless its
// step is detached.
func (s *Session) removeLimits() {
	for _, m := range s.limits {
		m.End(!m.detached)
	}
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
