// Package container runs the command of a step in a container, with services beside it.
package container

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/os/procid"
)

// Runner runs the containers of one attempt.
type Runner struct {
	place.Machine
	Definition *Definition             // nil: the command has none of its own, but its tool is isolated
	Confine    confinement.Confinement // of the command
	Tool       confinement.Confinement
	Scope      expr.Scope
	Resolve    func(path string) string
	Temp       string // temporary folder of the run, or ""
	services   services
	own        *container // of the command; nil: not made yet
}

// Command is what runs in a container.
type Command struct {
	Argv, Environ []string
	Dir           string
	TTY           bool
	Read, Write   []string // files of its own
	Artifacts     string   // folder with what earlier steps have kept; "": none
}

// container is the container of one start. A program such as podman starts it, and its first
// process is the command of the step.
type container struct {
	program  string // path of podman or docker
	name     string
	image    string
	tty      bool
	network  bool
	limits   confinement.Limits
	noCore   bool     // its processes leave no core dump
	user     string   // UID:GID; "": the user of the image
	dir      string   // working directory
	writable []string // folders and files that are writable and have the same path inside and outside
	granted  []string // the same, read-only, by permissions that are enforced
	readOnly []string // the same, with the files of the step
	empty    string   // folder in memory that is the working directory; "": none
	mounts   []string // values of --mount for what the step mounts
	guest    string   // user that the definition names, in place of user; "": none
	joined   string   // name of the container whose network it has; "": it has its own
	pull     string   // when the image is downloaded; "": when it is missing
	asIs     bool     // the command is arguments of the image's own entry point
	env      []string // names of variables whose values are in the environment of the program
	envFile  string   // file with the variables that the program would use itself; "": none
	run      string
	step     string
}

const containerPrefix = "flowrun-"

// containerName returns a new name of a container. It says which process owns the container.
func containerName(d procid.Domain) string {
	return containerPrefix + d.Tag() + "-" + strings.ToLower(rand.Text())
}

// abandonedContainer reports whether the owner of a container with this name was killed.
func abandonedContainer(name string, d procid.Domain) bool {
	tag, _, _ := strings.Cut(strings.TrimPrefix(name, containerPrefix), "-")
	return strings.HasPrefix(name, containerPrefix) && d.Abandoned(tag)
}

// argv returns the command line that runs command in the container. It contains no values, because
// everybody can see it in the process table.
func (c *container) argv(command []string) []string {
	argv := append(c.start(), "--interactive", "--read-only", "--tmpfs", "/tmp:rw,exec,mode=1777")
	add := func(when bool, words ...string) {
		if when {
			argv = append(argv, words...)
		}
	}
	add(c.tty, "--tty")
	argv = append(argv, c.userOptions()...)
	for _, path := range c.writable {
		add(true, "--mount", mountOption(path))
	}
	for _, path := range c.readOnly {
		add(true, "--mount", mountOption(path, "readonly"))
	}
	add(c.empty != "", "--mount", tmpfsOption(c.empty))
	for _, value := range c.mounts {
		add(true, "--mount", value)
	}
	add(c.dir != "", "--workdir", c.dir)
	if !slices.Contains(c.env, "HOME") {
		add(true, "--env", "HOME=/tmp") // the user has no home in the image
	}
	for _, name := range c.env {
		add(true, "--env", name)
	}
	add(c.envFile != "", "--env-file", c.envFile)
	if c.asIs {
		return append(append(argv, c.image), command...)
	}
	add(true, "--entrypoint", command[0], c.image)
	return append(argv, command[1:]...)
}

