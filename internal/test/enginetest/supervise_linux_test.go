package enginetest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/test/programtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
)

// shortGrace is for trees that are stopped. A test that waited for longGrace would not
// end in time.
const (
	shortGrace = 300 * time.Millisecond
	longGrace  = 24 * time.Hour
)

// width is how many trees are in one tool, and tools how many tools there are: one at least for each way to stop them.
var (
	width = sizetest.Of(4, 16, 16)
	tools = sizetest.Of(4, 4, 32)
)

// forest is a tool whose steps are trees of processes that try to get away.
type forest struct {
	tag  string // in the command line of every process of it
	file string
}

var forests atomic.Int64

// plant writes a forest. head is put before its steps, and body into each.
func plant(t *testing.T, r *rand.Rand, head, body string, tree func(r *rand.Rand, sleep string) string) forest {
	t.Helper()
	f := forest{tag: fmt.Sprintf("300.%d%04d", os.Getpid(), forests.Add(1)), file: filepath.Join(t.TempDir(), "forest.yaml")}
	var b strings.Builder
	b.WriteString("name: forest\ndescription: Trees of processes\n" + head + "steps:\n")
	for i := range width {
		fmt.Fprintf(&b, "  - name: tree%d\n    parallel: true\n%s    bash: |\n", i, body)
		script := tree(r, "sleep "+f.tag)
		if i == 0 || r.IntN(4) > 0 { // most have a trunk: the step itself lasts
			script += "sleep " + f.tag + "\n"
		}
		b.WriteString("      " + strings.ReplaceAll(strings.TrimRight(script, "\n"), "\n", "\n      ") + "\n")
	}
	if err := os.WriteFile(f.file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for pid := range f.living() {
			syscall.Kill(pid, syscall.SIGKILL)
		}
	})
	return f
}

// wild are the ways processes have to get out of sight.
func wild(r *rand.Rand, sleep string) string { return grow(r, sleep, 2, append(marked, unmarked...)) }

// marked keep the run's marker in their environment, however they go.
var marked = []string{
	"SLEEP &",
	"(trap '' TERM; SLEEP) &",
	"setsid SLEEP &",
	"(setsid SLEEP &)",
	"(trap '' TERM HUP INT; setsid SLEEP &)",
	"(exec -a innocent SLEEP) &",
	"(setsid bash -c 'exec -a kworker/0:1 SLEEP' &)",
	"SLEEP | cat | SLEEP &",
	"{ SLEEP & kill -STOP $!; }",
	"(trap '' TERM; while :; do SLEEP; done) &",
	"(setsid bash -c 'trap \"\" TERM; (setsid SLEEP &); SLEEP' &)",
	"nohup SLEEP &",
	"(exec >/dev/null 2>&1; SLEEP) &",
}

// unmarked drop it.
var unmarked = []string{
	"(env -i setsid SLEEP &)",
	"(env -i SLEEP &)",
	"(env -i setsid sh -c 'trap \"\" TERM; SLEEP & SLEEP' &)",
	"(env -i setsid bash -c '(setsid SLEEP &); exec -a other SLEEP' &)",
}

// grow is a random script of branches.
func grow(r *rand.Rand, sleep string, depth int, branches []string) string {
	var b strings.Builder
	for range 1 + r.IntN(3) {
		if depth > 0 && r.IntN(3) == 0 {
			b.WriteString("(\n" + grow(r, sleep, depth-1, branches) + "wait\n) &\n")
			continue
		}
		b.WriteString(strings.ReplaceAll(branches[r.IntN(len(branches))], "SLEEP", sleep) + "\n")
	}
	return b.String()
}

// living are the forest's processes with their command lines. The dead that
// nobody has waited for have none.
func (f forest) living() map[int]string {
	found := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		text, _ := os.ReadFile(file)
		if bytes.Contains(text, []byte(f.tag)) {
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			found[pid] = strings.ReplaceAll(string(text), "\x00", " ")
		}
	}
	return found
}

