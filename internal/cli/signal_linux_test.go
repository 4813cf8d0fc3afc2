package cli_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// session is a flowrun command that has been started.
type session struct {
	*testing.T
	dir    string
	cmd    *exec.Cmd
	stdout bytes.Buffer
	stderr bytes.Buffer

	closeTerminal func() // that stderr is, with all that it shows in the buffer
}

// hangups receives the SIGHUP that this program gets.
var hangups = make(chan os.Signal, 1)

// hearHangups makes this program handle SIGHUP. Under nohup the signal is ignored, also in all
// child processes, unless the program handles it.
func hearHangups() { signal.Notify(hangups, syscall.SIGHUP) }

// config sets a grace period that is longer than any test, so that a test that ends has not waited
// for it.
const config = "grace: 10m\n"

// begin starts flowrun run on a definition and waits until its file "ready" is
// there. The test program is flowrun (see TestMain).
func begin(t *testing.T, definition string, setup func(*session), flags ...string) *session {
	t.Helper()
	s := &session{T: t, dir: t.TempDir(), closeTerminal: func() {}}
	if err := os.WriteFile(filepath.Join(s.dir, "it.yaml"), []byte("name: it\ndescription: Under test\n"+definition), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(s.dir, "config/flowrun"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(s.dir, "config/flowrun/config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command("flowrun", append([]string{"run", "./it.yaml", "--progress", "plain"}, flags...)...)
	s.cmd.Dir = s.dir
	s.cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+s.dir+"/state", "TMPDIR="+s.dir, "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir+"/config")
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	if setup != nil {
		setup(s)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.await("ready")
	return s
}

// await waits for a file.
func (s *session) await(name string) {
	s.Helper()
	if !waittest.Holds(waittest.Limit, func() bool { return s.has(name) }) {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.Fatalf("there is no file %s; stderr:\n%s", name, &s.stderr)
	}
}

// ends waits for the command and checks its exit code.
func (s *session) ends(code int) {
	s.Helper()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		s.Error(err)
	}
	s.closeTerminal()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.Errorf("exit code %d, want %d; stderr:\n%s", got, code, &s.stderr)
	}
}

func (s *session) has(name string) bool {
	_, err := os.Stat(filepath.Join(s.dir, name))
	return err == nil
}

const interrupted = `
resources: {cleanup: [{final-command: touch cleaned}]}
steps:
  - name: works
    bash: trap 'touch asked; exit 0' TERM; touch ready; sleep 300 & wait
  - name: next
    bash: touch next
  - name: tidy
    bash: touch tidy; echo tidied
    run-condition: always()
`

// TestOneSignal: the first signal stops the run gently: steps are asked to end, always() steps and
// cleanup run, and the exit code says which signal it was.
func TestOneSignal(t *testing.T) {
	hearHangups()
	for sig, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129, syscall.SIGQUIT: 131} {
		s := begin(t, interrupted, nil)
		s.cmd.Process.Signal(sig)
		s.ends(code)
		if !s.has("asked") || !s.has("tidy") || !s.has("cleaned") || s.has("next") {
			t.Errorf("%v: asked %t, tidy %t, cleaned %t, next %t", sig, s.has("asked"), s.has("tidy"), s.has("cleaned"), s.has("next"))
		}
		if s.stdout.String() != "tidied\n" || !strings.Contains(s.stderr.String(), "cancelled") {
			t.Errorf("%v: stdout %q, stderr:\n%s", sig, &s.stdout, &s.stderr)
		}
	}
}

// TestHangup: the kernel and the shell both report a closed terminal, which is one request.
// Under nohup it has no effect.
func TestHangup(t *testing.T) {
	hearHangups()
	s := begin(t, interrupted, nil)
	s.cmd.Process.Signal(syscall.SIGHUP)
	s.cmd.Process.Signal(syscall.SIGHUP)
	s.ends(129)
	if !s.has("tidy") || !s.has("cleaned") {
		t.Errorf("tidy %t, cleaned %t; stderr:\n%s", s.has("tidy"), s.has("cleaned"), &s.stderr)
	}
	signal.Ignore(syscall.SIGHUP) // a child inherits that
	defer signal.Reset(syscall.SIGHUP)
	s = begin(t, "bash: touch ready; until [ -e go ]; do touch beat; sleep 0.01; done; echo done\n", nil)
	s.cmd.Process.Signal(syscall.SIGHUP)
	for range 5 { // time to die of it
		os.Remove(filepath.Join(s.dir, "beat"))
		s.await("beat")
	}
	if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.ends(0)
}

// TestTerminalInterrupt: Ctrl-C at a terminal reaches the whole foreground process group, but steps
// get it only from flowrun.
func TestTerminalInterrupt(t *testing.T) {
	own := func(s *session) { s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
	s := begin(t, strings.Replace(interrupted, "trap '", "trap 'touch hit' INT; trap '", 1), own)
	syscall.Kill(-s.cmd.Process.Pid, syscall.SIGINT)
	s.ends(130)
	if s.has("hit") || !s.has("asked") || !s.has("tidy") {
		t.Errorf("hit %t, asked %t, tidy %t", s.has("hit"), s.has("asked"), s.has("tidy"))
	}
}

// openTerminal returns a terminal for the output of a command. What it shows goes to w until done is called.
func openTerminal(t *testing.T, w io.Writer) (terminal *os.File, done func()) {
	t.Helper()
	person, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	copied := make(chan struct{})
	go func() {
		io.Copy(w, person)
		close(copied)
	}()
	return terminal, func() {
		terminal.Close()
		<-copied
		person.Close()
	}
}

// atTerminal gives a session a terminal as stderr.
func (s *session) atTerminal() { s.cmd.Stderr, s.closeTerminal = openTerminal(s.T, &s.stderr) }

// TestSecondInterrupt: a person's second Ctrl-C stops at once what the first one let continue: steps that
// ignore TERM, always() steps, background processes.
func TestSecondInterrupt(t *testing.T) {
	for name, definition := range map[string]string{
		"deaf step":   "bash: trap 'touch cancelling' TERM; touch ready; while :; do sleep 0.01; done\n",
		"always step": "steps:\n  - name: a\n    bash: touch ready; sleep 300\n  - name: b\n    bash: trap '' TERM; touch cancelling; sleep 300; touch never\n    run-condition: always()\n",
		"background":  "steps:\n  - name: a\n    bash: (trap '' TERM; touch deaf; exec setsid sleep 300) & until [ -e deaf ]; do sleep 0.01; done\n  - name: b\n    bash: trap 'touch cancelling; exit 1' TERM; touch ready; sleep 300 & wait\n",
	} {
		s := begin(t, definition, (*session).atTerminal)
		s.cmd.Process.Signal(os.Interrupt)
		s.await("cancelling")
		ended := make(chan struct{})
		go func() { // a person presses it until something happens
			for {
				select {
				case <-time.After(400 * time.Millisecond):
					s.cmd.Process.Signal(os.Interrupt)
				case <-ended:
					return
				}
			}
		}()
		s.ends(130)
		close(ended)
		if s.has("never") {
			t.Errorf("%s: a step went on", name)
		}
	}
}

// TestRepeatedSignals: whatever arrives after the first signal, from timeout(1), from a session that is closed, or from a
// person who cannot have read yet how to force, is the same request: the cleanup runs to its end.
func TestRepeatedSignals(t *testing.T) {
	const cleans = "steps: [{name: work, bash: 'touch ready; exec sleep 300'}]\nfinally: [{name: release, bash: 'touch releasing; sleep 0.7; touch released'}]\n"
	again := func(p *os.Process, list ...syscall.Signal) {
		for _, sig := range list {
			p.Signal(sig)
			time.Sleep(50 * time.Millisecond)
		}
	}
	for name, c := range map[string]struct {
		terminal bool
		send     func(p *os.Process)
		code     int
	}{
		"TERM ten times":         {false, func(p *os.Process) { again(p, slices.Repeat([]syscall.Signal{syscall.SIGTERM}, 10)...) }, 143},
		"TERM and HUP":           {false, func(p *os.Process) { p.Signal(syscall.SIGTERM); p.Signal(syscall.SIGHUP) }, 0},
		"INT without a terminal": {false, func(p *os.Process) { again(p, slices.Repeat([]syscall.Signal{syscall.SIGINT}, 10)...) }, 130},
		"INT at once":            {true, func(p *os.Process) { p.Signal(syscall.SIGINT); p.Signal(syscall.SIGINT) }, 130},
		"TERM at a terminal":     {true, func(p *os.Process) { again(p, slices.Repeat([]syscall.Signal{syscall.SIGTERM}, 10)...) }, 143},
		"to the group":           {false, func(p *os.Process) { syscall.Kill(-p.Pid, syscall.SIGTERM); p.Signal(syscall.SIGTERM) }, 143},
	} {
		for range sizetest.Of(1, 3, 30) {
			s := begin(t, cleans, func(s *session) {
				if c.terminal {
					s.atTerminal()
				}
				s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
			})
			c.send(s.cmd.Process)
			err := s.cmd.Wait()
			if s.closeTerminal(); err == nil || !s.has("released") {
				t.Errorf("%s: %v, released %v; stderr:\n%s", name, err, s.has("released"), &s.stderr)
			}
			if got := s.cmd.ProcessState.ExitCode(); c.code != 0 && got != c.code {
				t.Errorf("%s: exit code %d, want %d", name, got, c.code)
			}
		}
	}
}

// TestSignalOfAStep: a signal after the run has failed changes nothing. A signal that a step sends
// itself is a failure of the step.
func TestSignalOfAStep(t *testing.T) {
	s := begin(t, "bash: touch ready; kill -INT $$\n", nil, "-x")
	s.ends(130)
	if !strings.Contains(s.stderr.String(), "signal 2") || strings.Contains(s.stderr.String(), "cancelled") {
		t.Errorf("stderr:\n%s", &s.stderr)
	}
}

// TestReaderGoesAway: when the reader closes the pipe, the run ends as any command in a pipe would.
func TestReaderGoesAway(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	s := begin(t, "bash: touch ready; while :; do echo y; done\n", func(s *session) { s.cmd.Stdout = w })
	w.Close()
	if _, err := io.ReadFull(r, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	r.Close()
	s.ends(128 + int(syscall.SIGPIPE))
}

// TestOutputIsLost: output that cannot be written is a failure, even if the run succeeded.
func TestOutputIsLost(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	for _, form := range []string{"text", "json", "combined"} {
		s := begin(t, "bash: touch ready; echo lost\n", func(s *session) { s.cmd.Stdout = full }, "-o", form)
		s.ends(1)
		if !strings.Contains(s.stderr.String(), "flowrun: ") || !strings.Contains(s.stderr.String(), "no space left") {
			t.Errorf("%s: stderr:\n%s", form, &s.stderr)
		}
	}
}

// TestInterruptMCP checks that a server on stdin ends without a message when it is interrupted.
func TestInterruptMCP(t *testing.T) {
	dir := t.TempDir()
	server := exec.Command("flowrun", "mcp")
	server.Dir = dir
	server.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+dir+"/state", "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var messages bytes.Buffer
	server.Stderr = &messages
	in, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Process.Kill()
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	if _, err := out.Read(make([]byte, 1)); err != nil { // now it serves
		t.Fatal(err, messages.String())
	}
	if err := server.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := server.Wait(); err != nil || messages.Len() > 0 {
		t.Errorf("%v; messages:\n%s", err, &messages)
	}
}
