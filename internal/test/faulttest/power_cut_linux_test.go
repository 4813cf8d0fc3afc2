package faulttest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/test/needtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// tools are the steps of the tools that the workers run, in plan order. The last
// step of each exits with the parameter CODE.
var tools = map[string][]string{
	"ask":   {"first", "large", "effect", "nested", "nested/look", "nested/effect", "count", "verdict"},
	"again": {"first", "effect", "verdict"},
}

// printed is the output of some steps, where N stands for the parameter N.
var printed = map[string]string{
	"first":       "first N\n",
	"nested/look": "inner N\n",
	"count":       "1199\n", // lines of what large printed, without the last newline
}

// output is what a step has printed in the run N, "" where that is not looked at.
func output(step string, n int) string {
	return strings.ReplaceAll(printed[step], "N", strconv.Itoa(n))
}

// Whatever was acknowledged before a power cut is there after it, and what was
// interrupted can be resumed again.
func TestPowerCut(t *testing.T) {
	sizetest.Need(t, sizetest.Gate, "starts virtual machines")
	long := sizetest.Chosen() == sizetest.Long
	l, err := findLab()
	if err != nil {
		needtest.Missing(t, "cannot cut a machine's power: %v; install %s", err, packages)
	}
	b := &bench{lab: l, dir: t.TempDir()}
	b.prepare(t)
	seed := sizetest.Seed(t)
	random := rand.New(rand.NewPCG(seed, 0))
	cycles := 1
	if long {
		cycles = 20
	}
	for i := range cycles {
		p := plan{rule: "held", acks: 1 + random.IntN(8), after: time.Duration(random.Int64N(int64(time.Second)))}
		if i%5 == 4 { // while the history itself is begun
			p.acks, p.after = 0, 2*p.after
		}
		if i%2 == 1 {
			p.rule = "eager"
		}
		t.Run(strconv.Itoa(i+1), func(t *testing.T) { b.cycle(t, p) })
	}
	t.Logf("acknowledged: %d ends of runs, %d starts of steps; interrupted runs: %d", b.exits, b.starts, b.interrupted)
	if b.forgotten == 0 {
		t.Error("nothing is proved: no line was lost that was not synced")
	}
	if long && b.exits*b.starts*b.interrupted == 0 {
		t.Error("nothing is proved: one of these numbers is 0")
	}
}

// bench is what the cycles share, and what they have seen.
type bench struct {
	*lab
	dir, initramfs string

	exits, starts, interrupted, forgotten int
}

// prepare builds flowrun and what the machines begin with.
func (b *bench) prepare(t *testing.T) {
	t.Helper()
	program := filepath.Join(b.dir, "flowrun")
	build := exec.Command("go", "build", "-o", program, "github.com/flowrun/flowrun/cmd/flowrun")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=amd64") // the machine has no C library
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build flowrun: %v\n%s", err, out)
	}
	b.initramfs = filepath.Join(b.dir, "initramfs")
	b.lab.initramfs(t, b.initramfs, program)
}

// plan is when a cycle cuts, and the rule for unsynced data.
type plan struct {
	rule  string        // "held" or "eager"
	acks  int           // wait for so many acknowledgements
	after time.Duration // and then so long
}

// cycle is one power cut and what is found after it.
func (b *bench) cycle(t *testing.T, p plan) {
	t.Logf("unsynced data is %s; the cut comes %v after %d acknowledgements", p.rule, p.after, p.acks)
	disk := filepath.Join(t.TempDir(), "disk")
	b.disk(t, disk)

	m := b.boot(t, b.initramfs, disk, "writeback="+p.rule)
	for _, worker := range []string{"work ask", "work again", "forget"} {
		m.send(worker)
	}
	acks, err := parse(m.cut("ack-", p.acks, p.after))
	if err != nil {
		m.fail("%v", err)
	}

	m = b.boot(t, b.initramfs, disk, "writeback="+p.rule)
	defer m.kill()
	found := m.history()
	for _, problem := range acks.missing(found) {
		t.Error(problem)
	}
	interrupted := 0
	for _, run := range found {
		if run.Status == "interrupted" {
			interrupted++
			m.resume(run)
		}
	}
	if a := m.run("flowrun run /guest/again.yaml N=0 CODE=0"); a.code != 0 {
		t.Errorf("a new run exits with %d: %s", a.code, a.stderr)
	}
	forgotten := acks.forgotten - len(strings.Fields(m.run("forgotten").stdout))
	b.exits += len(acks.exits)
	b.starts += len(acks.starts)
	b.interrupted += interrupted
	if p.rule == "held" {
		b.forgotten += max(forgotten, 0)
	}
	t.Logf("acknowledged: %d ends of runs, %d starts of steps; interrupted runs: %d; unsynced lines lost: %d of %d",
		len(acks.exits), len(acks.starts), interrupted, forgotten, acks.forgotten)
	if t.Failed() {
		m.fail("the history is not whole")
	}
}