// grown waits until n processes live.
func (f forest) grown(n int) error {
	if waittest.Holds(waittest.Limit, func() bool { return len(f.living()) >= n }) {
		return nil
	}
	return fmt.Errorf("%d of %d processes have started", len(f.living()), n)
}

// gone says whose end is missing.
func (f forest) gone(t *testing.T, when string) {
	t.Helper()
	for pid, cmd := range f.living() {
		t.Errorf("%s: survivor %d %s", when, pid, cmd)
	}
}

func (f forest) compile(t *testing.T) *engine.Plan {
	t.Helper()
	p, err := engine.Compile(library.New(library.Config{}), f.file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// withSecret has every stream of a forest go through a pipe, which the trees hold
// open.
const withSecret = "environment: {variables: {KEY: long secret}, secrets: [KEY]}\n"

// TestTrees stops trees from an embedding program, which this test is: TestMain
// calls HelperMain. Nothing survives.
func TestTrees(t *testing.T) {
	t.Parallel()
	for i := range tools {
		r := rand.New(rand.NewPCG(1, uint64(i)))
		limit := time.Duration(50+r.IntN(250)) * time.Millisecond
		var head, body string
		if r.IntN(2) == 0 {
			head = withSecret
		}
		how := []string{"step-timeout", "tool-timeout", "cancel", "force"}[i%4]
		switch how {
		case "step-timeout":
			body = fmt.Sprintf("    timeout: %v\n", limit)
		case "tool-timeout":
			head += fmt.Sprintf("timeout: %v\n", limit)
		}
		t.Run(fmt.Sprintf("%s-%d", how, i), func(t *testing.T) {
			t.Parallel()
			stopTrees(t, plant(t, r, head, body, wild), how, limit)
		})
	}
}

func stopTrees(t *testing.T, f forest, how string, limit time.Duration) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	force := make(chan struct{})
	grace := shortGrace
	if how == "force" {
		grace = longGrace
	}
	var stop *time.Timer
	begin := engine.WithSink(dag.SinkFunc(func(e dag.Event) {
		if how != "cancel" && how != "force" || e.Kind != dag.StepStarted || stop != nil {
			return
		}
		stop = time.AfterFunc(limit, func() {
			if how == "cancel" {
				cancel()
			} else {
				close(force)
			}
		})
	}))
	eng := engine.New(engine.Config{Parallel: width, Grace: grace})
	res, err := eng.Run(ctx, f.compile(t), nil, begin, engine.WithForce(force))
	f.gone(t, "after Run")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]dag.Status{"step-timeout": dag.Failed, "tool-timeout": dag.TimedOut, "cancel": dag.Cancelled, "force": dag.Cancelled}[how]
	if res.Status != want {
		t.Errorf("the run %s, want %s: %s", res.Status, want, res.Message)
	}
	for _, s := range res.Steps {
		ok := s.Status == dag.Succeeded || s.Status == dag.Cancelled && how != "step-timeout" ||
			s.Status == dag.TimedOut && how == "step-timeout" && s.ExitCode == dag.ExitTimeout
		if !ok {
			t.Errorf("%s: %s, exit code %d, %s %s", s.ID, s.Status, s.ExitCode, s.Reason, s.Message)
		}
	}
	for _, n := range res.Notices {
		if n.Code == notice.Escaped {
			t.Errorf("%+v", n)
		}
	}
}

