package console

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// ended returns the event of a step that ended.
func ended(node string, status dag.Status) dag.Event {
	return dag.Event{Kind: dag.StepFinished, Node: dag.ID(node), Time: noon, Result: &dag.Result{Status: status, ExitCode: 1, Started: noon, Ended: noon}}
}

func expanded(node string, items int) dag.Event {
	return dag.Event{Kind: dag.StepExpanded, Node: dag.ID(node), Items: items, Time: noon}
}

// lines returns what a sink writes, without the times at the beginning of lines.
func lines(b *bytes.Buffer) []string {
	var list []string
	for l := range strings.Lines(b.String()) {
		words := strings.Fields(l)
		if strings.HasPrefix(words[0], "+") {
			words = words[1:]
		}
		list = append(list, strings.Join(words, " "))
	}
	b.Reset()
	return list
}

// TestLoopOverMany checks that a loop over many items has a line for each tenth of them and for
// its first failures, and that the items of a loop over few have lines of their own.
func TestLoopOverMany(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(&b, false, nil, PlanInfo{})
	p.Emit(dag.Event{Kind: dag.RunStarted, Time: noon})
	p.Emit(expanded("few", 2))
	p.Emit(ended("few[0]", dag.Succeeded))
	if got := lines(&b); len(got) != 1 || !strings.HasPrefix(got[0], "few[0] ok") {
		t.Errorf("an item of a loop over few: %q", got)
	}
	p.Emit(expanded("many", 100))
	if got := lines(&b); len(got) != 1 || got[0] != "many 100 items" {
		t.Errorf("a loop over many begins: %q", got)
	}
	for i := range 100 {
		p.Emit(dag.Event{Kind: dag.StepStarted, Node: dag.ID(fmt.Sprintf("many[%d]", i)), Attempt: 1, Time: noon})
		p.Emit(ended(fmt.Sprintf("many[%d]/inner", i), dag.Succeeded)) // a step inside an item
		p.Emit(ended(fmt.Sprintf("many[%d]", i), dag.Succeeded))
	}
	got := lines(&b)
	if len(got) != 10 || got[0] != "many 10/100 ok" || got[9] != "many 100/100 ok" {
		t.Errorf("%q", got)
	}
}

func TestLoopFailures(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(&b, false, nil, PlanInfo{})
	p.Emit(expanded("many", 40))
	lines(&b)
	for i := range 40 {
		status := []dag.Status{dag.Failed, dag.TimedOut, dag.Skipped, dag.Succeeded}[i%4]
		p.Emit(ended(fmt.Sprintf("many[%d]", i), status))
	}
	failures, counted := 0, 0
	all := lines(&b)
	for _, l := range all {
		switch {
		case strings.HasPrefix(l, "many["):
			failures++
		case strings.Contains(l, "only counted"):
			counted++
		}
	}
	if failures != maxFailures || counted != 1 {
		t.Errorf("%d failures have lines, %d say that the others have none:\n%s", failures, counted, strings.Join(all, "\n"))
	}
	if last := all[len(all)-1]; !strings.HasPrefix(last, "many 10/40 ok, 20 failed, 10 ") {
		t.Errorf("in the end: %q", last)
	}
}

// TestRecall checks that steps that ended before a resume are counted but not reported again.
func TestRecall(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(&b, false, nil, PlanInfo{})
	past := []dag.Event{expanded("many", 50), expanded("few", 3), ended("few[0]", dag.Succeeded)}
	for i := range 20 {
		past = append(past, ended(fmt.Sprintf("many[%d]", i), dag.Succeeded))
	}
	past = append(past, ended("many[20]", dag.Failed), ended("many[21]", dag.Skipped)) // both are rerun
	p.Recall(past)
	if b.Len() > 0 {
		t.Errorf("to recall wrote %q", b.String())
	}
	p.Emit(dag.Event{Kind: dag.RunResumed, Time: noon, Reset: []dag.ID{"many[20]", "many[21]"}})
	for i := 20; i < 30; i++ {
		p.Emit(ended(fmt.Sprintf("many[%d]", i), dag.Succeeded))
	}
	if got := lines(&b); len(got) != 2 || got[0] != "many 25/50 ok" || got[1] != "many 30/50 ok" {
		t.Errorf("%q", got)
	}
}

// TestFailuresOnly checks that only failures are written, and when the run is stopped.
func TestFailuresOnly(t *testing.T) {
	var b bytes.Buffer
	f := Failures{NewPlain(&b, false, nil, PlanInfo{})}
	for _, e := range events() {
		f.Emit(e)
	}
	f.Emit(expanded("many", 30))
	for i := range 30 {
		f.Emit(ended(fmt.Sprintf("many[%d]", i), []dag.Status{dag.Succeeded, dag.Failed}[i/29]))
	}
	var names []string
	for _, l := range lines(&b) {
		if name, _, ok := strings.Cut(l, " FAILED"); ok {
			names = append(names, name)
		} else if strings.Contains(l, "ok ") || strings.Contains(l, "started") || strings.Contains(l, "skipped") {
			t.Errorf("this is not a failure: %q", l)
		}
	}
	if strings.Join(names, " ") != "lint test many[29]" {
		t.Errorf("failed: %q", names)
	}
}