// resume resumes an interrupted run, without the word to run interrupted steps
// again and then with it.
func (m *machine) resume(p *past) {
	t := m.t
	t.Helper()
	a := m.run("flowrun resume", p.ID)
	if want := p.resumes(); a.code != want {
		t.Errorf("flowrun resume %s exits with %d, want %d: %s\nbefore it: %v", p.ID, a.code, want, a.stderr, p.Events)
	}
	acks, err := parse(a.console)
	if err != nil {
		m.fail("%v", err)
	}
	for _, s := range acks.starts {
		if p.has("step.started", s.step) {
			t.Errorf("flowrun resume %s started %s a second time, which says on-interrupt: fail", p.ID, s.step)
		}
	}
	if between := m.past(p.ID); a.code == 7 && (len(between.Events) != len(p.Events) || between.Status != "interrupted" || len(acks.starts) > 0) {
		t.Errorf("flowrun resume %s exits with 7, and yet something was done: the run is %s, %v", p.ID, between.Status, between.Events)
	}
	if a := m.run("flowrun resume", p.ID, "--rerun-interrupted"); a.code != exitCode(p.Params.Code) {
		t.Errorf("flowrun resume %s --rerun-interrupted exits with %d: %s", p.ID, a.code, a.stderr)
	}
	for _, problem := range m.past(p.ID).incomplete(p.Params.Code) {
		t.Errorf("after flowrun resume %s --rerun-interrupted: %s", p.ID, problem)
	}
}

// resumes is the exit code to be had of flowrun resume. The machine was booted
// anew, so that each step that has not ended may have been started.
func (p *past) resumes() int {
	switch {
	case p.Tool == "ask" && !p.has("step.finished", "verdict"):
		return 7
	case p.Tool == "again" && p.has("step.started", "effect") && !p.has("step.finished", "effect"):
		return 1 // it counts as failed for good
	}
	return exitCode(p.Params.Code)
}

// exitCode is that of flowrun run, where a step exits with code.
func exitCode(code int) int { return min(code, 1) }

// acks are what the workers acknowledged.
type acks struct {
	exits     []end
	starts    []start // of steps with on-interrupt: fail
	forgotten int     // lines written and not synced
}

// end is a flowrun run that has returned.
type end struct {
	tool, run string
	n, code   int // parameters
}

// start is a step that has begun.
type start struct{ run, step string }

// parse reads what a machine printed. An end that is not as it should be is an
// error.
func parse(lines []string) (*acks, error) {
	var a acks
	for _, line := range lines {
		f := strings.Fields(line)
		switch {
		case len(f) == 3 && f[0] == "ack-start":
			a.starts = append(a.starts, start{f[1], f[2]})
		case len(f) == 2 && f[0] == "forgotten":
			a.forgotten++
		case len(f) >= 5 && f[0] == "ack-exit":
			n, err := strconv.Atoi(f[2])
			e := end{f[1], f[3], n, 0}
			if n%3 == 0 {
				e.code = 3
			}
			if err != nil || f[3] == "none" || f[4] != strconv.Itoa(exitCode(e.code)) {
				return nil, fmt.Errorf("a run did not end as it should: %s", line)
			}
			a.exits = append(a.exits, e)
		case strings.Contains(line, "ack-"):
			return nil, fmt.Errorf("the machine printed %q", line)
		}
	}
	return &a, nil
}