// start returns the part of the command line that a container has in common with those of services.
func (c *container) start() []string {
	argv := []string{c.program, "run", "--rm", "--name", c.name, "--label", "flowrun.run=" + c.run, "--label", "flowrun.step=" + c.step,
		"--log-driver", "none", // the output is kept as output of the step, and nowhere else
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges"}
	switch {
	case c.limits.MaxProcesses > 0:
		argv = append(argv, "--pids-limit", fmt.Sprint(c.limits.MaxProcesses))
	case !isPodman(c.program): // podman sets its own, if it can count processes
		argv = append(argv, "--pids-limit", "2048")
	}
	switch {
	case c.joined != "":
		argv = append(argv, "--network", "container:"+c.joined)
	case !c.network:
		argv = append(argv, "--network", "none")
	}
	if c.pull != "" {
		argv = append(argv, "--pull", c.pull)
	}
	argv = append(argv, limitOptions(c.limits)...)
	if c.noCore {
		argv = append(argv, "--ulimit", "core=1:1")
	}
	return argv
}

func isPodman(program string) bool { return strings.HasPrefix(filepath.Base(program), "podman") }

// userOptions returns the options for the user of the processes. Without more, podman maps a user who is not root to
// root in the container, and all others to users that have no files outside.
func (c *container) userOptions() []string {
	mapped := isPodman(c.program) && c.user != "" && !strings.HasPrefix(c.user, "0:")
	switch {
	case c.guest != "":
		return []string{"--user", c.guest}
	case c.user == "":
		return nil
	case mapped && c.joined != "": // with keep-id it could not join the network of a container without it
		return []string{"--user", "0:0"}
	case mapped:
		return []string{"--user", c.user, "--userns", "keep-id"}
	}
	return []string{"--user", c.user}
}

// limitOptions returns the options of container programs for the limits. CPU time is limited for each
// process.
func limitOptions(l confinement.Limits) (list []string) {
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
func mountOption(path string, more ...string) string { return mountAt(path, path, more...) }

// mountAt returns the value of --mount for a path of this machine that has another path in the container.
func mountAt(path, target string, more ...string) string {
	return mountFields(append([]string{"type=bind", "source=" + path, "target=" + target}, more...))
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

// Spec returns the process that runs a command in a container. It is called again for a second try. The process is
// detached, because processes that a container program leaves are still removing the container.
func (t *Runner) Spec(cmd Command) (spec proc.Spec, err error) {
	if t.own == nil {
		if t.own, err = t.newContainer(cmd.Dir, cmd.TTY); err != nil {
			return spec, err
		}
		t.own.writable = append(t.own.writable, cmd.Write...)
	}
	c := t.own
	c.readOnly = slices.Concat(c.granted, cmd.Read)
	if cmd.Artifacts != "" && !c.covers(cmd.Artifacts) {
		c.readOnly = append(c.readOnly, cmd.Artifacts)
	}
	var env []string
	var clientVars []string
	c.env = nil
	for _, kv := range cmd.Environ {
		name := nameOf(kv)
		if isClientVariable(name) {
			clientVars = append(clientVars, kv)
			continue
		}
		c.env, env = append(c.env, name), append(env, kv)
	}
	c.removeEnvFile()
	if c.envFile, err = t.containerEnvFile(c.program, clientVars); err != nil {
		return spec, err
	}
	return proc.Spec{Path: c.program, Args: c.argv(cmd.Argv), Env: t.Environ(env), Detach: true}, nil
}

// newContainer determines the options of the container of the command.
func (t *Runner) newContainer(dir string, tty bool) (*container, error) {
	program, err := t.findContainerProgram()
	if err != nil {
		return nil, err
	}
	c := &container{program: program, name: containerName(t.Host.Domain()), image: t.Confine.Image,
		tty: tty, network: t.Confine.Network, limits: t.Confine.Limits, noCore: t.NoCore(), dir: dir,
		run: t.Run, step: string(t.Step)}
	if uid := os.Getuid(); uid >= 0 {
		c.user = fmt.Sprintf("%d:%d", uid, os.Getgid())
	}
	if t.Confine.Enforced {
		c.mountGranted(t.Confine.Grants)
		if temp := t.Temp; temp != "" {
			c.writable = append(c.writable, temp)
		}
		if !c.covers(dir) {
			c.empty = dir
		}
		return c, t.applyContainer(c)
	}
	for _, dir := range []string{t.Resolve("."), dir, t.Temp} {
		switch {
		case dir == "" || slices.ContainsFunc(c.writable, func(up string) bool { return within(dir, up) }):
		case dir == string(filepath.Separator):
			return nil, place.CannotStart(126, "cannot start the step: / cannot be the workspace or working directory of a container; run it in another folder")
		case !isFolder(dir):
			return nil, place.NoFolder("directory", dir)
		default:
			c.writable = append(c.writable, dir)
		}
	}
	return c, t.applyContainer(c)
}

// mountGranted mounts the files that permissions list, as far as they exist. A container cannot keep a
// step from reading what it may write, or from executing what it may read.
func (c *container) mountGranted(g permission.Grants) {
	read, write, execute := g.Files()
	for _, path := range write {
		if isThere(path) && !c.covers(path) {
			c.writable = append(c.writable, path)
		}
	}
	for _, path := range slices.Concat(read, execute) {
		if isThere(path) && !c.covers(path) {
			c.granted = append(c.granted, path)
		}
	}
}

// covers reports whether a path is in what is mounted at the same path.
func (c *container) covers(path string) bool {
	return slices.ContainsFunc(slices.Concat(c.writable, c.granted), func(up string) bool { return within(path, up) })
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// nameOf returns the name in K=V.
func nameOf(kv string) string {
	name, _, _ := strings.Cut(kv, "=")
	return name
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

// containerEnvFile writes variables that the container program would use itself to an env file for a container. It
// returns "" if there are none.
func (t *Runner) containerEnvFile(program string, env []string) (path string, err error) {
	if len(env) == 0 {
		return "", nil
	}
	for _, kv := range env {
		if strings.ContainsAny(kv, "\n\r") {
			return "", place.BadInput(fmt.Errorf("cannot pass the variable %s to the container: its value has several lines, and %s uses this name itself; use another name",
				nameOf(kv), filepath.Base(program)))
		}
	}
	return t.File("environment-*", strings.Join(env, "\n")+"\n")
}

// codeKilled is the exit code of a program that the kernel has killed.
const codeKilled = 128 + 9

// Explain adds a message for the exit codes of container programs.
func (t *Runner) Explain(r *dag.Result) {
	switch most := t.Confine.MaxMemory; {
	case most > 0 && r.ExitCode == codeKilled:
		r.Message = fmt.Sprintf("ended by KILL, probably because the memory limit of %s was exceeded; raise resources.max-memory, or make the step use less memory", confinement.SizeText(most))
	case r.Message != "":
	case r.ExitCode == 125:
		r.Message = fmt.Sprintf("%s could not start the container (see stderr), or the command itself ended with 125", filepath.Base(t.own.program))
	case r.ExitCode == 126 || r.ExitCode == 127:
		r.Message = fmt.Sprintf("a program was not found in the image %s, or is not executable; to use another image: %s", t.own.image, t.imageKey())
	}
}

// Close ends what Spec has begun.
func (t *Runner) Close() {
	if t.own != nil {
		t.own.removeEnvFile()
	}
	t.own = nil
}

func (c *container) removeEnvFile() {
	if c.envFile != "" {
		os.Remove(c.envFile)
	}
}

// removeBound is how long it may take to remove a container by force.
const removeBound = 30 * time.Second

// End removes the container of a command whose container program was killed and so could
// not remove it.
func (t *Runner) End() {
	c := t.own
	if err := t.removeContainer(c.program, c.name); err != nil {
		t.Notify(notice.Notice{Code: notice.Escaped, Step: t.Step, Message: fmt.Sprintf(
			"the container %s may still be running: %v; to stop it: %s rm --force %s", c.name, err, filepath.Base(c.program), c.name)})
	}
}

func (t *Runner) removeContainer(program, container string) error {
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	name := filepath.Base(program)
	code, output, err := t.askProgram(ctx, program, "rm", "--force", container)
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("%s rm did not respond within %v", name, removeBound)
	case err != nil:
		return err
	case code == 0 || alreadyRemoved(output):
		return nil
	}
	return fmt.Errorf("%s rm: %s", name, bytes.TrimSpace(output))
}

// askedStep is what follows the path of a step in the mark of a program that askProgram runs.
const askedStep = "@container"

// askProgram runs a container program and returns its exit code and what it printed.
func (t *Runner) askProgram(ctx context.Context, program string, words ...string) (code int, output []byte, err error) {
	out, err := t.File("asked-*", "")
	if err != nil {
		return 0, nil, err
	}
	defer os.Remove(out)
	f, err := os.OpenFile(out, os.O_WRONLY, 0)
	if err != nil {
		return 0, nil, err
	}
	defer f.Close()
	// With a mark of its own: to stop it would otherwise end all processes of the step, the services among them.
	step := string(t.Step) + askedStep
	p, err := t.Host.Start(proc.Spec{Step: step, Path: program, Args: append([]string{program}, words...),
		Env: t.Environ(t.Marks, []string{procid.MarkStep + "=" + step}), Files: [3]*os.File{t.Null, f, f}, Detach: true, Bound: true})
	if err != nil {
		return 0, nil, err
	}
	exit, err := p.Wait(ctx)
	if err != nil {
		p.Stop(0, nil)
		return 0, nil, err
	}
	output, _ = os.ReadFile(out)
	return exit.Code, output, nil
}

// alreadyRemoved reports whether the container program refused to remove a container because it no
// longer exists.
func alreadyRemoved(output []byte) bool {
	output = bytes.ToLower(output)
	return bytes.Contains(output, []byte("no such container")) || bytes.Contains(output, []byte("already in progress")) ||
		bytes.Contains(output, []byte("no container with name"))
}
