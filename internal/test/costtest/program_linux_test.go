package costtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/pagefault"
	"github.com/flowrun/flowrun/internal/test/programtest"
)

// rounds is how often the workload runs. Short ones run more often: a pause in them, such as until
// the journal syncs, changes their counts more.
func (w workload) rounds() int {
	if w.steps > 0 {
		return rounds
	}
	return 4 * rounds // a busy machine makes the Go runtime start more threads in most of them
}

// program is the flowrun command, in a folder with the definitions of the workloads.
type program struct {
	path, dir string
}

// The steps of the workloads. They are fewer than in bench, because tracing is slow.
const (
	independent = 200
	chained     = 100
)

// build compiles flowrun and writes the workloads.
func build(t *testing.T) program {
	t.Helper()
	needtest.ReleaseFlags(t)
	p := program{dir: t.TempDir()}
	var err error
	if p.path, err = programtest.Build(p.dir); err != nil {
		t.Fatal(err)
	}
	p.write(t, "independent", independent, func(int) string { return "run: /bin/true\n    wait-for: []" })
	p.write(t, "chain", chained, func(int) string { return "run: /bin/true" })
	p.write(t, "one", 1, func(int) string { return "bash: echo hi" })
	return p
}

// write writes the definition NAME.yaml with n steps.
func (p program) write(t *testing.T, name string, n int, body func(int) string) {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "name: %s\ndescription: a workload\nsteps:\n", name)
	for i := range n {
		fmt.Fprintf(&b, "  - name: s%d\n    %s\n", i, body(i))
	}
	if err := os.WriteFile(filepath.Join(p.dir, name+".yaml"), []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command returns the command that runs argv in the folder, with its state in p.state.
func (p program) command(argv ...string) *exec.Cmd {
	c := exec.Command(argv[0], argv[1:]...)
	c.Dir = p.dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "LANG=C", "FLOWRUN_STATE_DIR=" + p.state()}
	return c
}

func (p program) state() string { return filepath.Join(p.dir, "state") }

// workload is a command line of flowrun to count.
type workload struct {
	name  string
	args  []string
	steps int  // 0: its counts are of the whole command, and not of a step
	warm  bool // with the history that the workload before it leaves
}

var workloads = []workload{
	{name: "run of independent steps", args: []string{"run", "--max-parallel", "2", "./independent.yaml"}, steps: independent},
	{name: "run of a chain", args: []string{"run", "./chain.yaml"}, steps: chained},
	{name: "run of one echo, new history", args: []string{"run", "./one.yaml"}},
	{name: "run of one echo", args: []string{"run", "./one.yaml"}, warm: true},
	{name: "version", args: []string{"version"}, warm: true},
}

// add records what a workload used, divided by its steps.
func (w workload) add(got counts, what string, value float64) {
	name := w.name + ", " + what
	if w.steps > 0 {
		name, value = name+" a step", value/float64(w.steps)
	}
	got.add(name, value)
}

// prepare removes the state, unless the workload is to find the history of the one before it.
func (p program) prepare(t *testing.T, w workload) {
	t.Helper()
	if w.warm {
		return
	}
	if err := os.RemoveAll(p.state()); err != nil {
		t.Fatal(err)
	}
}

// use is what a process itself used, without its children.
type use struct {
	pages   float64 // pages of memory that were mapped, by page faults or together
	written float64 // bytes that it wrote by system calls
}

// measure runs a command to its end.
func measure(t *testing.T, c *exec.Cmd) use {
	t.Helper()
	var out strings.Builder
	c.Stderr = &out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	// The files in /proc are there until the process was waited for.
	if err := unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	var u use
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(stat), ") ")
	u.pages, _ = strconv.ParseFloat(strings.Fields(fields)[7], 64)
	io, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", c.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if m := regexp.MustCompile(`wchar: (\d+)`).FindSubmatch(io); m != nil {
		u.written, _ = strconv.ParseFloat(string(m[1]), 64)
	}
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %v\n%s", c.Args, err, out.String())
	}
	return u
}

// TestProgram counts what the flowrun command uses.
func TestProgram(t *testing.T) {
	p := build(t)
	t.Run("usage", p.usage)
	t.Run("faults", p.faults)
	t.Run("calls", p.systemCalls)
}

// usage counts what the kernel knows of a process, and what its start takes.
func (p program) usage(t *testing.T) {
	got := counts{}
	for _, w := range workloads {
		for range w.rounds() {
			p.prepare(t, w)
			u := measure(t, p.command(append([]string{p.path}, w.args...)...))
			w.add(got, "pages mapped", u.pages)
			w.add(got, "bytes written", u.written)
		}
	}
	addInits(t, got, "inits", p.command(p.path, "version"))
	check(t, "program", got)
}

// faults counts the page faults of commands as they are used most, and logs where they fall.
func (p program) faults(t *testing.T) {
	script := "module.exports = { name: 'script', description: 'a workload', async execute() { return 'hi' } }\n"
	if err := os.WriteFile(filepath.Join(p.dir, "script.tool.js"), []byte(script), 0o644); err != nil {
		t.Fatal(err)
	}
	got := counts{}
	for _, w := range append(workloads[slices.IndexFunc(workloads, func(w workload) bool { return w.name == "run of one echo" }):],
		workload{name: "run of a script", args: []string{"run", "./script.tool.js"}, warm: true},
		workload{name: "call", args: []string{"call", "--auto-approve", "*", "./one.yaml"}, warm: true},
		workload{name: "tool list", args: []string{"tool", "list"}, warm: true}) {
		var lowest pagefault.Faults
		for range 6 * w.rounds() { // the place of the heap differs, and with it how much of it can be mapped at once
			var said strings.Builder
			c := p.command(append([]string{p.path}, w.args...)...)
			c.Stderr = &said
			f, err := pagefault.Count(c)
			if errors.Is(err, pagefault.ErrUnavailable) {
				needtest.Missing(t, "%v", err)
			}
			if err != nil {
				t.Fatalf("%v: %v\n%s", w.args, err, said.String())
			}
			if lowest.Total() == 0 || f.Total() < lowest.Total() {
				lowest = f
			}
		}
		t.Logf("%s: %+v", w.name, lowest)
		w.add(got, "page faults", float64(lowest.Total()))
	}
	check(t, "faults", got)
}

// addInits adds what packages do before main starts, as the Go runtime reports it.
func addInits(t *testing.T, got counts, name string, c *exec.Cmd) {
	t.Helper()
	c.Env = append(c.Environ(), "GODEBUG=inittrace=1")
	out, err := c.CombinedOutput()
	var bytes, allocations float64
	lines := regexp.MustCompile(`(?m)^init .* (\d+) bytes, (\d+) allocs$`).FindAllSubmatch(out, -1)
	for _, m := range lines {
		b, _ := strconv.ParseFloat(string(m[1]), 64)
		n, _ := strconv.ParseFloat(string(m[2]), 64)
		bytes, allocations = bytes+b, allocations+n
	}
	if len(lines) == 0 {
		t.Fatalf("the runtime reports no inits: %v\n%s", err, out)
	}
	got.add(name+", packages", float64(len(lines)))
	got.add(name+", allocations", allocations)
	got.add(name+", bytes", bytes)
}
