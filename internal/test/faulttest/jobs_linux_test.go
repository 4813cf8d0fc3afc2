package faulttest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/programtest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// killJob is a definition whose steps leave traces. In its text START and END stand
// for the traces, and NAME for a name that no other story of the bed has.
type killJob struct {
	files map[string]string // job.yaml, and what it uses
	waits map[string]string // what a step waits for
	once  string            // its step with on-interrupt: fail
	fails []string          // steps that may fail
	after func(*story)      // looks at what a run has left; nil: nothing
}

// manifold has some of everything.
var manifold = killJob{
	once: "once",
	waits: map[string]string{"left": "first", "right": "first", "nest": "first", "flaky": "first", "nest/two": "nest/one",
		"once": "left right nest flaky", "asked": "once", "end": "asked", "tidy": "end"},
	files: map[string]string{
		"job.yaml": `name: NAME
description: Some of everything.
on-interrupt: retry
steps:
  - {name: first, sh: 'START; echo word; END'}
  - {name: left, sh: 'START; setsid sleep 300 & sleep 0.01; echo left; END'}
  - {name: right, parallel: true, sh: 'START; sleep 300 & sleep 0.005; echo right; END'}
  - {name: nest, parallel: true, use-tool: ./inner.yaml, with: {WORD: "{first.output}"}}
  - name: flaky # its first try fails
    parallel: true
    sh: 'START; test -e tried || { touch tried; exit 1; }; END'
    error-handling: {retry: {attempts: 3, delay: 5}}
  - {name: once, on-interrupt: fail, sh: 'START; sleep 0.01; END'}
  - {name: asked, on-interrupt: ask, sh: 'START; sleep 0.01; END'}
  - {name: end, input: "{nest.output}", sh: 'START; echo {left.output} {right.output} $(cat); END'}
  - {name: tidy, run-condition: always(), sh: 'START; END'}
`,
		"inner.yaml": `name: inner
description: A tool that another uses.
parameters: {WORD: {description: A word.}}
steps:
  - {name: one, sh: 'START; sleep 0.005; echo {WORD}; END'}
  - {name: two, sh: 'START; echo {one.output}; END'}
`}}

// loops has loops over commands and groups, with items that are retried and items
// that may fail, and handlers.
var loops = killJob{
	fails: []string{"some[bad]"},
	waits: map[string]string{"some": "list", "group": "some", "kept": "group", "tell": "kept", "good": "tell", "tidy": "good"},
	files: map[string]string{"job.yaml": `name: NAME
description: Loops and handlers.
on-interrupt: retry
steps:
  - {name: list, sh: 'START; echo one; echo two; echo bad; END'}
  - name: some
    for-each: {items: "{list.output}", key: "{item}", min-success: 2, max-parallel: 2}
    outputs: {word: string}
    sh: 'START; sleep 300 & test {item} != bad || exit 3; echo word={item} >> $FLOWRUN_OUTPUT; echo {item}; END'
  - name: group
    matrix: {a: [x, y], b: [1, 2]}
    steps:
      - {name: first, sh: 'START; sleep 0.005; echo {matrix.a}; END'}
      - name: flaky # its first try fails
        sh: 'START; test -e tried-{matrix.a}{matrix.b} || { touch tried-{matrix.a}{matrix.b}; exit 1; }; echo {first.output}{matrix.b}; END'
        error-handling: {retry: {attempts: 3, delay: 5}}
    on-success: [{name: kept, sh: 'START; END'}]
  - {name: tell, sh: 'START; test {group.json[3]} = y2 && test {some.json[1]} = two && test {some.outputs.word[1]} = two || exit 1; END'}
on-success: [{name: good, sh: 'START; END'}]
on-failure: [{name: bad, sh: 'START; END'}]
finally: [{name: tidy, sh: 'START; END'}]
`}}

// smallLoop is for what is tried at every point.
var smallLoop = killJob{
	waits: map[string]string{"tidy": "t"},
	files: map[string]string{"job.yaml": `name: NAME
description: A loop and a handler.
on-interrupt: retry
steps:
  - name: t
    for-each: {items: [x, y]}
    steps:
      - {name: one, sh: 'START; echo {item}; END'}
      - {name: two, sh: 'START; test {one.output} = {item} || exit 1; END'}
finally: [{name: tidy, sh: 'START; END'}]
`}}

// small is for what is tried at every point.
var small = killJob{
	once:  "once",
	waits: map[string]string{"once": "left right", "tidy": "once"},
	files: map[string]string{"job.yaml": `name: NAME
description: A few steps.
on-interrupt: retry
steps:
  - {name: left, sh: 'START; sleep 300 & echo left; END'}
  - {name: right, parallel: true, sh: 'START; END'}
  - {name: once, on-interrupt: fail, sh: 'START; END'}
  - {name: tidy, run-condition: always(), sh: 'START; END'}
`}}

