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
	"github.com/flowrun/flowrun/internal/procid"
)

// Confinement is what a tool's steps have to do without. The
// zero Confinement takes nothing away.
type Confinement struct {
	Reduced   bool   // no capabilities and no way to get any; root becomes a user of the run's own, in the group nobody
	MaxMemory int64  // bytes for each step; 0 is no bound
	Image     string // of the container that each step runs in; "" is none
	Network   bool   // the container may use the network
}

// Within is the confinement of what a confined tool uses: never less than the tool's
// own.
func (c Confinement) Within(outer Confinement) Confinement {
	c.Reduced = c.Reduced || outer.Reduced
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

// errNoConfiner is for programs that embed flowrun.
var errNoConfiner = errors.New("this program does not call flowrun.HelperMain, and a library takes no rights away from itself")

// Check says why a process cannot be confined like that here: one reason for each
// demand that cannot be met. confines is Options.Confines, env what the run inherits.
func (c Confinement) Check(confines bool, env []string) (reasons []error) {
	if c.Image != "" {
		if _, err := containerProgram(lookup(env, "PATH")); err != nil {
			reasons = append(reasons, fmt.Errorf("isolation: container cannot be kept: %w", err))
		}
		return reasons // the container program takes rights and memory away
	}
	if c.Reduced {
		if err := canConfine(confines); err != nil {
			reasons = append(reasons, fmt.Errorf("execution-privilege: reduced cannot be kept: %w", err))
		}
	}
	// Where nothing at all can bound memory, a notice says so: the tool runs all the same.
	if c.MaxMemory > 0 && confine.Available() == nil && !confines {
		reasons = append(reasons, fmt.Errorf("max-memory cannot be kept: %w", errNoConfiner))
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

// Reasons and notices of confinement.
const (
	ReasonMemory = "memory-limit" // it used more memory than max-memory allows

	NoticeMemory NoticeCode = "memory-limit" // max-memory is not kept, or not as a whole
)

// confinedCommand is a program's file and argv as they are started under the try's
// confinement.
func (t *attempt) confinedCommand(file string) (string, []string, error) {
	argv := t.launch.argv
	if !t.confine.Reduced && t.confine.MaxMemory == 0 {
		return file, argv, nil
	}
	if reasons := t.confine.Check(t.session.options.Confines, nil); len(reasons) > 0 {
		return "", nil, startError{126, fmt.Sprintf("cannot start the step: %v", errors.Join(reasons...))}
	}
	c := t.session.reduction(t.confine)
	if err := t.limitMemory(&c); err != nil {
		return "", nil, err
	}
	if !c.Reduced && c.Join == nil && c.AddressSpace == 0 {
		return file, argv, nil
	}
	if err := t.checkProgram(file); err != nil {
		return "", nil, err
	}
	if t.confine.changesUser() {
		if err := t.session.shareFiles(t.launch.files); err != nil {
			return "", nil, err
		}
	}
	path, wrapped := c.Wrap(file, argv)
	return path, wrapped, nil
}

// checkProgram finds out what the start of the program itself would have said: the
// process that becomes it can be started in any case.
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

// limitMemory makes the limit of the try: a cgroup, which bounds all its processes
// together, else the address space of each.
func (t *attempt) limitMemory(c *confine.Confinement) (err error) {
	limit := t.confine.MaxMemory
	if limit == 0 {
		return nil
	}
	if t.memory != nil { // a second start of the same try
		c.Join = []string{t.memory.JoinFile()}
		return nil
	}
	if err := confine.Available(); err != nil {
		t.session.Notify(Notice{Code: NoticeMemory, Message: "max-memory is not in force: " + err.Error()})
		return nil
	}
	mark := procid.Mark(t.session.options.Run, t.session.options.Epoch)
	if t.Detach {
		mark = "" // what is in it outlives the run
	}
	if t.memory, err = cgroup.NewMemoryLimit(mark, limit); err == nil {
		c.Join = []string{t.memory.JoinFile()}
		return nil
	}
	c.AddressSpace = limit
	t.session.Notify(Notice{Code: NoticeMemory, Message: fmt.Sprintf(
		"max-memory bounds the address space of each process, not the memory of a step as a whole: %v", err)})
	return nil
}

// explainMemory makes the result of a try that ran into its limit say so.
func (t *attempt) explainMemory(r *dag.Result) {
	limit := sizeText(t.confine.MaxMemory)
	switch {
	case t.confine.MaxMemory == 0:
	case t.memory != nil && t.memory.Exceeded():
		r.Status, r.Reason = dag.Failed, ReasonMemory
		r.Message = fmt.Sprintf("memory limit of %s exceeded; raise resources.max-memory, or have the step use less", limit)
		if r.ExitCode == 0 { // a shell went on without the program that was ended
			r.ExitCode = 137
		}
	case t.container != nil && r.ExitCode == 137:
		r.Message = fmt.Sprintf("ended by KILL, most likely because the memory limit of %s was exceeded; raise resources.max-memory, or have the step use less", limit)
	case t.memory == nil && r.Reason == dag.ReasonExit && t.container == nil && confine.Available() == nil:
		if r.Message != "" {
			r.Message += "; "
		}
		r.Message += fmt.Sprintf("each of its processes could have %s of address space (resources.max-memory), which may have been too little", limit)
	}
}

// sizeText is a size as people write it in a definition.
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

// releaseMemoryLimit takes the try's memory limit away, or leaves it to the session while what
// the step left in the background is still in it.
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

// removeLimits takes the limits away when the run's processes have ended. What has
// shed every sign of the run by then is still in one of them.
func (s *Session) removeLimits() {
	for _, m := range s.limits {
		m.End(!m.detached)
	}
}

// reduction is what a process has to do without that is started with reduced rights.
func (s *Session) reduction(c Confinement) confine.Confinement {
	return confine.Confinement{Reduced: c.Reduced, User: confine.RunUser(s.options.Run)}
}

// shareFiles lets a step that root starts as another user read its files: its script, and its
// large values. Their folder can be passed through and not be listed.
func (s *Session) shareFiles(files []string) error {
	if len(files) == 0 {
		return nil
	}
	err := os.Chmod(filepath.Dir(files[0]), 0o711)
	for _, f := range files {
		err = errors.Join(err, confine.HandOver(f, s.options.Run))
	}
	if err != nil {
		return fmt.Errorf("cannot hand a reduced step its files: %w", err)
	}
	return nil
}

// HandOver gives a folder that is made for steps with that confinement to the user they
// run as.
func (s *Session) HandOver(dir string, c Confinement) error {
	if !c.changesUser() {
		return nil
	}
	return confine.HandOver(dir, s.options.Run)
}

// WithRights calls f with no more rights to files than steps with that confinement have:
// what a definition names is read and written as its steps could.
func (s *Session) WithRights(c Confinement, f func() error) error {
	if !c.changesUser() {
		return f()
	}
	return confine.WithRights(s.options.Run, f)
}

// changesUser says whether steps run as another user than this process: root's, reduced.
func (c Confinement) changesUser() bool {
	return c.Reduced && c.Image == "" && runtime.GOOS == "linux" && os.Geteuid() == 0
}

// userVariables are the variables that tell a step which root starts as another user who it is.
func (c Confinement) userVariables() []string {
	if !c.changesUser() {
		return nil
	}
	return []string{"HOME=/nonexistent", "USER=nobody", "LOGNAME=nobody"}
}
