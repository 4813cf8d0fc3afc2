package container

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/place"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// ReasonService is the reason of a step that could not start because a service beside it was not ready.
const ReasonService = "service"

// services are the containers beside that of a command. They share one network, which is that of the first of them, so
// that they reach each other on the loopback interface. No program for name resolution is needed: each container has the
// same file of hosts.
type services struct {
	program string
	hosts   string // file with their names
	list    []*service
}

// service is a running container. Its container program runs as long as it does.
type service struct {
	def     *Service
	name    string // of the container
	log     string // file with its output
	envFile string // "": none
	stop    context.CancelFunc
	ended   chan struct{}
	exit    proc.Exit // valid once ended is closed
}

// ServiceError says why a service is not ready.
type ServiceError struct{ error }

// Start starts the services of the command and waits until they are ready.
func (t *Runner) Start(ctx context.Context) (err error) {
	for _, why := range t.Definition.Refused(t.Tool) {
		return place.CannotStart(126, "cannot start the step: %v", why)
	}
	if t.services.program, err = t.findContainerProgram(); err != nil {
		return err
	}
	if err := t.writeHosts(); err != nil {
		return err
	}
	for i := range t.Definition.Services {
		s, err := t.startService(&t.Definition.Services[i])
		if err != nil {
			return err
		}
		if err := t.awaitRunning(ctx, s); err != nil { // the next one joins the network of the first
			return err
		}
	}
	for _, s := range t.services.list {
		if err := t.awaitHealth(ctx, s); err != nil {
			return err
		}
	}
	return nil
}

// writeHosts writes the file of hosts. Users of images that have none of the rights of this one read it.
func (t *Runner) writeHosts() (err error) {
	names := []string{"localhost"}
	for _, s := range t.Definition.Services {
		names = append(names, s.Name)
	}
	line := strings.Join(names, " ") + "\n"
	if t.services.hosts, err = t.File("hosts-*", "127.0.0.1 "+line+"::1 localhost\n"); err != nil {
		return err
	}
	return os.Chmod(t.services.hosts, 0o644)
}

func (s *services) hostsMount() string { return mountAt(s.hosts, "/etc/hosts", "readonly") }

// startService starts the container of a service.
func (t *Runner) startService(def *Service) (*service, error) {
	c, env, err := t.serviceContainer(def)
	if err != nil {
		return nil, err
	}
	s := &service{def: def, name: c.name, envFile: c.envFile, ended: make(chan struct{})}
	argv := append(c.start(), c.userOptions()...)
	argv = append(argv, "--label", "flowrun.service="+def.Name, "--mount", t.services.hostsMount())
	for _, name := range c.env {
		argv = append(argv, "--env", name)
	}
	if c.envFile != "" {
		argv = append(argv, "--env-file", c.envFile)
	}
	argv = append(argv, c.image)
	for _, a := range def.Arguments {
		text, err := a.Text(t.Scope)
		if err != nil {
			return nil, place.BadInput(fmt.Errorf("cannot use the arguments of the service %s: %w", def.Name, err))
		}
		argv = append(argv, text)
	}
	if s.log, err = t.File("service-*", ""); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p, err := t.Host.Start(proc.Spec{Step: string(t.Step), Path: c.program, Args: argv, Env: env,
		Detach: true, Bound: true, Files: [3]*os.File{t.Null, log, log}, NoCore: c.noCore})
	if err != nil {
		return nil, err
	}
	t.services.list = append(t.services.list, s)
	ctx, stop := context.WithCancel(context.Background())
	s.stop = stop
	go func() {
		defer close(s.ended)
		exit, err := p.Wait(ctx)
		if err != nil {
			exit, _ = p.Stop(0, nil)
		}
		s.exit = exit
	}()
	return s, nil
}

// serviceContainer returns the container of a service, and the environment of the program that starts it. Nothing of this
// machine is mounted in it, and what it writes is gone when it ends.
func (t *Runner) serviceContainer(def *Service) (c *container, env []string, err error) {
	c = &container{program: t.services.program, name: containerName(t.Host.Domain()), image: def.Image, guest: def.User, pull: t.Definition.Pull,
		network: t.Confine.Network, limits: t.Confine.Limits, noCore: t.NoCore(), run: t.Run, step: string(t.Step)}
	if list := t.services.list; len(list) > 0 {
		c.joined = list[0].name
	}
	var own, ofProgram []string
	for _, v := range def.Env {
		text, err := v.Value.Text(t.Scope)
		if err != nil {
			return nil, nil, place.BadInput(fmt.Errorf("cannot set the variable %s of the service %s: %w", v.Name, def.Name, err))
		}
		if isClientVariable(v.Name) {
			ofProgram = append(ofProgram, v.Name+"="+text)
			continue
		}
		own = append(own, v.Name+"="+text)
	}
	own = append(own, t.Marks...)
	for _, kv := range own {
		c.env = append(c.env, nameOf(kv))
	}
	c.envFile, err = t.containerEnvFile(c.program, ofProgram)
	return c, t.Environ(own), err
}

