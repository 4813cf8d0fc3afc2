package steps

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/os/proc"
)

// reasonService is the reason of a step that could not start because a service beside it was not ready.
const reasonService = "service"

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

// serviceError says why a service is not ready.
type serviceError struct{ error }

// startServices starts the services of the command and waits until they are ready. It returns a Result if they are not:
// then the command does not start.
func (t *attempt) startServices(ctx context.Context) (*dag.Result, error) {
	err := t.addSecrets()
	if err == nil {
		err = t.openServices(ctx)
	}
	var failed serviceError
	switch {
	case err == nil:
		return nil, nil
	case ctx.Err() != nil:
		r := dag.Result{Status: dag.Failed, ExitCode: dag.ExitCancelled}
		return &r, t.attachLogs(&r)
	case errors.As(err, &failed):
		r := dag.Result{Status: dag.Failed, ExitCode: 1, Reason: reasonService, Message: err.Error()}
		return &r, t.attachLogs(&r)
	}
	return nil, startFailure(err)
}

func (t *attempt) openServices(ctx context.Context) (err error) {
	for _, why := range t.Container.Refused(t.frame.Confinement()) {
		return startError{126, fmt.Sprintf("cannot start the step: %v", why)}
	}
	t.services = &services{}
	if t.services.program, err = t.findContainerProgram(); err != nil {
		return err
	}
	if err := t.writeHosts(); err != nil {
		return err
	}
	for i := range t.Container.Services {
		s, err := t.startService(&t.Container.Services[i])
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
func (t *attempt) writeHosts() (err error) {
	names := []string{"localhost"}
	for _, s := range t.Container.Services {
		names = append(names, s.Name)
	}
	line := strings.Join(names, " ") + "\n"
	if t.services.hosts, err = t.session.secretFile("hosts-*", "127.0.0.1 "+line+"::1 localhost\n"); err != nil {
		return err
	}
	return os.Chmod(t.services.hosts, 0o644)
}

func (s *services) hostsMount() string { return mountAt(s.hosts, "/etc/hosts", "readonly") }

// startService starts the container of a service.
func (t *attempt) startService(def *Service) (*service, error) {
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
		text, err := a.Text(t.scope)
		if err != nil {
			return nil, inputError{fmt.Errorf("cannot use the arguments of the service %s: %w", def.Name, err)}
		}
		argv = append(argv, text)
	}
	if s.log, err = t.session.secretFile("service-*", ""); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(s.log, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	p, err := t.session.host.Start(proc.Spec{Step: string(t.call.Path), Path: c.program, Args: argv, Env: env,
		Detach: true, Bound: true, Files: [3]*os.File{t.session.null, log, log}, NoCore: c.noCore})
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
func (t *attempt) serviceContainer(def *Service) (c *container, env []string, err error) {
	c = &container{program: t.services.program, name: containerName(), image: def.Image, guest: def.User, pull: t.Container.Pull,
		network: t.confine.Network, limits: t.confine.Limits, noCore: !t.session.mask.Empty(), run: t.session.options.Run, step: string(t.call.Path)}
	if list := t.services.list; len(list) > 0 {
		c.joined = list[0].name
	}
	var own, ofProgram []string
	for _, v := range def.Env {
		text, err := v.Value.Text(t.scope)
		if err != nil {
			return nil, nil, inputError{fmt.Errorf("cannot set the variable %s of the service %s: %w", v.Name, def.Name, err)}
		}
		if isClientVariable(v.Name) {
			ofProgram = append(ofProgram, v.Name+"="+text)
			continue
		}
		own = append(own, v.Name+"="+text)
	}
	own = append(own, t.markVariables()...)
	for _, kv := range own {
		c.env = append(c.env, nameOf(kv))
	}
	c.envFile, err = t.containerEnvFile(c.program, ofProgram)
	return c, t.session.inherits.with(own), err
}

// runningInterval is the time between two questions whether a container runs.
const runningInterval = 50 * time.Millisecond

// awaitRunning waits until the container of a service runs.
func (t *attempt) awaitRunning(ctx context.Context, s *service) error {
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
func (t *attempt) awaitHealth(ctx context.Context, s *service) error {
	h := s.def.Health
	if h == nil {
		return nil
	}
	words, err := h.Command.Argv(t.scope)
	if err != nil {
		return inputError{fmt.Errorf("cannot use the health check of the service %s: %w", s.def.Name, err)}
	}
	for failed := 0; ; failed++ {
		healthy, out, err := t.checkHealth(ctx, s, words)
		switch {
		case err != nil:
			return err
		case healthy:
			return nil
		case failed == h.Retries:
			return serviceError{fmt.Errorf("the service %s is not healthy after %d checks: %s", s.def.Name, failed+1, out)}
		}
		if err := t.pause(ctx, s, h.Interval); err != nil {
			return err
		}
	}
}

// checkHealth runs the health check of a service once. out is what it printed, in one line.
func (t *attempt) checkHealth(ctx context.Context, s *service, words []string) (healthy bool, out string, err error) {
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
func (t *attempt) pause(ctx context.Context, s *service, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-s.ended:
		return serviceError{fmt.Errorf("the service %s ended before it was ready: exit code %d (see stderr)", s.def.Name, s.exit.Code)}
	}
}

// maxServiceLog is how much of the log of a service is kept, in bytes.
const maxServiceLog = 64 << 10

// logs returns the end of what the services have printed, each line with the name of its service.
func (s *services) logs() string {
	var b strings.Builder
	for _, one := range s.list {
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

// attachLogs makes the logs of the services the stderr of a command that did not start.
func (t *attempt) attachLogs(r *dag.Result) (err error) {
	if t.services != nil {
		r.Stderr, err = t.session.Stream(t.call.Path, t.call.Attempt, Stderr, t.services.logs())
	}
	return err
}

// printServices adds the logs of the services to the stderr of a command that has failed. It closes this process's end of
// that stream.
func (t *start) printServices(failed bool) {
	if t.services == nil {
		return
	}
	if failed {
		_, _ = io.WriteString(t.streams[1].end, t.services.logs()) // a stream that cannot be written loses the logs
	}
	t.streams[1].closeEnd()
}

// endServices removes the services. Those that use the network of the first are removed before it.
func (t *attempt) endServices() {
	if t.services == nil {
		return
	}
	for _, s := range slices.Backward(t.services.list) {
		if err := t.endService(s); err != nil {
			t.session.Notify(notice.Notice{Code: notice.Escaped, Step: t.call.Path, Message: fmt.Sprintf("the service %s may still be running: %v; to stop it: %s rm --force %s",
				s.def.Name, err, filepath.Base(t.services.program), s.name)})
		}
		os.Remove(s.log)
		if s.envFile != "" {
			os.Remove(s.envFile)
		}
	}
	os.Remove(t.services.hosts)
}

func (t *attempt) endService(s *service) error {
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
func (t *attempt) findContainerProgram() (string, error) {
	program, err := confinement.ContainerProgram(lookup(t.session.inherits.list, "PATH"))
	if err != nil {
		return "", startError{127, fmt.Sprintf("cannot start the step: cannot provide a container: %v", err)}
	}
	return program, nil
}
