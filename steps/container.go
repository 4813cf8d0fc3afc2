package steps

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/permission"
	"github.com/flowrun/flowrun/internal/proc"
)

// container is the container of one attempt. A program such as podman starts it, and its first
// process is the command of the step.
type container struct {
	program  string // path of podman or docker
	name     string
	image    string
	tty      bool
	network  bool
	limits   Limits
	noCore   bool     // its processes leave no core dump
	user     string   // UID:GID; "": the user of the image
	dir      string   // working directory
	writable []string // folders and files that are writable and have the same path inside and outside
	granted  []string // the same, read-only, by permissions that are enforced
	readOnly []string // the same, with the files of the step
	empty    string   // folder in memory that is the working directory; "": none
	env      []string // names of variables whose values are in the environment of the program
	envFile  string   // file with the variables that the program would use itself; "": none
	run      string
	step     string
}

// Programs that can start containers. podman comes first: if it is installed, it works, while
// docker also needs a service.
var containerPrograms = []string{"podman", "docker"}

// containerProgram returns the path of the first of them along a PATH.
func containerProgram(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return "", errors.New("flowrun runs containers on Linux and macOS only")
	}
	for _, name := range containerPrograms {
		if file, err := search(name, path); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("neither %s was found in PATH %q; install one of them", strings.Join(containerPrograms, " nor "), path)
}

