package browsertest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// service is a running flowrun serve with a project and a state folder of its own.
type service struct {
	dir    string
	url    string // http://127.0.0.1:PORT
	cmd    *exec.Cmd
	log    *bytes.Buffer
	client http.Client // over the Unix socket, so without a token
}

// startService starts a service in a new project with the definitions in the folder tools.
func startService(dir, tools string, flags ...string) (*service, error) {
	s := &service{dir: dir}
	into, config := filepath.Join(dir, ".flowrun", "tools"), filepath.Join(dir, "config", "flowrun")
	if err := errors.Join(os.MkdirAll(into, 0o755), os.CopyFS(into, os.DirFS(tools)), writeMany(into),
		os.MkdirAll(config, 0o755), os.WriteFile(filepath.Join(config, "config.yaml"), []byte("pools: {gpu: 2}\n"), 0o600)); err != nil {
		return nil, err
	}
	return s, s.start("127.0.0.1:0", flags...)
}

// start starts the service, or starts it again at the same address.
func (s *service) start(listen string, flags ...string) error {
	s.log = new(bytes.Buffer)
	s.cmd = s.command(append([]string{"serve", "--listen", listen, "--drain", "0s"}, flags...)...)
	s.cmd.Stderr = s.log
	out, err := os.CreateTemp(s.dir, "log")
	if err != nil {
		return err
	}
	s.cmd.Stderr = out
	if err := s.cmd.Start(); err != nil {
		return err
	}
	socket := filepath.Join(s.dir, "state", "service.sock")
	s.client = http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	for until := time.Now().Add(20 * time.Second); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		text, _ := os.ReadFile(out.Name())
		_, rest, found := strings.Cut(string(text), "listening on ")
		if at, _, whole := strings.Cut(rest, "\n"); found && whole {
			s.url = at
			if _, err := s.call("GET", "/readyz", nil); err == nil {
				return nil
			}
		}
	}
	text, _ := os.ReadFile(out.Name())
	return fmt.Errorf("the service does not start: %s", text)
}

// command returns a command of flowrun in the project.
func (s *service) command(args ...string) *exec.Cmd {
	c := exec.Command(program, args...)
	c.Dir = s.dir
	c.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(s.dir, "state"), "HOME="+s.dir, "XDG_CONFIG_HOME="+filepath.Join(s.dir, "config"), "CI=")
	return c
}

// flowrun runs a command of flowrun in the project, and returns its output.
func (s *service) flowrun(args ...string) (string, error) {
	c := s.command(args...)
	var out, report bytes.Buffer
	c.Stdout, c.Stderr = &out, &report
	if err := c.Run(); err != nil {
		return "", fmt.Errorf("flowrun %s: %w\n%s", strings.Join(args, " "), err, report.String())
	}
	return strings.TrimSpace(out.String()), nil
}

// stop ends the service.
func (s *service) stop() {
	s.client.CloseIdleConnections()
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	done := make(chan struct{})
	go func() { _ = s.cmd.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		_ = s.cmd.Process.Kill()
		<-done
	}
}

// call sends a request over the Unix socket.
func (s *service) call(method, path string, body any) (map[string]any, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	if body == nil {
		text = nil
	}
	r, err := http.NewRequest(method, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	if body != nil {
		r.Header.Set("Content-Type", "application/json")
	}
	res, err := s.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, err
	}
	if res.StatusCode >= 300 {
		return nil, fmt.Errorf("%s %s: %d %s", method, path, res.StatusCode, answer)
	}
	doc := map[string]any{}
	return doc, json.Unmarshal(answer, &doc)
}

// startRun starts a tool and returns the id of the run.
func (s *service) startRun(tool string, params map[string]any) (string, error) {
	doc, err := s.call("POST", "/api/v1/runs", map[string]any{"tool": tool, "params": params})
	id, _ := doc["id"].(string)
	return id, err
}

// await waits until a run has a status.
func (s *service) await(id, status string) error {
	var now, why any
	for until := time.Now().Add(time.Minute); time.Now().Before(until); time.Sleep(20 * time.Millisecond) {
		doc, err := s.call("GET", "/api/v1/runs/"+id, nil)
		if err != nil {
			return err
		}
		if now, why = doc["status"], doc["message"]; now == status {
			return nil
		}
	}
	return fmt.Errorf("run %s is %v, not %s: %v", id, now, status, why)
}

// loginLink returns a sign-in link.
func (s *service) loginLink() (string, error) {
	doc, err := s.call("POST", "/api/v1/login-link", map[string]any{})
	link, _ := doc["url"].(string)
	return link, err
}

// parallel calls f n times, several at once.
func parallel(n int, f func(i int) error) error {
	var work sync.WaitGroup
	errs, next := make([]error, n), make(chan int)
	for range 6 {
		work.Go(func() {
			for i := range next {
				errs[i] = f(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	work.Wait()
	return errors.Join(errs...)
}