func TestStopping(t *testing.T) {
	for _, c := range []struct {
		reason string
		n      int
		want   string
	}{
		{dag.ReasonTimeout, 3, "Stopping 3 steps: timeout exceeded"},
		{dag.ReasonFailFast, 1, "Stopping 1 step: a step failed (fail-fast)"},
		{dag.ReasonForced, 2, "Stopping at once"},
		{dag.ReasonCancelled, 0, "Stopping, cleanup running... Ctrl-C again"},
	} {
		if got := stopMessage(dag.Event{Reason: c.reason}, c.n); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s of %d: %q", c.reason, c.n, got)
		}
	}
}

// TestTailOfFile checks that the end of a long stream is read from its file, or from the event
// if the file is gone.
func TestTailOfFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	long := strings.Repeat("x", dag.InlineLimit) + "\xff" + strings.Repeat("y", dag.InlineLimit-1)
	if err := os.WriteFile(file, []byte(long), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		o    dag.Output
		want string
	}{
		"all inline": {dag.Output{Inline: "abc", Size: 3, File: file}, "abc"},
		"no file":    {dag.Output{Inline: "abc", Size: 9}, "abc"},
		"file gone":  {dag.Output{Inline: "abc", Size: 9, File: file + "x"}, "abc"},
		"long":       {dag.Output{Inline: "x", Size: int64(len(long)), File: file}, "\uFFFD" + long[dag.InlineLimit+1:]},
	} {
		if got := tail(&c.o); got != c.want {
			t.Errorf("%s: %d bytes %.20q, want %d", name, len(got), got, len(c.want))
		}
	}
}

func TestAwaited(t *testing.T) {
	for want, w := range map[string]*dag.Wait{
		"a step inside it":                nil,
		"approval: Ship it? (1m00s left)": {Asks: true, Kind: "approval", Prompt: "\nShip it?\n", Until: noon.Add(time.Minute)},
		"approval: Ship ...":              {Asks: true, Kind: "approval", Prompt: "Ship\nit?"},
		"approval: Ship (0s left)":        {Asks: true, Kind: "approval", Prompt: "Ship", Until: noon.Add(-time.Minute)},
		"approval: " + strings.Repeat("x", promptColumns-len("approval: ")) + " ...": {Asks: true, Kind: "approval", Prompt: strings.Repeat("x", 200)},
		"time to pass (2s left)": {Until: noon.Add(1500 * time.Millisecond)},
	} {
		if got := Awaited(w, noon); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := Awaited(&dag.Wait{Asks: true, Kind: "approval\x1b[2J", Prompt: "a\x1b[2J\u202eb"}, noon); strings.ContainsAny(got, "\x1b\u202e") {
		t.Errorf("it moves the cursor: %q", got)
	}
}

// TestQueued checks that a run in the queue reports that at once, and changes at most every ten
// seconds.
func TestQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b bytes.Buffer
		p := NewPlain(&b, false, nil, PlanInfo{})
		p.Waits("", "waits for lock db, position 9")
		for i := 8; i > 0; i-- {
			time.Sleep(3 * time.Second)
			p.Waits("", fmt.Sprintf("waits for lock db, position %d\x1b", i))
		}
		p.Waits("", "")
		got := lines(&b)
		if len(got) != 4 || !strings.HasSuffix(got[1], "position 5\uFFFD") || !strings.HasSuffix(got[2], "position 1\uFFFD") || !strings.Contains(got[3], "24.0s") {
			t.Errorf("%q", got)
		}
	})
}

// TestQuestionText checks that each line of a prompt has a bar before it, so that it cannot look
// like a line of flowrun's, and that a long prompt is cut.
func TestQuestionText(t *testing.T) {
	var b bytes.Buffer
	q := Question{Step: "gate", Tool: "deploy", Run: "01jd", Prompt: "Ship\tit?\nApprove? gate in run 02\n" + strings.Repeat("line\n", 50), Until: "18:00"}
	if err := q.Write(&b, 80); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(got) != 1+promptLines+2 || !strings.HasPrefix(got[0], "Approve?") || !strings.Contains(got[0], "gate in run 01jd of deploy") || !strings.HasSuffix(got[len(got)-1], "18:00") {
		t.Errorf("%q", got)
	}
	for _, l := range got[1 : 1+promptLines] {
		if !strings.HasPrefix(strings.TrimLeft(l, " "), "| ") || strings.Contains(l, "\t") {
			t.Errorf("%q", l)
		}
	}
	if err := q.Write(gone{}, 80); !errors.Is(err, os.ErrClosed) {
		t.Errorf("a terminal that is gone: %v", err)
	}
}

type gone struct{}

func (gone) Write([]byte) (int, error) { return 0, os.ErrClosed }
