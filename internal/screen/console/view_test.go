package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/screentest"
)

// releasePlan is a plan with everything that a frame can show.
var releasePlan = map[string][]string{
	"":       {"checkout", "lint", "setup", "test", "build", "flaky", "notify", "publish"},
	"setup":  {"clone", "warm"},
	"test":   {"compile", "check"}, // a loop over a tool
	"notify": nil,
}

func releaseScene(logs func(run, path string, attempt int) []string) PlanInfo {
	return PlanInfo{
		Tool:  "release",
		Steps: func(path string) []string { return releasePlan[string(dag.ID(path).WithoutKeys())] },
		Upstream: func(path string) []string {
			if before, ok := strings.CutSuffix(path, "check"); ok {
				return []string{before + "compile"}
			}
			return upstreamOf[path]
		},
		Handler: func(path string) bool { return path == "notify" },
		Lasting: func(path string) bool { return path == "publish" },
		Pos:     func(string) (string, int, int) { return "flow.yaml", 7, 5 },
		Command: func(path string) string { return "go test ./...\necho done" },
		Logs:    logs,
	}
}

var upstreamOf = map[string][]string{
	"publish":    {"checkout", "lint", "setup", "test", "build", "flaky"},
	"setup/warm": {"setup/clone"},
}

// story returns the events of an unfinished run of releasePlan.
func story(at func(ms int) time.Time) []dag.Event {
	ended := func(from, to int, r dag.Result) *dag.Result {
		r.Started, r.Ended = at(from), at(to)
		return &r
	}
	start := func(ms int, path dag.ID) dag.Event {
		return dag.Event{Kind: dag.StepStarted, Node: path, Attempt: 1, Time: at(ms)}
	}
	finish := func(ms int, path dag.ID, r *dag.Result) dag.Event {
		return dag.Event{Kind: dag.StepFinished, Node: path, Time: at(ms), Result: r}
	}
	list := []dag.Event{
		{Kind: dag.RunStarted, Run: "01jd3k", Time: at(0)},
		start(0, "checkout"),
		finish(600, "checkout", ended(0, 600, dag.Result{Status: dag.Succeeded, Attempts: 1})),
		start(600, "lint"),
		finish(3700, "lint", ended(600, 3700, dag.Result{Status: dag.Failed, ExitCode: 2, Attempts: 1, Message: "it \x1b[2Jbroke",
			Stderr: &dag.Output{Inline: "one\ntwo \x1b]0;title\x07\x1b[31mred\u202e\n", Size: 30}})),
		start(700, "setup"), start(700, "setup/clone"),
		finish(900, "setup/clone", ended(700, 900, dag.Result{Status: dag.Succeeded, Attempts: 1})),
		start(900, "setup/warm"),
		start(1000, "test"),
		{Kind: dag.StepExpanded, Node: "test", Items: 8, Time: at(1000)},
		start(1100, "build"),
		start(1200, "flaky"),
		{Kind: dag.StepRetrying, Node: "flaky", Time: at(9000), Due: at(14_000), Result: ended(1200, 9000, dag.Result{Status: dag.TimedOut, ExitCode: 124, Attempts: 1})},
	}
	for i := range 5 {
		item := dag.ID(fmt.Sprintf("test[%d]", i))
		list = append(list, start(1000, item), start(1000, item+"/compile"))
		if i < 3 {
			list = append(list, finish(2000, item+"/compile", ended(1000, 2000, dag.Result{Status: dag.Succeeded})),
				start(2000, item+"/check"),
				finish(3000, item+"/check", ended(2000, 3000, dag.Result{Status: dag.Succeeded})),
				finish(3000, item, ended(1000, 3000, dag.Result{Status: dag.Succeeded})))
		}
	}
	return append(list, start(3000, "test[lin\x1bP0;ux\u202e]"))
}

// A frame fits the terminal, whatever its size.
func TestFrames(t *testing.T) {
	zero := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }
	for _, size := range []struct{ cols, rows int }{{40, 10}, {80, 24}, {200, 60}, {20, 5}} {
		for _, ascii := range []bool{false, true} {
			tr := newTree(releaseScene(nil))
			for _, e := range story(at) {
				tr.apply(e)
			}
			tr.Find("build").Data.tail.lines = lastLines("linking\nld: \x1b[1mwarning\x1b[0m 10%\rld: warning 90%\n\n", false)
			c := canvas{cols: size.cols, rows: size.rows, ascii: ascii, now: at(12_400)}
			lines := tr.frame(c, tr.choose(c.height()-1))
			for _, l := range lines {
				if columns(l) >= size.cols || Clean(l) != l {
					t.Errorf("%dx%d: %q", size.cols, size.rows, l)
				}
			}
			if len(lines) > c.height() {
				t.Errorf("%dx%d: %d lines, over %d", size.cols, size.rows, len(lines), c.height())
			}
			if !ascii || size.cols == 80 {
				golden(t, fmt.Sprintf("frame-%dx%d%s", size.cols, size.rows, map[bool]string{true: "-ascii"}[ascii]), strings.Join(lines, "\n")+"\n")
			}
		}
	}
}

