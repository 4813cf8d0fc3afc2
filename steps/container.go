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
	"github.com/flowrun/flowrun/internal/proc"
)

// container is one try's container: a program such as podman starts it, and
// its first process is the step's command.
type container struct {
	program string // file of podman or docker
	name    string
	image   string
	tty     bool
	network bool
	memory  int64    // bytes; 0 is no bound
	user    string   // UID:GID; "" is the image's
	dir     string   // where it starts
	mounts  []string // folders and files with the same path outside, that it may write to
	files   []string // the same, to read
	env     []string // names of variables, whose values the program has
	envFile string   // of variables that the program would take for its own; "" is none
	run     string
	step    string
}

// The programs that can start containers. Podman comes first: where it is, it works,
// while docker needs a service as well.
var containerPrograms = []string{"podman", "docker"}

// containerProgram is the file of the first that is found along a PATH.
func containerProgram(path string) (string, error) {
	if runtime.GOOS == "windows" {
		return "", errors.New("flowrun runs containers on Linux and macOS only")
	}
	for _, name := range containerPrograms {
		if file, err := search(name, path); err == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("neither %s found in PATH %q; install one", strings.Join(containerPrograms, " nor "), path)
}

// argv starts command in the container. Values never stand in it: they would be seen
// in the process table.
func (c *container) argv(command []string) []string {
	podman := strings.HasPrefix(filepath.Base(c.program), "podman")
	argv := []string{c.program, "run", "--rm", "--interactive", "--name", c.name,
		"--label", "flowrun.run=" + c.run, "--label", "flowrun.step=" + c.step,
		"--log-driver", "none", // what it prints is the step's output, and kept nowhere else
		"--read-only", "--tmpfs", "/tmp:rw,exec,mode=1777",
		"--cap-drop", "ALL", "--security-opt", "no-new-privileges"}
	add := func(when bool, words ...string) {
		if when {
			argv = append(argv, words...)
		}
	}
	add(!podman, "--pids-limit", "2048") // podman's own, where it can count processes
	add(c.tty, "--tty")
	add(!c.network, "--network", "none")
	add(c.memory > 0, "--memory", fmt.Sprint(c.memory), "--memory-swap", fmt.Sprint(c.memory))
	add(c.user != "", "--user", c.user)
	add(podman && c.user != "" && !strings.HasPrefix(c.user, "0:"), "--userns", "keep-id") // else the user is another outside
	for _, path := range c.mounts {
		add(true, "--mount", mountOption(path))
	}
	for _, path := range c.files {
		add(true, "--mount", mountOption(path, "readonly"))
	}
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

// mountOption is the value of --mount: fields as CSV has them, since a path may hold commas.
func mountOption(path string, more ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write(append([]string{"type=bind", "source=" + path, "target=" + path}, more...)) // a Builder takes all
	w.Flush()
	return strings.TrimSuffix(b.String(), "\n")
}

// clientNames are variables that mean something to the program that starts the
// container, and clientPrefixes how such names begin.
var (
	clientNames    = []string{"PATH", "HOME", "USER", "TMPDIR", "TMP", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"}
	clientPrefixes = []string{"DOCKER_", "CONTAINER", "PODMAN_", "BUILDAH_", "REGISTRY_", "STORAGE_", "XDG_", "LD_", "GO", "DBUS_", "SSL_", "SSH_"}
)

func isClientVariable(name string) bool {
	return slices.Contains(clientNames, name) ||
		slices.ContainsFunc(clientPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// containerInvocation puts the try's launch into a container.
func (t *attempt) containerInvocation() (file string, argv, env []string, err error) {
	if t.container == nil {
		if t.container, err = t.newContainer(); err != nil {
			return "", nil, nil, err
		}
	}
	c := t.container
	c.files = t.launch.files
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

// newContainer finds what the try's container is made of.
func (t *attempt) newContainer() (*container, error) {
	program, err := containerProgram(lookup(t.session.inherits.list, "PATH"))
	if err != nil {
		return nil, startError{127, fmt.Sprintf("cannot start the step: isolation: container cannot be kept: %v", err)}
	}
	c := &container{program: program, name: "flowrun-" + strings.ToLower(rand.Text()), image: t.confine.Image,
		tty: t.tty != nil, network: t.confine.Network, memory: t.confine.MaxMemory, dir: t.dir,
		run: t.session.options.Run, step: string(t.call.Path)}
	if uid := os.Getuid(); uid >= 0 {
		c.user = fmt.Sprintf("%d:%d", uid, os.Getgid())
	}
	for _, dir := range []string{t.frame.Resolve("."), t.dir, t.frame.Temp()} {
		switch {
		case dir == "" || slices.ContainsFunc(c.mounts, func(up string) bool { return within(dir, up) }):
		case dir == string(filepath.Separator):
			return nil, startError{126, "cannot start the step: / cannot be the workspace or working directory of a container; run it in another folder"}
		case !isFolder(dir):
			return nil, startError{127, fmt.Sprintf("cannot start the step: its directory %q is not there; make it, or change working-directory", dir)}
		default:
			c.mounts = append(c.mounts, dir)
		}
	}
	return c, nil
}

// within says whether a path lies in a folder, or is it.
func within(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// writeContainerEnv writes the variables that the container program would take for its own to
// a file for the container.
func (t *attempt) writeContainerEnv(env []string) error {
	if len(env) == 0 {
		return nil
	}
	for _, kv := range env {
		if strings.ContainsAny(kv, "\n\r") {
			return inputError{fmt.Errorf("cannot give the container the variable %s: its value has several lines, and the name means something to %s; use another name",
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

// explainContainer says what the exit codes of container programs mean.
func (t *attempt) explainContainer(r *dag.Result) {
	if t.container == nil || r.Message != "" {
		return
	}
	switch r.ExitCode {
	case 125:
		r.Message = fmt.Sprintf("%s could not start the container: see stderr; or the command itself ended with 125", filepath.Base(t.container.program))
	case 126, 127:
		r.Message = fmt.Sprintf("a program was not found, or may not be executed, in the image %s; security.image chooses another", t.container.image)
	}
}

// removeBound is how long it may take to end a container by force.
const removeBound = 30 * time.Second

// endContainer ends the container of a try whose program was ended before it: that one
// cannot do it any more.
func (t *attempt) endContainer() {
	if t.container == nil {
		return
	}
	if err := t.removeContainer(); err != nil {
		t.session.Notify(Notice{Code: NoticeEscaped, Step: t.call.Path, Message: fmt.Sprintf(
			"the container %s may still run: %v; end it by %s rm --force %s", t.container.name, err, filepath.Base(t.container.program), t.container.name)})
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
		return fmt.Errorf("%s rm did not answer within %v", filepath.Base(program), removeBound)
	}
	output, _ := os.ReadFile(out)
	if exit.Code == 0 || alreadyRemoved(output) {
		return nil
	}
	return fmt.Errorf("%s rm: %s", filepath.Base(program), bytes.TrimSpace(output))
}

// alreadyRemoved says whether a refusal to remove a container means that there is none.
func alreadyRemoved(output []byte) bool {
	output = bytes.ToLower(output)
	return bytes.Contains(output, []byte("no such container")) || bytes.Contains(output, []byte("already in progress")) ||
		bytes.Contains(output, []byte("no container with name"))
}
