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

// countsVariable names the file into which this program, as flowrun, writes what it has used.
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
		if err := os.WriteFile(file, fmt.Appendln(nil, now.TotalAlloc, now.Mallocs, now.Sys), 0o600); err != nil {
			panic(err)
		}
	}
	os.Exit(code)
}

// use is what a command has used.
type use struct {
	bytes, objects float64 // allocated
	memory         float64 // bytes from the system: its peak, because the Go runtime does not give them back
	time           time.Duration
}

// least returns the least of two measurements of the same.
func (u use) least(v use) use {
	return use{min(u.bytes, v.bytes), min(u.objects, v.objects), min(u.memory, v.memory), min(u.time, v.time)}
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
	c.Env = append(os.Environ(), countsVariable+"="+counts, "GOGC=50", // as cmd/flowrun has it in a large heap
		"FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var problems strings.Builder
	c.Stdout, c.Stderr = &problems, &problems
	if err := c.Run(); err != nil && !(wrong && c.ProcessState.ExitCode() == outcome.ExitInvalid) {
		t.Fatalf("flowrun %v: %v\n%.2000s", args, err, problems.String())
	}
	text, err := os.ReadFile(counts)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Sscan(string(text), &u.bytes, &u.objects, &u.memory); err != nil {
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

// What four times the units may cost, compared with one time: of what grows with the exponent 1.35, it is 6.5. And what a
// unit, which is up to three steps, may take of memory, in kilobytes: flowrun diff has them of two runs.
const (
	most       = 6.5
	mostMemory = 60
)

// growth says what grows faster than the units, of which there are few in one and four times as many in four; "" if
// nothing does. Differences below noise say nothing.
func growth(few int, none, one, four use) string {
	for _, of := range []struct {
		what                   string
		none, one, four, noise float64
	}{
		{"bytes", none.bytes, one.bytes, four.bytes, 100_000},
		{"objects", none.objects, one.objects, four.objects, 1000},
		{"seconds", none.time.Seconds(), one.time.Seconds(), four.time.Seconds(), 0.1},
	} {
		if of.four-of.none > most*max(of.one-of.none, of.noise) {
			return fmt.Sprintf("%.2f %s for %d units, %.2f for %d", of.one-of.none, of.what, few, of.four-of.none, 4*few)
		}
	}
	if each := (four.memory - none.memory) / float64(4*few) / 1000; each > mostMemory {
		return fmt.Sprintf("%.0f KB of memory for each of %d units", each, 4*few)
	}
	return ""
}

// TestGrowth measures each shape with each command. What a command uses depends a little on what else the machine does,
// so it is the least of up to three rounds.
func TestGrowth(t *testing.T) {
	few := sizetest.Of(250, 250, 500) // units
	sizes := []int{2, few, 4 * few}
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
			uses := map[string][]use{} // by command, of each size
			grows := map[string]string{}
			for round := 0; round == 0 || round < 3 && len(grows) > 0; round++ {
				for size, n := range sizes {
					for row, u := range s.measure(t, rows, n) {
						if round == 0 {
							uses[row] = append(uses[row], u)
						}
						uses[row][size] = uses[row][size].least(u)
					}
				}
				clear(grows)
				for row, u := range uses {
					if what := growth(few, u[0], u[1], u[2]); what != "" {
						grows[row] = what
					}
				}
			}
			for _, row := range rows {
				if what := grows[row]; what != "" {
					t.Errorf("%s: %s", row, what)
				}
				none, four, n := uses[row][0], uses[row][2], float64(4*few)
				t.Logf("%s: for each of %.0f units %.0f bytes, %.0f of memory and %v", row, n, (four.bytes-none.bytes)/n, (four.memory-none.memory)/n, four.time/time.Duration(n))
			}
		})
	}
}