// grow returns a run of n parallel steps, some ended and some running.
func grow(n int) *tree {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("s%05d", i)
	}
	t := newTree(PlanInfo{Tool: "wide", Steps: func(path string) []string {
		if path != "" {
			return nil
		}
		return names
	}})
	zero := time.Unix(0, 0)
	t.apply(dag.Event{Kind: dag.RunStarted, Time: zero})
	for i, name := range names {
		if i%3 < 2 {
			t.apply(dag.Event{Kind: dag.StepStarted, Node: dag.ID(name), Attempt: 1, Time: zero})
		}
		if i%3 == 0 {
			t.apply(dag.Event{Kind: dag.StepFinished, Node: dag.ID(name), Time: zero, Result: &dag.Result{Status: dag.Succeeded}})
		}
	}
	return t
}

// The cost of a frame depends on what it shows, not on the number of steps.
func TestFrameOfManySteps(t *testing.T) {
	c := canvas{cols: 80, rows: 24, now: time.Unix(5, 0)}
	cost := func(n int) (allocs float64, last string) {
		tr := grow(n)
		return testing.AllocsPerRun(10, func() { l := tr.frame(c, tr.choose(c.height()-1)); last = l[len(l)-1] }), last
	}
	small, _ := cost(300)
	large, last := cost(30_000)
	if large > small*1.5+10 {
		t.Errorf("%v allocations for 30,000 steps, %v for 300", large, small)
	}
	if want := " +29988 more: 9988 running, 10000 waiting, 10000 done"; last != want {
		t.Errorf("%q, want %q", last, want)
	}
}

// Steps that succeeded are dropped, failed ones are kept, and reset steps run again.
func TestTreeForgets(t *testing.T) {
	zero := time.Unix(0, 0)
	tr := newTree(releaseScene(nil))
	for _, e := range story(func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) }) {
		tr.apply(e)
	}
	end := func(path dag.ID, s dag.Status) {
		tr.apply(dag.Event{Kind: dag.StepFinished, Node: path, Time: zero, Result: &dag.Result{Status: s, ExitCode: 1}})
	}
	if tr.Running != 4 || tr.Root.Failures != 1 || tr.Settled != 2 || tr.Total != 7 {
		t.Errorf("%d running, %d failed, %d of %d", tr.Running, tr.Root.Failures, tr.Settled, tr.Total)
	}
	end("setup/warm", dag.Failed)
	end("setup", dag.Failed)
	end("test", dag.Succeeded)
	end("notify", dag.Skipped)
	if kept := tr.Find("setup/warm") != nil; !kept || tr.Root.Failures != 2 || tr.Settled != 4 || tr.Total != 7 {
		t.Errorf("%v: %d failed, %d of %d", kept, tr.Root.Failures, tr.Settled, tr.Total)
	}
	for _, gone := range []dag.ID{"setup/clone", "test[3]", "test[3]/compile"} {
		if tr.Find(gone) != nil {
			t.Errorf("%s is still there", gone)
		}
	}
	tr.apply(dag.Event{Kind: dag.RunResumed, Time: zero, Reset: []dag.ID{"lint", "setup", "setup/warm", "nowhere"}})
	if tr.Root.Failures != 0 || tr.Settled != 2 || displayName(tr.Root.Inside.Pending.First) != "lint" {
		t.Errorf("after the reset: %d failed, %d of %d, next %s", tr.Root.Failures, tr.Settled, tr.Total, displayName(tr.Root.Inside.Pending.First))
	}
	end("nowhere/at/all", dag.Failed)
	end("build[3", dag.Failed)
}

// A nested step that a resume resets makes the step that contains it run and end again.
func TestTreeReopens(t *testing.T) {
	zero := time.Unix(0, 0)
	tr := newTree(releaseScene(nil))
	event := func(k dag.Kind, path dag.ID, s dag.Status) {
		tr.apply(dag.Event{Kind: k, Node: path, Attempt: 1, Time: zero, Result: &dag.Result{Status: s}, Reset: []dag.ID{"setup/warm"}})
	}
	event(dag.RunStarted, "", 0)
	event(dag.StepStarted, "setup", 0)
	event(dag.StepStarted, "setup/warm", 0)
	event(dag.StepFinished, "setup/warm", dag.Failed)
	event(dag.StepFinished, "setup", dag.Failed)
	event(dag.RunResumed, "", 0)
	if s := tr.Find("setup").Status; s != dag.Running || tr.Root.Failures != 0 || tr.Settled != 0 {
		t.Errorf("setup is %s, %d failed, %d settled", s, tr.Root.Failures, tr.Settled)
	}
	event(dag.StepStarted, "setup/warm", 0)
	event(dag.StepFinished, "setup/warm", dag.Succeeded)
	event(dag.StepFinished, "setup", dag.Succeeded)
	if s := tr.Find("setup").Status; s != dag.Succeeded || tr.Root.Failures != 0 || tr.Settled != 1 {
		t.Errorf("setup is %s, %d failed, %d settled", s, tr.Root.Failures, tr.Settled)
	}
}

