package windowstest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// machine is a Windows of its own: a prefix of wine with the program.
type machine struct {
	testing.TB
	prefix, program, dir string
}

// forward makes the library whose one function every Go program calls at its start. wine 8 has the function under
// another name in another library.
const forward = "LIBRARY bcryptprimitives\nEXPORTS\nProcessPrng = advapi32.SystemFunction036\n"

func newMachine(t *testing.T) *machine {
	t.Helper()
	needtest.Programs(t, "wine", "wineboot", "wineserver", "x86_64-w64-mingw32-ld", "go")
	m := &machine{TB: t, prefix: filepath.Join(t.TempDir(), "prefix"), dir: t.TempDir()}
	t.Cleanup(func() { m.command("wineserver", "-k").Run() })
	m.must(m.command("wineboot", "-i"))
	definition := filepath.Join(m.dir, "forward.def")
	m.write("forward.def", forward)
	m.must(m.command("x86_64-w64-mingw32-ld", "-shared", "-o", filepath.Join(m.prefix, "drive_c/windows/system32/bcryptprimitives.dll"), definition))
	m.program = filepath.Join(m.dir, "flowrun.exe")
	build := exec.Command("go", "build", "-o", m.program, "github.com/flowrun/flowrun/cmd/flowrun")
	build.Env = append(os.Environ(), "GOOS=windows", "GOARCH=amd64")
	m.must(build)
	return m
}

func (m *machine) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = m.dir
	c.Env = append(os.Environ(), "WINEPREFIX="+m.prefix, "WINEDEBUG=-all", "WINEDLLOVERRIDES=mscoree,mshtml=", "DISPLAY=", "CI=")
	return c
}

func (m *machine) must(c *exec.Cmd) {
	m.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		m.Fatalf("%s: %v\n%s", strings.Join(c.Args, " "), err, out)
	}
}

func (m *machine) write(name, text string) {
	m.Helper()
	file := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		m.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		m.Fatal(err)
	}
}

// flowrun runs the program, and returns what it prints and its exit code.
func (m *machine) flowrun(args ...string) (stdout, stderr string, code int) {
	m.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	c := m.command("wine", append([]string{m.program}, args...)...)
	var out, problems bytes.Buffer
	c.Stdout, c.Stderr = &out, &problems
	if err := c.Start(); err != nil {
		m.Fatal(err)
	}
	stop := context.AfterFunc(ctx, func() { c.Process.Kill() })
	defer stop()
	err := c.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		m.Fatalf("flowrun %q: %v, %v\n%s", args, err, ctx.Err(), problems.String())
	}
	return strings.ReplaceAll(out.String(), "\r\n", "\n"), problems.String(), c.ProcessState.ExitCode()
}

// pings returns the processes of this machine that ping so many times.
func pings(times string) (found []string) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, f := range files {
		line, _ := os.ReadFile(f) // the process may have ended
		if words := strings.ReplaceAll(string(line), "\x00", " "); strings.Contains(words, "ping") && strings.Contains(words, "-n "+times+" ") {
			found = append(found, filepath.Base(filepath.Dir(f))+": "+words)
		}
	}
	return found
}

func untilNone(t *testing.T, times string) {
	t.Helper()
	waittest.Until(t, "end of the processes", func() bool { return len(pings(times)) == 0 }, func() any { return pings(times) })
}

func untilSome(t *testing.T, times string) {
	t.Helper()
	waittest.Until(t, "start of the processes", func() bool { return len(pings(times)) > 0 }, func() any { return pings(times) })
}