// TestSignalsAreDefault: a step is not deaf to signals because what started it is.
func TestSignalsAreDefault(t *testing.T) {
	t.Parallel()
	own, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	p := compile(t, dir, "description: Tells\nrun: cat /proc/self/status\n")
	res, err := engine.New(engine.Config{}).Run(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := ignored(res.Output), ignored(string(own)); got == "" || got != want {
		t.Errorf("the step ignores the signals %q, this program %q", got, want)
	}
}

// ignored is the set of ignored signals in /proc/PID/status.
func ignored(status string) string {
	_, rest, _ := strings.Cut(status, "SigIgn:")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.TrimSpace(line)
}

// TestBackground: what a successful step leaves in the background lives until the
// run ends, and is then ended with a notice; detach leaves it.
func TestBackground(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := compile(t, dir, `
description: Leaves processes
steps:
  - name: leave
    bash: sleep 300 & echo $!
  - name: daemon
    bash: (setsid sleep 300 & echo $!)
  - name: detached
    bash: (setsid sleep 300 & echo $!)
    detach: true
  - name: look
    bash: kill -0 {leave.output} {daemon.output} {detached.output} && echo all live
`)
	res, err := engine.New(engine.Config{Grace: shortGrace}).Run(context.Background(), p, nil, engine.WithRunEnv(world(dir)))
	if err != nil {
		t.Fatal(err)
	}
	if res.Status != dag.Succeeded || res.Output != "all live\n" {
		t.Fatalf("%s %q %+v", res.Status, res.Output, res.Steps)
	}
	lives := func(step string) bool {
		pid, err := strconv.Atoi(strings.TrimSpace(res.Step(step).Output))
		return err == nil && syscall.Kill(pid, 0) == nil
	}
	if lives("leave") || lives("daemon") {
		t.Errorf("a background process outlived the run")
	}
	if !lives("detached") {
		t.Errorf("the detached process was ended with the run")
	} else {
		pid, _ := strconv.Atoi(strings.TrimSpace(res.Step("detached").Output))
		syscall.Kill(pid, syscall.SIGKILL)
	}
	if len(res.Notices) != 1 || res.Notices[0].Code != notice.Background || len(res.Notices[0].Processes) != 2 {
		t.Errorf("notices: %+v", res.Notices)
	}
}

// The environment of a process that this test program becomes when started again:
// a program that embeds flowrun, runs a forest and prints its Result.
const (
	asEmbedder = "FLOWRUN_TEST_EMBEDDER" // "helper", or "plain": does not call HelperMain
	embedFile  = "FLOWRUN_TEST_FILE"
	embedStop  = "FLOWRUN_TEST_STOP" // cancel after so long
)

func init() {
	how := os.Getenv(asEmbedder)
	if how == "" {
		return
	}
	if how == "helper" {
		engine.HelperMain()
	}
	if err := embed(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func embed() error {
	p, err := engine.Compile(library.New(library.Config{}), os.Getenv(embedFile))
	if err != nil {
		return err
	}
	ctx := context.Background()
	if stop, err := time.ParseDuration(os.Getenv(embedStop)); err == nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, stop)
		defer cancel()
	}
	hideCgroups()
	res, err := engine.New(engine.Config{Parallel: width, Grace: shortGrace}).Run(ctx, p, nil)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(res)
}

// hideCgroups keeps a run from having a leaf, where this process was given a view
// of the file system of its own and so may do that.
func hideCgroups() {
	own, _ := os.Readlink("/proc/self/ns/mnt")
	parent, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/mnt", os.Getppid()))
	if own != parent {
		_ = syscall.Mount("none", "/sys/fs/cgroup", "tmpfs", 0, "") // else there may be a leaf
	}
}

// embedder is the command that runs a forest in a process of its own.
func embedder(t *testing.T, f forest, how string, stop time.Duration) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asEmbedder+"="+how, embedFile+"="+f.file, "TMPDIR="+t.TempDir())
	if stop > 0 {
		cmd.Env = append(cmd.Env, embedStop+"="+stop.String())
	}
	return cmd
}

