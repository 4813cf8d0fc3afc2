package growthtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/cli"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// countsVariable names the file into which this program, as flowrun, writes what it has allocated.
const countsVariable = "GROWTHTEST_COUNTS"

// TestMain makes this program flowrun, unless it has the flags of go test. It must not depend on the environment, which
// flowrun clears for some of its children: they would run the tests, and start more of them.
func TestMain(m *testing.M) {
	engine.HelperMain()
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], "-test.") {
		sizetest.SideBySide()
		os.Exit(m.Run())
	}
	file := os.Getenv(countsVariable)
	os.Unsetenv(countsVariable)
	code := cli.Main(cli.Process{Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr})
	if file != "" {
		var now runtime.MemStats
		runtime.ReadMemStats(&now)
		if err := os.WriteFile(file, fmt.Appendln(nil, now.TotalAlloc, now.Mallocs), 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// use is what a command has used.
type use struct {
	bytes, objects float64 // allocated
	time           time.Duration
}

// flowrun runs a command in a folder. It may fail because of errors in a definition only if that is wrong on purpose.
func flowrun(t *testing.T, dir string, wrong bool, args ...string) (u use) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(self, args...)
	counts := filepath.Join(dir, "counts")
	c.Dir = dir
	c.Env = append(os.Environ(), countsVariable+"="+counts, "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var problems strings.Builder
	c.Stdout, c.Stderr = &problems, &problems
	if err := c.Run(); err != nil && !(wrong && c.ProcessState.ExitCode() == outcome.ExitInvalid) {
		t.Fatalf("flowrun %v: %v\n%.2000s", args, err, problems.String())
	}
	text, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &u.bytes, &u.objects); err != nil {
		t.Fatal(err)
	}
	u.time = c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	return u
}

// measure returns what each command uses for n units.
func (s shape) measure(t *testing.T, rows []string, n int) map[string]use {
	dir := t.TempDir()
	file, text := s.definition(n)
	leaf := "name: leaf\ndescription: A tool of one step.\nsteps: [{name: w, wait: {for: 1ms}}]\n"
	for name, text := range map[string]string{file: text, "leaf.yaml": leaf} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	uses := map[string]use{}
	for _, row := range rows {
		uses[row] = flowrun(t, dir, s.wrong, strings.Fields(strings.ReplaceAll(row, "{file}", "./"+file))...)
	}
	return uses
}

// most is what four times the units may cost, compared with one time: of what grows with the exponent 1.35, it is 6.5.
const most = 6.5

// TestGrowth measures each shape with each command.
func TestGrowth(t *testing.T) {
	few := sizetest.Of(250, 250, 500) // units
	for i, s := range shapes {
		if measured := sizetest.Of(i == 0, s.gate, true); !measured {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			rows := commands
			if s.wrong {
				rows = fewer
			}
			none, one, four := s.measure(t, rows, 2), s.measure(t, rows, few), s.measure(t, rows, 4*few)
			for _, row := range rows {
				compare := func(what string, none, one, four, noise float64) {
					if four-none > most*max(one-none, noise) {
						t.Errorf("%s grows faster than the units: %s: %.0f for %d units, %.0f for %d", row, what, one-none, few, four-none, 4*few)
					}
				}
				compare("bytes", none[row].bytes, one[row].bytes, four[row].bytes, 100_000)
				compare("objects", none[row].objects, one[row].objects, four[row].objects, 1000)
				t.Logf("%s: %.0f bytes and %v for each of %d units", row, (four[row].bytes-none[row].bytes)/float64(4*few), four[row].time/time.Duration(4*few), 4*few)
			}
		})
	}
}