// held runs until there is a file "go".
var held = killJob{
	waits: map[string]string{"hold": "first"},
	files: map[string]string{"job.yaml": `name: NAME
description: Waits.
on-interrupt: retry
steps:
  - {name: first, sh: 'START; END'}
  - {name: hold, sh: 'START; while ! test -e go; do sleep 0.01; done; END'}
`}}

// traces are what START and END stand for: a line each, written at once.
var traces = strings.NewReplacer(
	"START", `echo "start $FLOWRUN_STEP $LIFE $FLOWRUN_IDEMPOTENCY_KEY" >>"$TRACES"`,
	"END", `echo "end $FLOWRUN_STEP $LIFE $FLOWRUN_IDEMPOTENCY_KEY" >>"$TRACES"`)

// trace is a line that a step wrote. Its life is that of the engine that started it.
type trace struct {
	what, step, key string
	life            int
}

// killBed is what stories share.
type killBed struct{ program, state string }

// story is one run of a job, through the deaths of its engines, to its end.
type story struct {
	*testing.T
	killBed
	job   killJob
	name  string
	dir   string // working directory of all lives
	run   string // the run's id; "" while none is on record
	lives []*life
	files int // how many files a command may have open; 0: as many as the test

	past   string // the run before, in the same folder
	meddle func() // what happens to the folder before each life

	lines  []string // the run's events, as flowrun events prints them
	events []dag.Event
}

// life is one process of the engine.
type life struct {
	*exec.Cmd
	number  int // from 1
	command string
	rerun   bool // --rerun-interrupted
	stderr  *os.File

	// When it is over:
	killed  bool
	code    int      // exit code
	printed []string // events, in the order they were recorded
	said    []string // the other lines of stderr
	before  int      // events on record when it began
	after   int      // and when it had ended

	given map[string]string // the files of the cached job when it began
}

// lifeBound is how long a life may take that nobody holds up.
const lifeBound = 3 * time.Minute

func (b killBed) story(t *testing.T, job killJob, name string) *story {
	t.Helper()
	s := &story{T: t, killBed: b, job: job, name: name, dir: t.TempDir()}
	if err := os.Mkdir(s.path("tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, text := range job.files {
		s.write(file, traces.Replace(strings.Replace(text, "NAME", name, 1)))
	}
	return s
}

func (s *story) path(name string) string { return filepath.Join(s.dir, name) }

func (s *story) write(name, text string) {
	s.Helper()
	if err := os.MkdirAll(filepath.Dir(s.path(name)), 0o700); err != nil {
		s.Fatal(err)
	}
	if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
		s.Fatal(err)
	}
}

// command is flowrun with the surroundings of the story.
func (s *story) command(args ...string) *exec.Cmd {
	c := exec.Command(s.program, args...)
	if s.files > 0 {
		c = exec.Command("sh", append([]string{"-c", `ulimit -n "$0" && exec "$@"`, strconv.Itoa(s.files), s.program}, args...)...)
	}
	c.Dir = s.dir
	c.Env = slices.DeleteFunc(os.Environ(), func(kv string) bool { return strings.HasPrefix(kv, "FLOWRUN_") })
	c.Env = append(c.Env, "FLOWRUN_STATE_DIR="+s.state, "XDG_CONFIG_HOME="+s.path("config"), "TMPDIR="+s.path("tmp"), "TRACES="+s.path("traces"))
	return c
}

// ask is the output of a command that only looks.
func (s *story) ask(args ...string) string {
	s.Helper()
	out, err := s.command(args...).Output()
	if err != nil {
		var exit *exec.ExitError
		errors.As(err, &exit)
		s.Fatalf("flowrun %s: %v: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out)
}

// begin starts a life. point is a FLOWRUN_FAILPOINT, "" for none.
func (s *story) begin(point string, args ...string) *life {
	s.Helper()
	l := &life{number: len(s.lives) + 1, command: args[0], rerun: slices.Contains(args, "--rerun-interrupted"), before: len(s.lines)}
	s.lives = append(s.lives, l)
	if s.meddle != nil {
		s.meddle()
	}
	l.given = s.given()
	if !slices.Contains(args, "--progress") {
		args = append(args, "--progress", "json")
	}
	l.Cmd = s.command(args...)
	l.Env = append(l.Env, "LIFE="+strconv.Itoa(l.number), "FLOWRUN_FAILPOINT="+point)
	var err error
	// A file, so that what was printed is there whoever else has it open.
	if l.stderr, err = os.Create(s.path("stderr." + strconv.Itoa(l.number))); err != nil {
		s.Fatal(err)
	}
	l.Stderr = l.stderr
	if err := l.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { l.Process.Kill() })
	return l
}

// end waits for a life, and looks at what it has left.
func (s *story) end(l *life) *life {
	s.Helper()
	bound := time.AfterFunc(lifeBound, func() { l.Process.Kill() })
	l.Wait()
	if !bound.Stop() {
		s.Fatalf("life %d hangs: %s", l.number, s.tale())
	}
	l.stderr.Close()
	l.code = l.ProcessState.ExitCode()
	l.killed = l.code < 0
	text, err := os.ReadFile(l.stderr.Name())
	if err != nil {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		switch {
		case strings.HasPrefix(line, `{"v":`) && strings.HasSuffix(line, "\n"):
			l.printed = append(l.printed, line)
		case !l.killed || strings.HasSuffix(line, "\n"):
			l.said = append(l.said, strings.TrimSuffix(line, "\n"))
		}
	}
	s.look(l)
	return l
}

// live is a life that nobody disturbs but the point.
func (s *story) live(point string, args ...string) *life {
	s.Helper()
	return s.end(s.begin(point, args...))
}

// look reads what is on record after a life. What was there before must be there
// still, and what was printed as well.
func (s *story) look(l *life) {
	s.Helper()
	if s.run == "" {
		s.find(l)
	}
	var lines []string
	if s.run != "" {
		lines = slices.Collect(strings.Lines(s.ask("events", s.run)))
	}
	if len(lines) < len(s.lines) || !slices.Equal(lines[:len(s.lines)], s.lines) {
		s.Fatalf("the %d events that were on record are not there after life %d: %s", len(s.lines), l.number, s.tale())
	}
	for _, line := range l.printed {
		if !slices.Contains(lines, line) {
			s.Fatalf("life %d has printed %q, which is not on record: %s", l.number, line, s.tale())
		}
	}
	for _, line := range lines[len(s.lines):] {
		var e dag.Event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			s.Fatal(err)
		}
		s.events = append(s.events, e)
		if e.Seq != uint64(len(s.events)) || e.Run != s.run {
			s.Fatalf("event %d of run %s is %q", len(s.events), s.run, line)
		}
	}
	s.lines, l.after = lines, len(lines)
}

