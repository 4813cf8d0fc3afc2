package cli_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"golang.org/x/sys/unix"
)

// seat is a flowrun command on a terminal of its own, and the person who types there.
type seat struct {
	*testing.T
	dir         string
	cmd         *exec.Cmd
	master, tty *os.File
	before      *unix.Termios
	drained     chan struct{} // closed when nothing more can come to the screen

	mu     sync.Mutex
	screen bytes.Buffer
}

// sit starts flowrun run on a definition. setup may take streams away from the
// terminal.
func sit(t *testing.T, definition string, setup func(*exec.Cmd), flags ...string) *seat {
	t.Helper()
	t.Parallel()
	hearHangups()
	s := &seat{T: t, dir: t.TempDir(), drained: make(chan struct{})}
	if err := os.WriteFile(filepath.Join(s.dir, "it.yaml"), []byte("name: it\ndescription: Under test\n"+definition), 0o600); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.master, s.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	// In the poller, so that closing it while it is read hangs up at once.
	fd, err := unix.FcntlInt(s.master.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err = errors.Join(err, s.master.Close(), syscall.SetNonblock(fd, true)); err != nil {
		t.Fatal(err)
	}
	s.master = os.NewFile(uintptr(fd), "master")
	pty.Setsize(s.tty, &pty.Winsize{Rows: 11, Cols: 77})
	if s.before, err = unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command("flowrun", append([]string{"run", "./it.yaml"}, flags...)...)
	s.cmd.Dir = s.dir
	s.cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+s.dir+"/state", "TMPDIR="+s.dir, "NO_COLOR=1", "FLOWRUN_PROGRESS=plain", "GITHUB_ACTIONS=",
		"HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir+"/config", "FLOWRUN_GLOBAL_CONFIG="+s.dir+"/none", "CI=") // where CI is set nobody is asked
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.tty, s.tty, s.tty
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if setup != nil {
		setup(s.cmd)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(s.drained)
		io.Copy(s, s.master) // until nobody has the other end
	}()
	return s
}

func (s *seat) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.Write(b)
}

func (s *seat) seen() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen.String()
}

// shows waits for a text on the screen.
func (s *seat) shows(text string) {
	s.Helper()
	if !waittest.Holds(waittest.Limit, func() bool { return strings.Contains(s.seen(), text) }) {
		s.cmd.Process.Kill()
		s.cmd.Wait()
		s.Fatalf("the screen never showed %q, but\n%s", text, s.seen())
	}
}

func (s *seat) types(keys string) { io.WriteString(s.master, keys) }

// ends waits for the command, and checks its exit code and that the modes of the terminal are
// restored.
func (s *seat) ends(code int) string {
	s.Helper()
	var exit *exec.ExitError
	if err := s.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		s.Error(err)
	}
	after, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil || *after != *s.before {
		s.Errorf("the terminal was left with %+v, not %+v (%v)", after, s.before, err)
	}
	s.tty.Close()
	select {
	case <-s.drained:
	case <-time.After(waittest.Limit):
		s.Error("somebody has the terminal still")
	}
	s.master.Close()
	if got := s.cmd.ProcessState.ExitCode(); got != code {
		s.Errorf("exit code %d, want %d; the screen showed\n%s", got, code, s.seen())
	}
	return s.seen()
}

const questions = `
steps:
  - name: first
    interactive: true
    bash: |
      read -p 'name? ' n; read -s -p 'password? ' p; echo; trap 'echo now $(stty size); exit' WINCH
      echo "$n ${#p} $(stty size)"; while :; do sleep 0.02; done
  - name: beside
    parallel: true
    bash: sleep 0.3
  - name: final
    interactive: true
    bash: read -p 'sure? ' a; echo "said $a"
`

