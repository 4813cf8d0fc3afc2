package cli_test

import (
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/waittest"
)

// served is a flowrun serve in a process of its own.
type served struct {
	t    *testing.T
	cmd  *exec.Cmd
	url  string
	dir  string
	mu   sync.Mutex
	text strings.Builder
}

func serveIn(t *testing.T, dir string, args ...string) *served {
	t.Helper()
	return serveWith(t, func(*served) {}, dir, args...)
}

// serveWith is serveIn with a change of the command before it starts.
func serveWith(t *testing.T, change func(*served), dir string, args ...string) *served {
	t.Helper()
	s := &served{t: t, dir: dir, cmd: exec.Command("flowrun", append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)}
	s.cmd.Dir = dir
	s.cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "s"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "FLOWRUN_TOKEN=a-token-for-tests")
	s.cmd.Stderr = s // with a pipe, Wait would lose what nobody has read yet
	change(s)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.cmd.Process.Kill(); s.cmd.Wait() })
	s.url = strings.TrimPrefix(s.says(`listening on (http://\S+)`), "listening on ")
	return s
}

// Write adds what the service prints to stderr.
func (s *served) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// says waits for something on stderr.
func (s *served) says(pattern string) string {
	s.t.Helper()
	var text, found string
	waittest.Until(s.t, pattern+" on stderr", func() bool {
		s.mu.Lock()
		text = s.text.String()
		s.mu.Unlock()
		found = regexp.MustCompile(pattern).FindString(text)
		return found != ""
	}, func() any { return text })
	return found
}

func (s *served) start(body string) int {
	s.t.Helper()
	req, _ := http.NewRequest("POST", s.url+"/api/v1/runs", strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer a-token-for-tests")
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// ends waits for the end of the process and returns its exit code.
func (s *served) ends() int {
	s.t.Helper()
	done := make(chan int, 1)
	go func() {
		s.cmd.Wait()
		done <- s.cmd.ProcessState.ExitCode()
	}()
	select {
	case code := <-done:
		return code
	case <-time.After(waittest.Limit):
		s.t.Fatal("it does not end")
	}
	return -1
}

// TestServeSignals: after the first TERM, running steps finish and no more start; after the second,
// the service does not wait. Both end with exit code 0.
func TestServeSignals(t *testing.T) {
	dir := t.TempDir()
	tools := filepath.Join(dir, ".flowrun", "tools")
	os.MkdirAll(tools, 0o755)
	os.WriteFile(filepath.Join(tools, "stubborn.yaml"), []byte("name: stubborn\nbash: trap '' TERM; touch began; sleep 600 & wait; sleep 600\n"), 0o644)
	// A socket that a dead service left is not in the way.
	os.Mkdir(filepath.Join(dir, "s"), 0o700)
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "s", "service.sock"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()

	s := serveWith(t, func(s *served) { // only a person can end the wait
		terminal, done := openTerminal(t, s)
		s.cmd.Stderr = terminal
		t.Cleanup(done)
	}, dir, "--drain", "1h")
	if code := s.start(`{"tool":"stubborn"}`); code != 202 {
		t.Fatalf("status %d", code)
	}
	waittest.Exists(t, filepath.Join(dir, "began"))
	info, err := os.Stat(filepath.Join(dir, "s", "service.sock"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the socket is %v (%v)", info, err)
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.says("msg=stopping")
	if code := s.start(`{"tool":"stubborn"}`); code != 503 {
		t.Errorf("a start while it stops is answered with %d", code)
	}
	for range 3 { // the same request
		s.cmd.Process.Signal(syscall.SIGTERM)
	}
	time.Sleep(400 * time.Millisecond) // before, nobody can have read how to force
	s.cmd.Process.Signal(syscall.SIGINT)
	if code := s.ends(); code != 0 {
		t.Errorf("it ends in %d\n%s", code, s.text.String())
	}
	s.says("run released.*tool=stubborn")
	if strings.Contains(s.text.String(), "Bearer") {
		t.Error("it reports a token")
	}
}
