package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	// What the program consists of: when it changes, go test must not answer from its cache.
	_ "github.com/flowrun/flowrun/internal/cli"
	_ "github.com/flowrun/flowrun/internal/service/web"
	"github.com/flowrun/flowrun/internal/test/programtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// program is the flowrun that is attacked, and self a copy of the tests, for processes of other users.
var program, self string

// full says that the attacks run in full; wide, that each kind is tried in all places, not in one.
var (
	full = sizetest.Chosen() == sizetest.Long
	wide = sizetest.Chosen() >= sizetest.Gate
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv("FLOWRUN_ATTACK_CALLS") != "":
		tryCalls()
		return
	case os.Getenv(denying) != "":
		deny(os.Getenv(denying))
	case os.Getenv(stdioCall) != "":
		beStdioClient()
		return
	}
	sizetest.SideBySide()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "attack")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		os.Chmod(dir, 0o755) // other users run it too
		if program, err = programtest.Build(dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		self = filepath.Join(dir, "self")
		if err := copySelf(self); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

func copySelf(to string) error {
	from, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer from.Close()
	f, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, from)
	return errors.Join(err, f.Close())
}

// site is the place of one attack: a home, a state folder and a project that nothing
// else touches.
type site struct {
	*testing.T
	dir     string // holds home, state, project and tmp
	project string // a repository; commands run in it
	env     []string
	as      *syscall.Credential // nil: the user who runs the tests
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{T: t, dir: dir, project: filepath.Join(dir, "project")}
	for _, name := range []string{"home", "state", "project/.git", "tmp"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8", "HOME=" + s.path("~"),
		"FLOWRUN_STATE_DIR=" + filepath.Join(dir, "state"), "TMPDIR=" + filepath.Join(dir, "tmp")}
	return s
}

// in returns the site for a test within its own, of several that use it one after the other. What the attack of one of them
// leaves is removed.
func (s *site) in(t *testing.T) *site {
	t.Cleanup(func() { os.Remove(s.path("PWN")) })
	within := *s
	within.T = t
	return &within
}

// by has all further commands run as the user with that number, to whom the site then
// belongs. It skips the test unless root runs it.
func (s *site) by(uid uint32) {
	s.Helper()
	if os.Getuid() != 0 {
		s.Skip("only root can act as another user")
	}
	s.as = &syscall.Credential{Uid: uid, Gid: uid, Groups: []uint32{}}
	for at := s.dir; strings.HasPrefix(at, os.TempDir()+"/"); at = filepath.Dir(at) {
		os.Chmod(at, 0o755)
	}
	filepath.WalkDir(s.dir, func(path string, _ os.DirEntry, _ error) error { return os.Lchown(path, int(uid), int(uid)) })
}

// path is where a file of the site is: in the project, or in the home if it begins
// with ~, or anywhere if it is absolute.
func (s *site) path(name string) string {
	switch rest, home := strings.CutPrefix(name, "~"); {
	case home:
		return filepath.Join(s.dir, "home", rest)
	case filepath.IsAbs(name):
		return name
	}
	return filepath.Join(s.project, name)
}

// write makes a file, and the folders above it.
func (s *site) write(name, text string) string {
	s.Helper()
	path := s.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		s.Fatal(err)
	}
	return path
}

// read is what a file holds, without the line end; "" if it is not there.
func (s *site) read(name string) string {
	text, _ := os.ReadFile(s.path(name))
	return strings.TrimRight(string(text), "\n")
}

func (s *site) exists(name string) bool {
	_, err := os.Lstat(s.path(name))
	return err == nil
}

// outcome is how a command ended.
type outcome struct {
	code           int
	stdout, stderr string
}

func (o outcome) String() string {
	return fmt.Sprintf("exit code %d\nstdout: %s\nstderr: %s", o.code, o.stdout, o.stderr)
}

// command prepares the program in the project, without a terminal and with nothing on
// its standard input.
func (s *site) command(args ...string) *exec.Cmd {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), waittest.Limit)
	s.Cleanup(cancel)
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Env = s.project, s.env
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Credential: s.as}
	return c
}

// run runs the program to its end.
func (s *site) run(args ...string) outcome {
	s.Helper()
	return s.finish(s.command(args...))
}

// finish runs a prepared command to its end.
func (s *site) finish(c *exec.Cmd) outcome {
	s.Helper()
	var stdout, stderr bytes.Buffer
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		s.Fatalf("flowrun %q: %v", c.Args[1:], err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// terminal runs a prepared command on a terminal of its own, as its controlling one,
// types keys when the program has printed the text before them, and returns all that the terminal showed
// and the exit code.
func (s *site) terminal(c *exec.Cmd, dialog ...exchange) (screen string, code int) {
	s.Helper()
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Credential: s.as}
	t, err := pty.Start(c)
	if err != nil {
		s.Fatal(err)
	}
	defer t.Close()
	var shown bytes.Buffer
	buf := make([]byte, 4096)
	seen := 0
	for {
		n, err := t.Read(buf)
		shown.Write(buf[:n])
		if len(dialog) > 0 {
			if at := bytes.Index(shown.Bytes()[seen:], []byte(dialog[0].shown)); at >= 0 {
				seen += at + len(dialog[0].shown)
				io.WriteString(t, dialog[0].keys)
				dialog = dialog[1:]
			}
		}
		if err != nil {
			break
		}
	}
	c.Wait()
	return shown.String(), c.ProcessState.ExitCode()
}

// exchange is a text that the program shows, and the keys that are then typed.
type exchange struct{ shown, keys string }

// indent puts the further lines of a script under its first in a block of YAML.
func indent(script string) string { return strings.ReplaceAll(script, "\n", "\n      ") }

// users returns those whose flowrun is attacked: root and one without rights; in the Small size, the latter alone.
func users() []uint32 {
	if os.Getuid() != 0 {
		return []uint32{uint32(os.Getuid())}
	}
	return sizetest.Of([]uint32{65534}, []uint32{0, 65534}, []uint32{0, 65534})
}