// TestKeyboard: a person answers. All output is shown once, in whole lines, and the password
// nowhere.
func TestKeyboard(t *testing.T) {
	s := sit(t, questions, nil)
	s.shows("name? ")
	s.types("Ada\r")
	s.shows("password? ")
	s.types("tiger\r")
	s.shows("Ada 5 11 77")
	s.shows("beside ok")
	pty.Setsize(s.tty, &pty.Winsize{Rows: 12, Cols: 66})
	s.shows("now 12 66")
	s.shows("sure? ")
	s.types("yes\r")
	screen := s.ends(0)
	if strings.Contains(screen, "tiger") || strings.Count(screen, "said yes") != 1 || strings.Contains(strings.ReplaceAll(screen, "\r\n", ""), "\n") {
		t.Errorf("the screen showed %q", screen)
	}
	err := filepath.WalkDir(filepath.Join(s.dir, "state"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if text, err := os.ReadFile(path); err != nil || bytes.Contains(text, []byte("tiger")) {
			t.Errorf("%s: %q %v", path, text, err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestKeyboardAndFile: the output of the run goes to stdout, without question and answer, which are shown on the
// terminal only.
func TestKeyboardAndFile(t *testing.T) {
	var out *os.File
	s := sit(t, "interactive: true\nbash: read -p 'sure? ' a; echo \"said $a\"\n", func(c *exec.Cmd) {
		var err error
		if out, err = os.Create(filepath.Join(c.Dir, "out")); err != nil {
			t.Fatal(err)
		}
		c.Stdout = out
	})
	s.shows("sure? ")
	s.types("yes\r")
	s.ends(0)
	out.Close()
	if text, err := os.ReadFile(out.Name()); string(text) != "said yes\n" {
		t.Errorf("stdout got %q, %v", text, err)
	}
}

// TestKeyboardCtrlC: the step gets Ctrl-C, until it is pressed three times.
func TestKeyboardCtrlC(t *testing.T) {
	s := sit(t, "interactive: true\nbash: trap 'echo not yet' INT; echo ready; while :; do sleep 0.02; done\n", nil)
	s.shows("ready")
	s.types("\x03")
	s.shows("not yet")
	time.Sleep(1100 * time.Millisecond) // three within a second are meant
	s.types("\x03\x03\x03")
	s.ends(130)
}

// killed lets flowrun run the definition of a seat and kills it when the file "started" exists. The
// command of the seat resumes the run.
func killed(t *testing.T) func(*exec.Cmd) {
	return func(c *exec.Cmd) {
		engine := exec.Command(c.Path, c.Args[1:]...)
		engine.Dir, engine.Env = c.Dir, c.Env
		if err := engine.Start(); err != nil {
			t.Fatal(err)
		}
		started := filepath.Join(c.Dir, "started")
		waittest.Holds(waittest.Limit, func() bool { _, err := os.Stat(started); return err == nil })
		engine.Process.Kill()
		engine.Wait()
		if err := os.Remove(started); err != nil {
			t.Fatal(err)
		}
		c.Args = []string{c.Args[0], "resume", "latest"}
	}
}

// TestKeyboardResume: flowrun shows the plan, and then asks whether a step that was running when
// flowrun was killed may run again.
func TestKeyboardResume(t *testing.T) {
	for keys, code := range map[string]int{"n\r": 7, "\r": 7, "y\r": 0} {
		t.Run(keys, func(t *testing.T) {
			// The step of the killed flowrun ends with the test too, where that fails before "go".
			s := sit(t, "steps: [{name: works, bash: 'echo began >>effects; touch started; until [ -e go ] || ! [ -e it.yaml ]; do sleep 0.05; done'}]\n", killed(t))
			s.shows("may have been running when flowrun was killed: works\r\nflowrun: run works again? [y/N]")
			if err := os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			s.types(keys)
			screen := s.ends(code)
			if interrupted := strings.Contains(screen, "is interrupted: "); interrupted != (code == 7) {
				t.Errorf("the screen showed %q", screen)
			}
			effects, err := os.ReadFile(filepath.Join(s.dir, "effects"))
			if n := strings.Count(string(effects), "began\n"); err != nil || (n == 2) != (code == 0) {
				t.Errorf("it ran %d times, %v", n, err)
			}
		})
	}
}

// TestKeyboardTerminated: a signal to flowrun restores the terminal.
func TestKeyboardTerminated(t *testing.T) {
	s := sit(t, "interactive: true\nbash: read -p 'sure? ' a\n", nil)
	s.shows("sure? ")
	s.cmd.Process.Signal(syscall.SIGTERM)
	s.ends(143)
}

// TestKeyboardLeftAlone: no person is asked with --no-input or in the background, or waited for after the timeout.
func TestKeyboardLeftAlone(t *testing.T) {
	const asks = "interactive: true\nbash: read -p 'sure? ' a; echo \"said $a\"\n"
	t.Run("no-input", func(t *testing.T) {
		sit(t, asks+"interactive-options: {default-response: no}\n", nil, "--no-input").ends(0)
	})
	t.Run("background", func(t *testing.T) {
		s := sit(t, asks+"interactive-options: {default-response: no}\n", func(c *exec.Cmd) {
			c.Args = append([]string{"bash", "-c", `set -m; "$@" & wait $!`, "job", c.Path}, c.Args[1:]...)
			c.Path = "/bin/bash"
		})
		if screen := s.ends(0); !strings.Contains(screen, "runs in the background of its terminal") {
			t.Errorf("the screen showed %q", screen)
		}
	})
	t.Run("timeout", func(t *testing.T) {
		s := sit(t, asks+"interactive-options: {default-response: no, timeout: 200ms}\n", nil)
		s.shows("no answer within 200ms")
		if screen := s.ends(0); !strings.Contains(screen, "said no") || strings.Count(screen, "no answer within") != 1 {
			t.Errorf("the screen showed %q", screen)
		}
	})
	t.Run("hangup", func(t *testing.T) {
		s := sit(t, asks, nil, "--progress", "none")
		s.shows("sure? ")
		s.tty.Close()
		s.master.Close()
		done := make(chan error, 1)
		go func() { done <- s.cmd.Wait() }()
		select {
		case <-done:
		case <-time.After(waittest.Limit):
			s.cmd.Process.Kill()
			t.Error("flowrun outlived its terminal")
		}
	})
}

// TestLastLineOnTerminal: an unfinished last line of the output is ended on a terminal, and nowhere
// else.
func TestLastLineOnTerminal(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"open":   {"js: 'return {a: 1}'\n", "{\"a\":1}\r\n"},
		"ended":  {"run: echo b\n", "b\r\n"},
		"silent": {"run: 'true'\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sit(t, c.body, nil, "--progress", "quiet").ends(0); got != c.want {
				t.Errorf("the screen shows %q, want %q", got, c.want)
			}
		})
	}
}

// TestLogsPager: on a terminal, the logs of a run are shown in the pager of the user, with its attempts
// apart. A pager that is quit early is not an error.
func TestLogsPager(t *testing.T) {
	const fails = "steps:\n  - {name: a, bash: 'echo out; exit 1', error-handling: {retry: {attempts: 1, delay: 5ms}}}\n"
	for name, c := range map[string]struct {
		pager, flags string
		code         int
		want         string
	}{
		"paged":     {"sed s/^/paged:/", "", 0, "paged:out\r\npaged:--- attempt 2 ---\r\npaged:out\r\n"},
		"no pager":  {"sed s/^/paged:/", " --no-pager", 0, "out\r\n--- attempt 2 ---\r\nout\r\n"},
		"quit":      {"head -n1", "", 0, "out\r\n"},
		"not found": {"no-such-pager", "", 0, "flowrun: cannot start the pager no-such-pager"},
	} {
		t.Run(name, func(t *testing.T) {
			s := sit(t, fails, func(cmd *exec.Cmd) {
				cmd.Args = []string{"sh", "-c", "flowrun run ./it.yaml --progress none; flowrun logs latest a" + c.flags}
				cmd.Path = "/bin/sh"
				cmd.Env = append(cmd.Env, "TERM=xterm", "FLOWRUN_ACCESSIBLE=", "FLOWRUN_PAGER=", "PAGER="+c.pager)
			})
			if got := s.ends(c.code); !strings.Contains(got, c.want) {
				t.Errorf("the screen shows %q, want %q", got, c.want)
			}
		})
	}
}

// TestFilesCounted: on a terminal, flowrun counts the files of a large folder while it reads and checks
// them, and removes the line at the end.
func TestFilesCounted(t *testing.T) {
	s := sit(t, "bash: echo\n", func(cmd *exec.Cmd) {
		tools := filepath.Join(cmd.Dir, ".flowrun/tools")
		if err := os.MkdirAll(tools, 0o755); err != nil {
			t.Fatal(err)
		}
		first := filepath.Join(tools, "tool-0.yaml") // the others are links, which are made faster than files
		if err := os.WriteFile(first, []byte("description: Under test\nbash: echo a | sort\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		for i := range 2999 {
			if err := os.Link(first, filepath.Join(tools, fmt.Sprintf("tool-%d.yaml", i+1))); err != nil {
				t.Fatal(err)
			}
		}
		cmd.Args = []string{"flowrun", "validate"}
		cmd.Env = append(cmd.Env, "TERM=xterm")
	})
	screen := s.ends(0)
	if !regexp.MustCompile(`(checking|reading) file \d+ of 3000`).MatchString(screen) || !strings.Contains(screen, "\r\x1b[K3000 definitions are valid") {
		t.Errorf("the screen shows %q", screen)
	}
}