// argv returns the command line that runs command in the container. It contains no values, because
// everybody can see it in the process table.
func (c *container) argv(command []string) []string {
	podman := strings.HasPrefix(filepath.Base(c.program), "podman")
	argv := []string{c.program, "run", "--rm", "--interactive", "--name", c.name,
		"--label", "flowrun.run=" + c.run, "--label", "flowrun.step=" + c.step,
		"--log-driver", "none", // the output is kept as output of the step, and nowhere else
		"--read-only", "--tmpfs", "/tmp:rw,exec,mode=1777",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges"}
	add := func(when bool, words ...string) {
		if when {
			argv = append(argv, words...)
		}
	}
	switch {
	case c.limits.MaxProcesses > 0:
		add(true, "--pids-limit", fmt.Sprint(c.limits.MaxProcesses))
	case !podman: // podman sets its own, if it can count processes
		add(true, "--pids-limit", "2048")
	}
	add(c.tty, "--tty")
	add(!c.network, "--network", "none")
	argv = append(argv, c.limits.options()...)
	add(c.noCore, "--ulimit", "core=1:1")
	add(c.user != "", "--user", c.user)
	add(podman && c.user != "" && !strings.HasPrefix(c.user, "0:"), "--userns", "keep-id") // otherwise the user is another one outside
	for _, path := range c.writable {
		add(true, "--mount", mountOption(path))
	}
	for _, path := range c.readOnly {
		add(true, "--mount", mountOption(path, "readonly"))
	}
	add(c.empty != "", "--mount", tmpfsOption(c.empty))
	add(c.dir != "", "--workdir", c.dir)
	if !slices.Contains(c.env, "HOME") {
		add(true, "--env", "HOME=/tmp") // the user has no home in the image
	}
	for _, name := range c.env {
		add(true, "--env", name)
	}
	add(c.envFile != "", "--env-file", c.envFile)
	add(true, "--entrypoint", command[0], c.image)
	return append(argv, command[1:]...)
}

// options returns the options of container programs for the limits. CPU time is limited for each
// process.
func (l Limits) options() (list []string) {
	if l.MaxMemory > 0 {
		list = append(list, "--memory", fmt.Sprint(l.MaxMemory), "--memory-swap", fmt.Sprint(l.MaxMemory))
	}
	if l.CPU > 0 {
		list = append(list, "--cpus", fmt.Sprint(l.CPU))
	}
	for _, one := range []struct {
		name  string
		value int64
	}{{"cpu", int64((l.MaxCPU + time.Second - 1) / time.Second)}, {"fsize", l.MaxFileSize}, {"nofile", int64(l.MaxOpenFiles)}} {
		if one.value > 0 {
			list = append(list, "--ulimit", fmt.Sprintf("%s=%d:%[2]d", one.name, one.value))
		}
	}
	return list
}

// mountOption returns the value of --mount for a path of this machine.
func mountOption(path string, more ...string) string {
	return mountFields(append([]string{"type=bind", "source=" + path, "target=" + path}, more...))
}

// tmpfsOption returns the value of --mount for a folder in memory.
func tmpfsOption(path string) string { return mountFields([]string{"type=tmpfs", "target=" + path}) }

// mountFields returns a value of --mount. Its fields are CSV, because a path may contain commas.
func mountFields(fields []string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(fields) // writing to a Builder cannot fail
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// clientNames are variables that the program that starts the container uses itself, clientPrefixes
// are the prefixes of more such names.
var (
	clientNames    = []string{"PATH", "HOME", "USER", "TMPDIR", "TMP", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"}
	clientPrefixes = []string{"DOCKER_", "CONTAINER", "PODMAN_", "BUILDAH_", "REGISTRY_", "STORAGE_", "XDG_", "LD_", "GO", "DBUS_", "SSL_", "SSH_"}
)

func isClientVariable(name string) bool {
	return slices.Contains(clientNames, name) ||
		slices.ContainsFunc(clientPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// containerInvocation returns what to start to run the command in a container.
func (t *attempt) containerInvocation() (file string, argv, env []string, err error) {
	if t.container == nil {
		if t.container, err = t.newContainer(); err != nil {
			return "", nil, nil, err
		}
		t.container.writable = append(t.container.writable, t.valueFiles()...)
	}
	c := t.container
	c.readOnly = slices.Concat(c.granted, t.launch.files)
	if dir := t.session.artifacts(); dir != "" && !c.mounts(dir) {
		c.readOnly = append(c.readOnly, dir)
	}
	var clientVars []string
	c.env = nil
	for _, kv := range slices.Concat(t.env, t.launch.env) {
		name := nameOf(kv)
		if isClientVariable(name) {
			clientVars = append(clientVars, kv)
			continue
		}
		c.env, env = append(c.env, name), append(env, kv)
	}
	if err := t.writeContainerEnv(clientVars); err != nil {
		return "", nil, nil, err
	}
	return c.program, c.argv(t.launch.argv), t.session.inherits.with(env), nil
}

// newContainer determines the options of the attempt's container.
func (t *attempt) newContainer() (*container, error) {
	program, err := containerProgram(lookup(t.session.inherits.list, "PATH"))
	if err != nil {
		return nil, startError{127, fmt.Sprintf("cannot start the step: cannot provide isolation: container: %v", err)}
	}
	c := &container{program: program, name: "flowrun-" + strings.ToLower(rand.Text()), image: t.confine.Image,
		tty: t.tty != nil, network: t.confine.Network, limits: t.confine.Limits, noCore: !t.session.mask.Empty(), dir: t.dir,
		run: t.session.options.Run, step: string(t.call.Path)}
	if uid := os.Getuid(); uid >= 0 {
		c.user = fmt.Sprintf("%d:%d", uid, os.Getgid())
	}
	if t.confine.Enforced {
		c.mountGranted(t.confine.Grants)
		if temp := t.frame.Temp(); temp != "" {
			c.writable = append(c.writable, temp)
		}
		if !c.mounts(t.dir) {
			c.empty = t.dir
		}
		return c, nil
	}
	for _, dir := range []string{t.frame.Resolve("."), t.dir, t.frame.Temp()} {
		switch {
		case dir == "" || slices.ContainsFunc(c.writable, func(up string) bool { return within(dir, up) }):
		case dir == string(filepath.Separator):
			return nil, startError{126, "cannot start the step: / cannot be the workspace or working directory of a container; run it in another folder"}
		case !isFolder(dir):
			return nil, startError{127, fmt.Sprintf("cannot start the step: its directory %q does not exist; create it, or change working-directory", dir)}
		default:
			c.writable = append(c.writable, dir)
		}
	}
	return c, nil
}

// mountGranted mounts the files that permissions list, as far as they exist. A container cannot keep a
// step from reading what it may write, or from executing what it may read.
func (c *container) mountGranted(g permission.Grants) {
	read, write, execute := g.Files()
	for _, path := range write {
		if isThere(path) && !c.mounts(path) {
			c.writable = append(c.writable, path)
		}
	}
	for _, path := range slices.Concat(read, execute) {
		if isThere(path) && !c.mounts(path) {
			c.granted = append(c.granted, path)
		}
	}
}

// mounts reports whether a path is in what is mounted.
func (c *container) mounts(path string) bool {
	return slices.ContainsFunc(slices.Concat(c.writable, c.granted), func(up string) bool { return within(path, up) })
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// within reports whether a path is a folder or is in it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// writeContainerEnv writes variables that the container program would use itself to an env file for
// the container.
func (t *attempt) writeContainerEnv(env []string) error {
	if len(env) == 0 {
		return nil
	}
	for _, kv := range env {
		if strings.ContainsAny(kv, "\n\r") {
			return inputError{fmt.Errorf("cannot pass the variable %s to the container: its value has several lines, and %s uses this name itself; use another name",
				nameOf(kv), filepath.Base(t.container.program))}
		}
	}
	path, err := t.session.secretFile("environment-*", strings.Join(env, "\n")+"\n")
	if err != nil {
		return err
	}
	t.container.envFile = path
	t.envFile = path
	return nil
}

// explainContainer adds a message for the exit codes of container programs.
func (t *attempt) explainContainer(r *dag.Result) {
	if t.container == nil || r.Message != "" {
		return
	}
	switch r.ExitCode {
	case 125:
		r.Message = fmt.Sprintf("%s could not start the container (see stderr), or the command itself ended with 125", filepath.Base(t.container.program))
	case 126, 127:
		r.Message = fmt.Sprintf("a program was not found in the image %s, or is not executable; to use another image: security.image", t.container.image)
	}
}

// removeBound is how long it may take to remove a container by force.
const removeBound = 30 * time.Second

// endContainer removes the container of an attempt whose container program was killed and so could
// not remove it.
func (t *attempt) endContainer() {
	if t.container == nil {
		return
	}
	if err := t.removeContainer(); err != nil {
		t.session.Notify(Notice{Code: NoticeEscaped, Step: t.call.Path, Message: fmt.Sprintf(
			"the container %s may still be running: %v; to stop it: %s rm --force %s", t.container.name, err, filepath.Base(t.container.program), t.container.name)})
	}
}

func (t *attempt) removeContainer() error {
	out, err := t.session.secretFile("removed-*", "")
	if err != nil {
		return err
	}
	defer os.Remove(out)
	f, err := os.OpenFile(out, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	program := t.container.program
	p, err := t.session.host.Start(proc.Spec{Step: string(t.call.Path), Path: program, Args: []string{program, "rm", "--force", t.container.name},
		Env: t.session.inherits.with(t.markVariables()), Files: [3]*os.File{t.session.null, f, f}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	exit, err := p.Wait(ctx)
	if err != nil {
		p.Stop(0, nil)
		return fmt.Errorf("%s rm did not respond within %v", filepath.Base(program), removeBound)
	}
	output, _ := os.ReadFile(out)
	if exit.Code == 0 || alreadyRemoved(output) {
		return nil
	}
	return fmt.Errorf("%s rm: %s", filepath.Base(program), bytes.TrimSpace(output))
}

// alreadyRemoved reports whether the container program refused to remove a container because it no
// longer exists.
func alreadyRemoved(output []byte) bool {
	output = bytes.ToLower(output)
	return bytes.Contains(output, []byte("no such container")) || bytes.Contains(output, []byte("already in progress")) ||
		bytes.Contains(output, []byte("no container with name"))
}