// TestTreesWithoutHelper: without a helper and without a cgroup everything that
// can be proven to be of the run is killed, and what cannot is reported.
func TestTreesWithoutHelper(t *testing.T) {
	t.Parallel()
	for i := range tools {
		r := rand.New(rand.NewPCG(2, uint64(i)))
		tree := wild
		if i%4 == 0 {
			tree = func(r *rand.Rand, sleep string) string { return grow(r, sleep, 2, marked) }
		}
		stop := time.Duration(100+r.IntN(300)) * time.Millisecond
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			f := plant(t, r, "", "", tree)
			cmd := embedder(t, f, "plain", stop)
			if os.Geteuid() == 0 {
				cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
			}
			out, err := cmd.Output()
			left := f.living()
			if err != nil {
				t.Fatalf("%v: %s", err, stderrOf(err))
			}
			escaped := escapees(t, out)
			for pid, cmd := range left {
				environ, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
				switch {
				case bytes.Contains(environ, []byte(procid.MarkRun+"=")):
					t.Errorf("survivor %d carries the run's marker: %s", pid, cmd)
				case !slices.Contains(escaped, pid):
					t.Errorf("survivor %d is not reported: %s", pid, cmd)
				}
			}
			t.Logf("%d escaped and were reported", len(left))
		})
	}
}

func stderrOf(err error) []byte {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.Stderr
	}
	return nil
}

// escapees are the processes that a Result's document reports as escaped.
func escapees(t *testing.T, doc []byte) (pids []int) {
	t.Helper()
	var res struct{ Notices []notice.Notice }
	if err := json.Unmarshal(doc, &res); err != nil {
		t.Fatalf("%v: %s", err, doc)
	}
	for _, n := range res.Notices {
		if n.Code != notice.Escaped {
			continue
		}
		for _, p := range n.Processes {
			pids = append(pids, p.PID)
		}
	}
	return pids
}

// TestEngineKilled: when the embedding program is killed, its helper ends what
// runs.
func TestEngineKilled(t *testing.T) {
	t.Parallel()
	f := plant(t, rand.New(rand.NewPCG(3, 3)), "", "", wild)
	cmd := embedder(t, f, "helper", 0)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	err := f.grown(width)
	cmd.Process.Kill()
	cmd.Wait()
	if err != nil {
		t.Fatal(err)
	}
	waittest.Holds(waittest.Limit, func() bool { return len(f.living()) == 0 })
	f.gone(t, "after the engine was killed")
}

// TestCommand is about the flowrun command itself.
func TestCommand(t *testing.T) {
	t.Parallel()
	flowrun, err := programtest.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Run("trees", func(t *testing.T) { t.Parallel(); testCommandTrees(t, flowrun) })
	t.Run("threads", func(t *testing.T) { t.Parallel(); testCommandThreads(t, flowrun) })
}