// missing says what was acknowledged and is not in the history, and what in it
// cannot be.
func (a *acks) missing(found map[string]*past) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	for _, e := range a.exits {
		p := found[e.run]
		if p == nil {
			say("the end of run %s was acknowledged, and there is no such run", e.run)
			continue
		}
		if p.Tool != e.tool || p.Params.N != e.n || p.Params.Code != e.code {
			say("run %s was %s N=%d CODE=%d, and is recorded as %s with %v", e.run, e.tool, e.n, e.code, p.Tool, p.Params)
		}
		for _, problem := range p.incomplete(e.code) {
			say("the end of run %s was acknowledged: %s", e.run, problem)
		}
	}
	seen := map[start]bool{}
	for _, s := range a.starts {
		if p := found[s.run]; p == nil || !p.has("step.started", s.step) {
			say("the start of %s in run %s was acknowledged, and is not recorded", s.step, s.run)
		}
		if seen[s] {
			say("%s was started twice in run %s", s.step, s.run)
		}
		seen[s] = true
	}
	for id, p := range found {
		if !slices.Contains([]string{"succeeded", "failed", "interrupted"}, p.Status) {
			say("run %s is %s, and nobody is there to run it", id, p.Status)
		}
		if gap := p.gap(); gap > 0 {
			say("run %s has no event %d, but later ones", id, gap)
		}
	}
	return problems
}

// past is what the history says of a run.
type past struct {
	document
	Listed document // as in the list of runs
	Events []event
}

// document is the part of flowrun/run.v1, and of an entry of flowrun/runs.v1, that
// matters here.
type document struct {
	ID       string
	Tool     string
	Status   string
	ExitCode int `json:"exit_code"`
	Params   struct{ N, Code int }
	Steps    []step
}

type step struct{ ID, Status, Output string }

type event struct {
	Seq  int
	Kind string
	Node string
}

// has says whether there is such an event. A step that runs again inside a nested
// tool is the same step under a path with a number (nested#2/effect).
func (p *past) has(kind, step string) bool {
	return slices.ContainsFunc(p.Events, func(e event) bool { return e.Kind == kind && stable(e.Node) == stable(step) })
}

// stable is a path without the numbers of tries.
func stable(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		parts[i], _, _ = strings.Cut(part, "#")
	}
	return strings.Join(parts, "/")
}

// gap is the number of the first event that is not there although a later one is; 0
// for none.
func (p *past) gap() int {
	for i, e := range p.Events {
		if e.Seq != i+1 {
			return i + 1
		}
	}
	return 0
}

// incomplete says what a run that came to its end lacks. Its last step exited with
// code.
func (p *past) incomplete(code int) (problems []string) {
	say := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	status := "succeeded"
	if code != 0 {
		status = "failed"
	}
	for _, d := range []document{p.document, p.Listed} {
		if d.Status != status || d.ExitCode != code {
			say("the run is %s with exit code %d, want %s with %d", d.Status, d.ExitCode, status, code)
		}
	}
	if n := len(p.Events); n == 0 || p.Events[n-1].Kind != "run.finished" {
		say("the last event is not the run's end: %v", p.Events)
	}
	names := tools[p.Tool]
	for i, name := range names {
		if i >= len(p.Steps) || stable(p.Steps[i].ID) != name {
			say("there is no step %s: %v", name, p.Steps)
			break
		}
		want := "succeeded"
		if i == len(names)-1 {
			want = status
		}
		if got := p.Steps[i].Status; got != want {
			say("step %s is %s, want %s", name, got, want)
		}
		if !p.has("step.started", name) || !p.has("step.finished", name) {
			say("the events lack the start or the end of step %s", name)
		}
		if want, got := output(name, p.Params.N), p.Steps[i].Output; want != "" && got != want {
			say("the output of step %s is %q, want %q", name, got, want)
		}
	}
	return problems
}

// history asks a machine for all its runs.
func (m *machine) history() map[string]*past {
	m.t.Helper()
	var list struct{ Runs []document }
	m.read(&list, "flowrun runs -o json")
	found := map[string]*past{}
	for _, d := range list.Runs {
		found[d.ID] = m.past(d.ID)
		found[d.ID].Listed = d
	}
	return found
}