// No sequence of events, however invalid, makes the view panic.
func FuzzTree(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\x06"))
	paths := []dag.ID{"", "setup", "setup/clone", "setup#2/warm", "test", "test[0]", "test[0]/check", "test[a/b]", "new", "new/x", "notify", "]["}
	kinds := []dag.Kind{dag.RunStarted, dag.RunCancelling, dag.RunResumed, dag.StepStarted, dag.StepExpanded, dag.StepRetrying, dag.StepFallback, dag.StepFinished}
	f.Fuzz(func(t *testing.T, b []byte) {
		tr := newTree(releaseScene(nil))
		for i := 0; i+2 < len(b); i += 3 {
			status := dag.Succeeded + dag.Status(b[i+2])%(dag.Interrupted-dag.Succeeded+1)
			e := dag.Event{Kind: kinds[int(b[i])%len(kinds)], Node: paths[int(b[i+1])%len(paths)], Attempt: 1 + int(b[i+2])%3, Items: int(b[i+2]),
				Result: &dag.Result{Status: status, Attempts: int(b[i+2]) % 4, Tolerated: b[i+2]%5 == 0}, Reset: paths[:int(b[i+2])%len(paths)]}
			tr.apply(e)
			c := canvas{cols: int(b[i+2]), rows: int(b[i+1]), ascii: true}
			for _, l := range tr.frame(c, tr.choose(c.height()-1)) {
				if columns(l) >= max(c.cols, 12) && c.cols > 20 {
					t.Errorf("%d columns: %q", c.cols, l)
				}
			}
			if tr.Running < 0 || tr.Root.Failures < 0 || tr.Settled < 0 || tr.Settled > tr.Total {
				t.Errorf("%d running, %d failed, %d of %d", tr.Running, tr.Root.Failures, tr.Settled, tr.Total)
			}
		}
	})
}

// terminal simulates a screen that can be resized.
func terminal(cols, rows int) (*screentest.Screen, ViewOptions) {
	s := screentest.New(cols, rows)
	return s, ViewOptions{Size: s.Size}
}

// The view draws when something changed or a second has passed, at most ten times a second, and
// leaves a summary. Lines that are written meanwhile are above it.
func TestView(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := filepath.Join(t.TempDir(), "log")
		s, o := terminal(80, 40)
		zero := time.Now()
		v := NewView(s, releaseScene(func(run, path string, attempt int) []string {
			if run != "01jd3k" || path != "build" || attempt != 1 {
				return nil
			}
			return []string{log}
		}), nil, o)
		events := story(func(ms int) time.Time { return zero.Add(time.Duration(ms) * time.Millisecond) })
		for _, e := range events {
			v.Emit(e)
		}
		out, err := v.Output(), v.Above()
		fmt.Fprint(out, "first\x1b[2J\x07\nsec")
		fmt.Fprintln(err, "a warning")
		time.Sleep(time.Second)
		synctest.Wait()
		has(t, s, "first\uFFFD\na warning\n release 01jd3k  1s  2/7 done, 4 running, 1 failed\n", " ● build ", "waits: setup, test, build, flaky")
		before, _ := s.Frames()
		os.WriteFile(log, []byte("compiling\n\x1b[2Jlinking\n"), 0o600)
		time.Sleep(time.Second)
		synctest.Wait()
		has(t, s, "   │ compiling\n   │ linking\n")
		for range 1000 {
			v.Emit(dag.Event{Kind: dag.StepStarted, Node: "build", Attempt: 1, Time: time.Now()})
			fmt.Fprintln(err, "noise")
			time.Sleep(time.Millisecond)
		}
		fmt.Fprint(out, "ond")
		if after, _ := s.Frames(); after-before > 16 {
			t.Errorf("%d frames in two seconds", after-before)
		}
		v.Emit(dag.Event{Kind: dag.RunCancelling, Reason: dag.ReasonCancelled, Time: time.Now()})
		time.Sleep(time.Second)
		synctest.Wait()
		has(t, s, "noise\nStopping 4 steps, cleanup running... Ctrl-C again to force\n release 01jd3k  4s  stopping  2/7 done, 4 running, 1 failed\n")
		v.Emit(dag.Event{Kind: dag.RunFinished, Time: time.Now(), Result: &dag.Result{Status: dag.Cancelled}})
		v.Close()
		text := s.String()
		has(t, s, "second\n release 01jd3k  cancelled  ", "\nlint  FAILED exit 2: it \uFFFD[2Jbroke\n        $ go test ./...  (and 1 more line)\n        at flow.yaml:7\n        | one\n        | two red\uFFFD\n")
		if n := strings.Count(text, "01jd3k"); n != 1 {
			t.Errorf("%d headers are left on the screen:\n%s", n, text)
		}
		if f := s.Unknown(); len(f) > 0 {
			t.Errorf("it wrote %q", f)
		}
	})
}

