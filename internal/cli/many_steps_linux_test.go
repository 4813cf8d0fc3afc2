package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// scaleBed runs flowrun in a folder of its own.
type scaleBed struct {
	t   *testing.T
	dir string
}

// many writes a definition with n steps that each wait for two of the hundred steps before, and
// returns its name.
func (b scaleBed) many(n int, body string) string {
	b.t.Helper()
	var text strings.Builder
	text.WriteString("name: many\ndescription: Very many steps.\nsteps:\n")
	for i := range n {
		after := ""
		if i >= 100 {
			after = fmt.Sprintf("s%d, s%d", i-100, i-99)
		}
		fmt.Fprintf(&text, "  - {name: s%d, wait-for: [%s], %s}\n", i, after, body)
	}
	b.write("many.yaml", text.String())
	return "./many.yaml"
}

func (b scaleBed) write(name, text string) {
	b.t.Helper()
	if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
		b.t.Fatal(err)
	}
}

func (b scaleBed) command(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir = b.dir
	c.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(b.dir, "state"), "HOME="+b.dir, "XDG_CONFIG_HOME="+b.dir, "GORACE=atexit_sleep_ms=0")
	return c
}

// flowrun returns the processor time of a command.
func (b scaleBed) flowrun(args ...string) time.Duration {
	b.t.Helper()
	c := b.command("flowrun", args...) // see TestMain
	var problems strings.Builder
	c.Stderr = &problems
	if err := c.Run(); err != nil {
		b.t.Fatalf("flowrun %v: %v\n%.2000s", args, err, problems.String())
	}
	return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
}

// TestManySteps: what a step costs does not depend on how many steps there are. None of
// them starts a process.
func TestManySteps(t *testing.T) {
	if raced() {
		t.Skip("compares processor time, which the race detector multiplies")
	}
	few, many := sizetest.Of(200, 400, 10_000), sizetest.Of(2000, 4000, 100_000)
	for name, c := range map[string]struct {
		body     string
		commands string // {file} is the definition; each line finds the run of the one before
	}{
		"skipped": {`run: "true", run-condition: "false"`, `
			validate {file}
			graph {file}
			run --dry-run {file}
			run --quiet {file}
			show latest
			timeline latest
			logs latest
			graph {file} latest`},
		"waits": {`wait: {for: 1ms}`, `run --quiet {file}`},
		"tools": {`use-tool: ./leaf.yaml`, `
			validate {file}
			run --dry-run {file}
			run --quiet {file}
			show latest`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := scaleBed{t, t.TempDir()}
			b.write("leaf.yaml", "name: leaf\ndescription: A tool of one step.\nsteps: [{name: w, wait: {for: 1ms}}]\n")
			cost := func(n int) []time.Duration { // of a step, by command
				file := b.many(n, c.body)
				var list []time.Duration
				for _, line := range strings.Split(strings.TrimSpace(c.commands), "\n") {
					args := strings.Fields(strings.ReplaceAll(line, "{file}", file))
					list = append(list, b.flowrun(args...)/time.Duration(n))
				}
				return list
			}
			short, long := cost(few), cost(many)
			for i, line := range strings.Split(strings.TrimSpace(c.commands), "\n") {
				t.Logf("%s: a step costs %v of %d, %v of %d", strings.TrimSpace(line), short[i], few, long[i], many)
				if long[i] > 3*short[i] { // twice, and room for caches and the garbage collector
					t.Errorf("%s: a step costs %v of %d, %v of %d", strings.TrimSpace(line), short[i], few, long[i], many)
				}
			}
		})
	}
}

// TestFileLimit: a step needs three of the files that flowrun may have open. Where there are fewer than
// --max-parallel needs, fewer steps run at once, and flowrun says so.
func TestFileLimit(t *testing.T) {
	t.Parallel()
	b := scaleBed{t, t.TempDir()}
	b.write("together.yaml", `name: together
description: Steps that end when the last of 60 has started.
steps:
  - name: p
    for-each: {items: 1..60, max-parallel: 60}
    timeout: 60s
    bash: |
      : > here-{item}
      test $(ls | grep -c ^here-) -lt 60 || : > all
      until [ -e all ]; do sleep 0.2; done
`)
	c := b.command("sh", "-c", "ulimit -n 440 && exec flowrun run --max-parallel 100 ./together.yaml")
	out, err := c.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "max-parallel is reduced from 100 to 70: this process may have only 440 open files") {
		t.Errorf("%v\n%.3000s", err, out)
	}
}

// TestManyAtOnce: very many processes, as many as the machine allows, and waits are active
// at the same time.
func TestManyAtOnce(t *testing.T) {
	processes, waits := sizetest.Of(50, 50, 5000), sizetest.Of(500, 500, 10_000)
	t.Parallel()
	b := scaleBed{t, t.TempDir()}
	b.write("processes.yaml", fmt.Sprintf(`name: processes
description: Processes that sleep at the same time.
steps: [{name: p, for-each: {items: 1..%d, max-parallel: %[1]d}, run: sleep 2}]
`, processes))
	b.flowrun("run", "--quiet", "--max-parallel", fmt.Sprint(processes), "./processes.yaml")
	b.write("waits.yaml", fmt.Sprintf(`name: waits
description: Waits that begin together.
steps: [{name: w, for-each: {items: 1..%d, max-parallel: %[1]d}, wait: {for: 2s}}]
`, waits))
	began := time.Now()
	b.flowrun("run", "--quiet", "./waits.yaml")
	if took := time.Since(began); took > time.Minute {
		t.Errorf("%d waits of 2s took %v", waits, took)
	}
}