// command is a flowrun command line that leaves nothing on this machine. config is this
// user's configuration.
func command(t *testing.T, flowrun, config string, args ...string) *exec.Cmd {
	cmd := exec.Command(flowrun, args...)
	dir := t.TempDir()
	cmd.Env = append(os.Environ(), "FLOWRUN_STATE_DIR="+filepath.Join(dir, "state"), "TMPDIR="+dir, "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	if err := os.Mkdir(filepath.Join(dir, "flowrun"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "flowrun/config.yaml"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return cmd
}

// atTerminal gives a command a terminal as stderr, and copies to w what it shows there until done is called.
func atTerminal(t *testing.T, c *exec.Cmd, w io.Writer) (done func()) {
	person, terminal, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	c.Stderr = terminal
	copied := make(chan struct{})
	go func() {
		io.Copy(w, person)
		close(copied)
	}()
	return func() {
		terminal.Close()
		<-copied
		person.Close()
	}
}

// testCommandTrees stops trees by signals. Trees that ignore TERM take the whole grace
// period, so many commands run at once.
func testCommandTrees(t *testing.T, flowrun string) {
	ways := []struct {
		name   string
		head   string
		signal os.Signal
		again  bool // and again, as a person does for whom it takes too long
		code   int
	}{
		{"interrupt", "", os.Interrupt, false, 130},
		{"terminate", withSecret, syscall.SIGTERM, false, 143},
		{"interrupt-again", withSecret, os.Interrupt, true, 130},
		{"timeout", "timeout: 500ms\n", nil, false, dag.ExitTimeout},
	}
	atOnce := make(chan struct{}, 12)
	var all sync.WaitGroup
	defer all.Wait()
	for i := range tools {
		way, r := ways[i%len(ways)], rand.New(rand.NewPCG(4, uint64(i)))
		f := plant(t, r, way.head, "", wild)
		config := "grace: 1s\n"
		if way.again {
			config = fmt.Sprintf("grace: %v\n", longGrace)
		}
		cmd := command(t, flowrun, config, "run", f.file, "--progress", "plain", "--max-parallel", strconv.Itoa(width))
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		closeTerminal := func() {}
		if way.again { // only a person can force
			closeTerminal = atTerminal(t, cmd, &stderr)
		}
		all.Go(func() {
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			if err := cmd.Start(); err != nil {
				t.Error(err)
				return
			}
			ended := make(chan struct{})
			if way.signal != nil {
				if err := f.grown(width); err != nil {
					t.Errorf("%s: %v", way.name, err)
				}
				time.Sleep(time.Duration(r.IntN(200)) * time.Millisecond)
				cmd.Process.Signal(way.signal)
			}
			if pause := time.Duration(10+r.IntN(200)) * time.Millisecond; way.again {
				all.Go(func() {
					for { // one that comes before the last was heard is none
						select {
						case <-ended:
							return
						case <-time.After(pause):
							cmd.Process.Signal(way.signal)
						}
					}
				})
			}
			cmd.Wait()
			close(ended)
			closeTerminal()
			f.gone(t, way.name)
			if code := cmd.ProcessState.ExitCode(); code != way.code {
				t.Errorf("%s: exit code %d, want %d:\n%s", way.name, code, way.code, &stderr)
			}
			if strings.Contains(stderr.String(), "still running") {
				t.Errorf("%s: escapees are reported:\n%s", way.name, &stderr)
			}
		})
	}
}

// testCommandThreads: steps that wait hold no threads.
func testCommandThreads(t *testing.T, flowrun string) {
	steps, atOnce := sizetest.Of(128, 1000, 10_000), sizetest.Of(128, 256, 256)
	idle, _ := measure(t, flowrun, 1, "description: Idle\nrun: sleep 0.5\n")
	var wide strings.Builder
	wide.WriteString("description: Many ready steps\nsteps:\n")
	for i := range steps {
		fmt.Fprintf(&wide, "  - {name: s%d, run: sleep 0.5, parallel: true}\n", i)
	}
	busy, memory := measure(t, flowrun, atOnce, wide.String())
	t.Logf("%d ready steps, %d at once: %d threads, %d idle; peak memory %d KiB", steps, atOnce, busy, idle, memory)
	if idle == 0 || busy > idle+atOnce/2 { // a thread for each step would be atOnce
		t.Errorf("%d threads, %d when idle", busy, idle)
	}
}

// measure runs a definition, so many steps at once, and tells the most threads and
// the most memory (KiB) that flowrun itself had.
func measure(t *testing.T, flowrun string, atOnce int, definition string) (threads, memory int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "measured.yaml")
	if err := os.WriteFile(file, []byte("name: measured\n"+definition), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, flowrun, "", "run", file, "--progress", "none", "--max-parallel", strconv.Itoa(atOnce))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
			return threads, memory
		case <-time.After(5 * time.Millisecond):
		}
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		threads = max(threads, field(status, "Threads:"))
		memory = max(memory, field(status, "VmHWM:"))
	}
}

// field is a number in /proc/PID/status.
func field(status []byte, name string) (n int) {
	_, rest, _ := bytes.Cut(status, []byte(name))
	fmt.Sscan(string(rest), &n)
	return n
}
