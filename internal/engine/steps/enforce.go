package steps

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/commandline"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/denied"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/os/confine"
)

func (o *Options) means() confinement.Means {
	return confinement.Means{Proxy: o.Egress != nil, Helper: o.Helper}
}

// sandbox returns what the processes of the steps may use; nil means that they are not limited.
func (s *Session) sandbox(c confinement.Confinement) (*confine.Sandbox, error) {
	if !c.Sandboxed() || s.options.Unenforced && c.CheckSandbox() != nil {
		return nil, nil
	}
	temp, err := s.tempFolder(c)
	if err != nil {
		return nil, err
	}
	// With some hosts, the sockets are those of a network namespace.
	b := &confine.Sandbox{Internet: len(c.Grants.Hosts()) > 0, Unix: c.Grants.LocalServices()}
	if b.Bubblewrap, err = confinement.SandboxProgram(); err != nil {
		return nil, err
	}
	add := func(access confine.Access, paths ...string) {
		for _, path := range paths {
			b.Files = append(b.Files, confine.FileRule{Path: path, Access: access})
		}
	}
	read, write, execute := c.Grants.Files()
	add(confine.Read, read...)
	add(confine.Write, write...)
	for _, path := range execute { // found in PATH, perhaps as a link
		add(confine.Execute, permission.RealPath(path))
	}
	add(confine.Read|confine.Write|confine.Execute, temp)
	if dir := s.artifacts(); dir != "" {
		add(confine.Read, dir)
	}
	return b, nil
}

// makeGranted makes the folders that the permissions let the attempt write and of which only the last component is
// missing: a kernel grants rights only to what exists, and making that folder is often the purpose of the tool.
func (t *start) makeGranted() error {
	if !t.confine.Sandboxed() {
		return nil
	}
	_, write, _ := t.confine.Grants.Files()
	for _, dir := range write {
		if err := os.Mkdir(dir, 0o777); err != nil {
			continue // it exists, or its folder does not, and then it grants nothing
		}
		t.made = append(t.made, dir)
		if err := t.session.handOver(dir, t.confine); err != nil {
			return err
		}
	}
	return nil
}

// removeUnused removes the folders that makeGranted made for a failed attempt, unless there is something in them: the
// permission could have meant a file.
func (t *start) removeUnused(r *dag.Result) {
	if r.Status == dag.Succeeded {
		return
	}
	for _, dir := range t.made {
		os.Remove(dir)
	}
}

// tempFolder returns the temporary folder of enforced steps that have none of their own. Steps with
// different rights do not share it: otherwise one with fewer rights could prepare files for another.
func (s *Session) tempFolder(c confinement.Confinement) (string, error) {
	dir, err := s.folder()
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	rights := fmt.Sprintf("%v %q", c.ChangesUser(), c.Grants)
	if temp, ok := s.temp[rights]; ok {
		return temp, nil
	}
	temp := filepath.Join(permission.RealPath(dir), fmt.Sprintf("temp%d", len(s.temp)))
	if err := os.Mkdir(temp, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cannot create a temporary folder: %w", err)
	}
	if c.ChangesUser() {
		if err := errors.Join(os.Chmod(dir, 0o711), confine.HandOver(temp, s.options.Run)); err != nil {
			return "", fmt.Errorf("cannot give a step with reduced privileges access to its temporary folder: %w", err)
		}
	}
	if s.temp == nil {
		s.temp = map[string]string{}
	}
	s.temp[rights] = temp
	return temp, nil
}

// ownFiles returns what an attempt may use in addition to its permissions: its program, script and
// values, and its own temporary folder.
func (t *start) ownFiles(program string) []confine.FileRule {
	list := []confine.FileRule{programFile(program, t.dir)}
	for _, file := range t.launch.Files {
		list = append(list, confine.FileRule{Path: permission.RealPath(file), Access: confine.Read})
	}
	for _, file := range t.valuePaths() {
		list = append(list, confine.FileRule{Path: permission.RealPath(file), Access: confine.Read | confine.Write})
	}
	own := t.Files
	if temp := t.frame.Temp(); temp != "" {
		own = append(slices.Clip(own), temp)
	}
	for _, path := range own {
		list = append(list, confine.FileRule{Path: permission.RealPath(path), Access: confine.Read | confine.Write | confine.Execute})
	}
	return list
}

// programFile grants the program of a step.
func programFile(program, dir string) confine.FileRule {
	if !filepath.IsAbs(program) {
		program = filepath.Join(dir, program)
	}
	return confine.FileRule{Path: permission.RealPath(program), Access: confine.Execute}
}

// gitVariables keeps git from failing because of the user's configuration: it ends if it cannot read that file, and does
// without it if there is none.
func (t *start) gitVariables() []string {
	home := commandline.Lookup(t.session.inherits.List, "HOME")
	if !t.confine.Sandboxed() || home == "" {
		return nil
	}
	if _, _, err := t.confine.Grants.Readable(filepath.Join(home, ".gitconfig")); err == nil {
		return nil
	}
	return []string{"GIT_CONFIG_GLOBAL=" + os.DevNull}
}

// inherited returns the inherited variables that the steps get.
func inherited(c confinement.Confinement, base commandline.Environ) commandline.Environ {
	if !c.Enforced {
		return base
	}
	named := c.Grants.Variables()
	var keep []string
	for _, kv := range base.List {
		name := commandline.NameOf(kv)
		if confinement.IsBaseVariable(name) || slices.Contains(named, name) {
			keep = append(keep, kv)
		}
	}
	return commandline.NewEnviron(keep)
}

// explainEnforced says in the Result of a failed enforced attempt which permissions it lacked.
func (t *start) explainEnforced(r *dag.Result) {
	if !t.confine.Enforced || r.Status == dag.Succeeded || r.Message != "" {
		return
	}
	c := denied.Command{Grants: t.confine.Grants, Workspace: t.frame.Resolve("", "."), Dir: t.dir, Script: t.literalText(),
		Made: t.made, Withheld: t.withheld}
	if len(t.launch.Argv) > 0 {
		c.Program = t.launch.Argv[0]
	}
	var printed []string
	for _, out := range []*dag.Output{r.Stderr, r.Stdout} {
		if out != nil {
			printed = append(printed, out.Inline)
		}
	}
	r.Message = c.Message(printed...)
}

// literalText returns the script without its values, "" if there is none.
func (c *Command) literalText() string {
	if c.Template == nil {
		return ""
	}
	return c.Template.LiteralText()
}

// noteWithheld finds the inherited variables that the script of the attempt names and that it does not get, because its
// permissions are enforced. Most shells read an unset variable as empty, so nothing else would say so.
func (t *start) noteWithheld(base commandline.Environ) {
	if !t.confine.Enforced {
		return
	}
	script := t.literalText()
	for _, kv := range base.List {
		name := commandline.NameOf(kv)
		if commandline.Lookup(t.env, name) == "" && denied.NamesVariable(script, name) {
			t.withheld = append(t.withheld, name)
			t.session.Notify(notice.Notice{Code: notice.Withheld, Step: t.call.Path, Message: fmt.Sprintf(
				"the variable %s is set, but not for this step, whose permissions are enforced: to pass it on, list %q in security.required-permissions", name, permission.EnvironmentPrefix+name)})
		}
	}
}