// runningInterval is the time between two questions whether a container runs.
const runningInterval = 50 * time.Millisecond

// awaitRunning waits until the container of a service runs.
func (t *Runner) awaitRunning(ctx context.Context, s *service) error {
	for {
		code, out, err := t.askProgram(ctx, t.services.program, "container", "inspect", "--format", "{{.State.Running}}", s.name)
		switch {
		case err != nil:
			return err
		case code == 0 && string(bytes.TrimSpace(out)) == "true":
			return nil
		}
		if err := t.pause(ctx, s, runningInterval); err != nil {
			return err
		}
	}
}

// awaitHealth waits until the health check of a service succeeds.
func (t *Runner) awaitHealth(ctx context.Context, s *service) error {
	h := s.def.Health
	if h == nil {
		return nil
	}
	words, err := h.Command.Argv(t.Scope)
	if err != nil {
		return place.BadInput(fmt.Errorf("cannot use the health check of the service %s: %w", s.def.Name, err))
	}
	for failed := 0; ; failed++ {
		healthy, out, err := t.checkHealth(ctx, s, words)
		switch {
		case err != nil:
			return err
		case healthy:
			return nil
		case failed == h.Retries:
			return ServiceError{fmt.Errorf("the service %s is not healthy after %d checks: %s", s.def.Name, failed+1, out)}
		}
		if err := t.pause(ctx, s, h.Interval); err != nil {
			return err
		}
	}
}

// checkHealth runs the health check of a service once. out is what it printed, in one line.
func (t *Runner) checkHealth(ctx context.Context, s *service, words []string) (healthy bool, out string, err error) {
	limited, cancel := context.WithTimeout(ctx, s.def.Health.Timeout)
	defer cancel()
	code, printed, err := t.askProgram(limited, t.services.program, append([]string{"exec", s.name}, words...)...)
	switch {
	case ctx.Err() != nil:
		return false, "", ctx.Err()
	case limited.Err() != nil:
		return false, fmt.Sprintf("it took longer than %v", s.def.Health.Timeout), nil
	case err != nil:
		return false, "", err
	}
	out = strings.Join(strings.Fields(string(tail(printed, 500))), " ")
	return code == 0, strings.TrimSuffix(fmt.Sprintf("exit code %d: %s", code, out), ": "), nil
}

// pause waits. It returns an error if the service has ended, or if ctx ends.
func (t *Runner) pause(ctx context.Context, s *service, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
		return ServiceError{fmt.Errorf("the service %s ended before it was ready: exit code %d (see stderr)", s.def.Name, s.exit.Code)}
	}
}

// maxServiceLog is how much of the log of a service is kept, in bytes.
const maxServiceLog = 64 << 10

// HasServices reports whether services were started.
func (t *Runner) HasServices() bool { return len(t.services.list) > 0 }

// Logs returns the end of what the services have printed, each line with the name of its service.
func (t *Runner) Logs() string {
	var b strings.Builder
	for _, one := range t.services.list {
		text, err := os.ReadFile(one.log)
		if err != nil {
			continue
		}
		for line := range strings.Lines(string(tail(text, maxServiceLog))) {
			fmt.Fprintf(&b, "[%s] %s\n", one.def.Name, strings.TrimSuffix(line, "\n"))
		}
	}
	return b.String()
}

// tail returns the last lines of a text that has more than limit bytes.
func tail(text []byte, limit int) []byte {
	if len(text) <= limit {
		return text
	}
	text = text[len(text)-limit:]
	return text[bytes.IndexByte(text, '\n')+1:]
}

// Stop removes the services. Those that use the network of the first are removed before it.
func (t *Runner) Stop() {
	for _, s := range slices.Backward(t.services.list) {
		if err := t.endService(s); err != nil {
			t.Notify(notice.Notice{Code: notice.Escaped, Step: t.Step, Message: fmt.Sprintf("the service %s may still be running: %v; to stop it: %s rm --force %s",
				s.def.Name, err, filepath.Base(t.services.program), s.name)})
		}
		os.Remove(s.log)
		if s.envFile != "" {
			os.Remove(s.envFile)
		}
	}
	os.Remove(t.services.hosts)
}

func (t *Runner) endService(s *service) error {
	defer s.stop()
	ctx, cancel := context.WithTimeout(context.Background(), removeBound)
	defer cancel()
	// Not rm --force alone: podman would give the service ten seconds, and nothing that it could save is kept.
	_, _, _ = t.askProgram(ctx, t.services.program, "kill", s.name)
	err := t.removeContainer(t.services.program, s.name)
	select {
	case <-s.ended:
	case <-ctx.Done():
	}
	return err
}

// findContainerProgram returns the program that starts containers.
func (t *Runner) findContainerProgram() (string, error) {
	program, err := confinement.ContainerProgram(t.Path)
	if err != nil {
		return "", place.CannotStart(127, "cannot start the step: cannot provide a container: %v", err)
	}
	return program, nil
}
