package windowstest

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// TestWindows runs the program as people on Windows do.
func TestWindows(t *testing.T) {
	sizetest.Need(t, sizetest.Long, "compiles the program for Windows")
	m := newMachine(t)
	t.Run("programs", func(t *testing.T) { programs(t, m) })
	t.Run("backslashes", func(t *testing.T) { backslashes(t, m) })
	t.Run("devices", func(t *testing.T) { devices(t, m) })
	t.Run("trees", func(t *testing.T) { trees(t, m) })
	t.Run("killed", func(t *testing.T) { killed(t, m) })
	t.Run("packages", func(t *testing.T) { packages(t, m) })
}

// programs are found by their names, as in a command line.
func programs(t *testing.T, m *machine) {
	m.write("sub/batch.bat", "@echo off\r\necho batch %~1\r\n")
	m.write("hello.tool.js", "export const description = 'Says hello';\nexport async function execute() { return 'from JavaScript'; }\n")
	for _, c := range []struct{ name, body, want string }{
		{"script", "platforms: [windows]\ncmd: echo hi", "hi"},
		{"name", `run: cmd /c "echo by name"`, "by name"},
		{"extension", `run: cmd.exe /c "echo by file"`, "by file"},
		{"slash", "run: ./sub/batch one", "batch one"},
		{"backslash", `run: '"sub\batch.bat" "two words"'`, "batch two words"},
		{"value", "run: cmd /c echo {P}\nparameters: {P: {description: P, default: 'C:\\my data\\x'}}", `C:\my data\x`},
		{"powershell", "js: return 1 + 1", "2"},
	} {
		m.write(c.name+".yaml", "name: "+c.name+"\ndescription: A test\n"+c.body+"\n")
		out, problems, code := m.flowrun("run", c.name+".yaml")
		if got := strings.Trim(out, "\n\" "); code != 0 || got != c.want {
			t.Errorf("%s: exit %d, %q\n%s", c.name, code, got, problems)
		}
	}
	if out, problems, code := m.flowrun("run", "hello.tool.js"); code != 0 || strings.TrimSpace(out) != "from JavaScript" {
		t.Errorf("a tool in JavaScript: exit %d, %q\n%s", code, out, problems)
	}
	m.write("unsafe.yaml", "name: unsafe\ndescription: A test\nrun: ./sub/batch {P}\nparameters: {P: {description: P, default: 'a&echo b'}}\n")
	if out, problems, code := m.flowrun("run", "unsafe.yaml"); code != 1 || out != "" || !strings.Contains(problems, "is a batch file") {
		t.Errorf("a value that cmd would read as a command: exit %d, %q\n%s", code, out, problems)
	}
}

// backslashes outside quotes are not taken away.
func backslashes(t *testing.T, m *machine) {
	m.write("path.yaml", "name: path\ndescription: A test\nrun: cmd /c echo C:\\data\n")
	if out, problems, code := m.flowrun("run", "path.yaml"); code != 3 || out != "" || !strings.Contains(problems, "expr-backslash") {
		t.Errorf("exit %d, %q\n%s", code, out, problems)
	}
}

// devices are not opened instead of log files.
func devices(t *testing.T, m *machine) {
	m.write("names.yaml", "name: names\ndescription: A test\nsteps:\n  - {name: nul, run: cmd /c echo one}\n  - {name: con, run: cmd /c echo two}\n  - {name: third, run: cmd /c echo three}\n")
	if _, problems, code := m.flowrun("run", "names.yaml"); code != 0 {
		t.Fatalf("exit %d\n%s", code, problems)
	}
	for step, want := range map[string]string{"nul": "one", "con": "two"} {
		if out, problems, code := m.flowrun("logs", "latest", step); code != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, %q\n%s", step, code, out, problems)
		}
	}
}

// trees end with their step.
func trees(t *testing.T, m *machine) {
	const both = "start /b ping -n 4711 127.0.0.1 >nul\n      ping -n 4711 127.0.0.1 >nul\n"
	m.write("timeout.yaml", "name: timeout\ndescription: A test\nsteps:\n  - name: a\n    timeout: 3s\n    cmd: |\n      "+both)
	if _, problems, code := m.flowrun("run", "timeout.yaml"); code != 1 || !strings.Contains(problems, "TIMED OUT") {
		t.Errorf("exit %d\n%s", code, problems)
	}
	untilNone(t, "4711")
	m.write("left.yaml", "name: left\ndescription: A test\ncmd: start /b ping -n 4712 127.0.0.1 >nul\n")
	if _, problems, code := m.flowrun("run", "left.yaml"); code != 0 || !strings.Contains(problems, "left in the background: ping.exe") {
		t.Errorf("exit %d\n%s", code, problems)
	}
	untilNone(t, "4712")
}

// killed: when flowrun ends, be it by force, so does what it has started.
func killed(t *testing.T, m *machine) {
	m.write("long.yaml", "name: long\ndescription: A test\ncmd: |\n  start /b ping -n 4713 127.0.0.1 >nul\n  ping -n 4713 127.0.0.1 >nul\n")
	for _, s := range []os.Signal{syscall.SIGKILL, syscall.SIGINT} {
		c := m.command("wine", m.program, "run", "long.yaml")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		untilSome(t, "4713")
		c.Process.Signal(s)
		c.Wait()
		if s == syscall.SIGINT && c.ProcessState.ExitCode() != 130 {
			t.Errorf("after %v it ended with %v", s, c.ProcessState)
		}
		untilNone(t, "4713")
	}
}

// packages have tests that only Windows can run.
func packages(t *testing.T, m *machine) {
	c := m.command("go", "test", "-vet=off", "-count=1", "-exec", "wine", "./internal/os/proc", "./internal/os/procid", "./internal/os/devicename")
	c.Dir = "../../.."
	c.Env = append(c.Env, "GOOS=windows", "GOARCH=amd64")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