// find learns the run's id: what was printed tells it, or else the list of runs.
func (s *story) find(l *life) {
	s.Helper()
	var list struct{ Runs []struct{ ID string } }
	if len(l.printed) > 0 {
		var e dag.Event
		if err := json.Unmarshal([]byte(l.printed[0]), &e); err != nil {
			s.Fatal(err)
		}
		s.run = e.Run
		return
	}
	if err := json.Unmarshal([]byte(s.ask("runs", "--tool", s.name, "-o", "json")), &list); err != nil {
		s.Fatal(err)
	}
	if len(list.Runs) > 0 && list.Runs[0].ID != s.past {
		s.run = list.Runs[0].ID
	}
}

// traces are what the steps have written so far.
func (s *story) traces() (list []trace) {
	s.Helper()
	text, err := os.ReadFile(s.path("traces"))
	if err != nil && !os.IsNotExist(err) {
		s.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 4 {
			s.Fatalf("a step wrote %q", line)
		}
		n, err := strconv.Atoi(f[2])
		if err != nil {
			s.Fatalf("a step wrote %q", line)
		}
		list = append(list, trace{what: f[0], step: f[1], life: n, key: f[3]})
	}
	return list
}

// await waits until a step has begun in a life.
func (s *story) await(step string, l *life) {
	s.Helper()
	waittest.Within(s, lifeBound, fmt.Sprintf("step %s in life %d", step, l.number), func() bool {
		return slices.ContainsFunc(s.traces(), func(d trace) bool { return d.what == "start" && d.step == step && d.life == l.number })
	}, func() any { return s.tale() })
}

// tale is everything that is known, for a failure.
func (s *story) tale() string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %q\n", s.run)
	for _, l := range s.lives {
		fmt.Fprintf(&b, "life %d: flowrun %s: killed %t, exit code %d, events %d to %d\n", l.number, strings.Join(l.Args[1:], " "), l.killed, l.code, l.before, l.after)
		for _, line := range l.said {
			fmt.Fprintf(&b, "\t%s\n", line)
		}
	}
	for _, e := range s.events {
		fmt.Fprintf(&b, "event %d: %s %s %d", e.Seq, e.Kind, e.Node, e.Attempt)
		if e.Result != nil {
			fmt.Fprintf(&b, " %s %s", e.Result.Status, e.Result.Message)
		}
		if len(e.Reset) > 0 {
			fmt.Fprintf(&b, " %v", e.Reset)
		}
		b.WriteByte('\n')
	}
	text, _ := os.ReadFile(s.path("traces"))
	fmt.Fprintf(&b, "traces:\n%s", text)
	return b.String()
}

// marked are the processes that belong to the run.
func (s *story) marked() (list []string) {
	s.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		s.Fatal(err)
	}
	for _, e := range entries {
		if _, err := strconv.Atoi(e.Name()); err != nil {
			continue
		}
		env, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		if bytes.Contains(env, []byte("FLOWRUN_RUN="+s.run+"\x00")) {
			line, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline")
			list = append(list, e.Name()+" "+string(bytes.ReplaceAll(line, []byte{0}, []byte{' '})))
		}
	}
	return list
}

// build makes the flowrun program.
func build(t *testing.T, tags ...string) string {
	t.Helper()
	program, err := programtest.Build(t.TempDir(), tags...)
	if err != nil {
		t.Fatal(err)
	}
	return program
}