// past asks a machine for one run.
func (m *machine) past(id string) *past {
	m.t.Helper()
	p := &past{}
	m.read(&p.document, "flowrun show", id, "-o json")
	p.Listed = p.document
	a := m.run("flowrun events", id)
	for line := range strings.Lines(a.stdout) {
		var e event
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			m.fail("flowrun events %s: %v in %q", id, err, line)
		}
		p.Events = append(p.Events, e)
	}
	if a.code != 0 {
		m.fail("flowrun events %s exits with %d: %s", id, a.code, a.stderr)
	}
	return p
}

// read runs a command that prints one JSON document.
func (m *machine) read(into any, words ...string) {
	m.t.Helper()
	a := m.run(words...)
	if a.code != 0 {
		m.fail("%s exits with %d: %s", strings.Join(words, " "), a.code, a.stderr)
	}
	if err := json.Unmarshal([]byte(a.stdout), into); err != nil {
		m.fail("%s: %v", strings.Join(words, " "), err)
	}
}

// The checks find what they are there to find.
func TestMissing(t *testing.T) {
	good := []string{"ack-start r1 effect", "forgotten 1", "ack-exit again 3 r1 1 flowrun: run r1 failed", "ack-start r2 nested#2/effect"}
	whole := func() map[string]*past {
		d := document{ID: "r1", Tool: "again", Status: "failed", ExitCode: 3}
		d.Params.N, d.Params.Code = 3, 3
		p := &past{document: d, Listed: d, Events: []event{{1, "run.started", ""}}}
		for _, name := range tools["again"] {
			p.Steps = append(p.Steps, step{name, "succeeded", output(name, 3)})
			p.Events = append(p.Events, event{len(p.Events) + 1, "step.started", name}, event{len(p.Events) + 2, "step.finished", name})
		}
		p.Steps[2].Status = "failed"
		p.Events = append(p.Events, event{len(p.Events) + 1, "run.finished", ""})
		begun := document{ID: "r2", Tool: "ask", Status: "interrupted"}
		return map[string]*past{"r1": p, "r2": {document: begun, Listed: begun,
			Events: []event{{1, "run.started", ""}, {2, "step.started", "nested/effect"}}}}
	}
	for _, c := range []struct {
		name  string
		spoil func(found map[string]*past)
		want  string
	}{
		{"nothing", func(map[string]*past) {}, ""},
		{"a run is gone", func(f map[string]*past) { delete(f, "r1") }, "there is no such run"},
		{"another run has its id", func(f map[string]*past) { f["r1"].Params.N = 4 }, "is recorded as"},
		{"it has not ended", func(f map[string]*past) { f["r1"].Status = "interrupted" }, "the run is interrupted"},
		{"the list says otherwise", func(f map[string]*past) { f["r1"].Listed.ExitCode = 0 }, "exit code 0"},
		{"the last event is gone", func(f map[string]*past) { f["r1"].Events = f["r1"].Events[:7] }, "not the run's end"},
		{"an event is gone", func(f map[string]*past) { f["r1"].Events = slices.Delete(f["r1"].Events, 2, 3) }, "no event 3"},
		{"a step is gone", func(f map[string]*past) { f["r1"].Steps = f["r1"].Steps[:2] }, "no step verdict"},
		{"a step has another end", func(f map[string]*past) { f["r1"].Steps[1].Status = "interrupted" }, "step effect is interrupted"},
		{"an output is gone", func(f map[string]*past) { f["r1"].Steps[0].Output = "" }, `step first is ""`},
		{"a start is gone", func(f map[string]*past) { f["r2"].Events = f["r2"].Events[:1] }, "nested#2/effect in run r2"},
		{"a run is said to live", func(f map[string]*past) { f["r2"].Status = "running" }, "nobody is there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, err := parse(good)
			if err != nil || a.forgotten != 1 {
				t.Fatal(a, err)
			}
			found := whole()
			c.spoil(found)
			got := strings.Join(a.missing(found), "\n")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("the problems are %q, want %q", got, c.want)
			}
		})
	}
	for _, bad := range []string{"ack-exit again 1 none 70 flowrun: cannot", "ack-exit again 3 r1 0", "ack-exit again x r1 0", "xack-start r1 effect"} {
		if _, err := parse([]string{bad}); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
	if a, err := parse([]string{good[0], good[0]}); err != nil || !strings.Contains(strings.Join(a.missing(whole()), "\n"), "started twice") {
		t.Error("a second start is not noticed")
	}
}