func has(t *testing.T, s *screentest.Screen, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(s.String(), text) {
			t.Errorf("the screen does not show %q, but\n%s", text, s)
		}
	}
}

// While the view is suspended nothing is drawn. After that, the region is below what others
// wrote.
func TestViewSuspended(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := terminal(60, 20)
		v := NewView(s, releaseScene(nil), nil, o)
		for _, e := range story(func(int) time.Time { return time.Now() }) {
			v.Emit(e)
		}
		above := v.Above()
		time.Sleep(time.Second)
		v.Suspend()
		if text := s.String(); text != "\n" {
			t.Errorf("the region is still there:\n%s", text)
		}
		fmt.Fprint(s, "name? Ada\n")
		fmt.Fprint(above, "meanwhile\n")
		time.Sleep(3 * time.Second)
		synctest.Wait()
		if text := s.String(); text != "name? Ada\nmeanwhile\n" {
			t.Errorf("it was drawn over:\n%s", text)
		}
		v.Resume()
		time.Sleep(time.Second)
		synctest.Wait()
		has(t, s, "name? Ada\nmeanwhile\n release")
		v.Close()
	})
}

// Nothing above the region is lost when the window is resized.
func TestViewResized(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, o := terminal(40, 12)
		v := NewView(s, releaseScene(nil), nil, o)
		fmt.Fprintln(v.Above(), "above")
		for _, e := range story(func(int) time.Time { return time.Now() }) {
			v.Emit(e)
		}
		for _, size := range [][2]int{{200, 60}, {200, 20}, {80, 24}} {
			time.Sleep(time.Second)
			s.Resize(size[0], size[1])
		}
		time.Sleep(time.Second)
		v.Close()
		if text := s.String(); strings.Count(text, "above\n") != 1 || !strings.Contains(text, "above") {
			t.Errorf("the screen shows\n%s", text)
		}
	})
}

// Concurrent writers do not mix lines, a flood of output is not kept in memory, and an
// unfinished line is written at the end.
func TestViewFlood(t *testing.T) {
	s := screentest.New(80, 24)
	v := NewView(s, PlanInfo{Tool: "flood"}, nil, ViewOptions{})
	v.Emit(dag.Event{Kind: dag.RunStarted, Time: time.Now()})
	w := v.Output()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 500 {
				fmt.Fprintf(w, "%s\n", strings.Repeat(string(rune('a'+i)), 70))
			}
		})
	}
	all.Wait()
	fmt.Fprint(w, strings.Repeat("x", 3*maxLine))
	v.Close()
	text := s.String()
	for i := range 4 {
		if n := strings.Count(text, strings.Repeat(string(rune('a'+i)), 70)+"\n"); n != 500 {
			t.Errorf("%d whole lines of %c", n, 'a'+i)
		}
	}
	if n := strings.Count(text, "x"); n != 3*maxLine {
		t.Errorf("%d bytes of the line without end", n)
	}
}

// The last lines of a log are shown as a terminal would show them.
func TestLastLines(t *testing.T) {
	for _, c := range []struct {
		text   string
		broken bool
		want   string
	}{
		{"", false, ""},
		{"one\n\n  \ntwo", false, "one|two"},
		{"tail of a line\nwhole\n", true, "whole"},
		{"only one, cut", true, "only one, cut"},
		{"10%\r50%\r99%\r\n", false, "99%"},
		{"a\r\nb\r\r\n\r\n\rc\r", false, "a|b|c"},
		{"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\link\x1b[1;31mred\x1b[0m\x1b(B\x9b2J\x00", false, "alinkred\uFFFD2J\uFFFD"},
		{"\x1b]0;never ended\nnext", false, "next"},
		{"1\n2\n3\n4\n5\n6\n", false, "2|3|4|5|6"},
		{"half \xe2\x82", false, "half \uFFFD"},
	} {
		if got := strings.Join(lastLines(c.text, c.broken), "|"); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}
