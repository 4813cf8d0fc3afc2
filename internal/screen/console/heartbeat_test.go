package console

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// locked is a buffer that is safe for concurrent use, as a file is.
type locked struct {
	mu sync.Mutex
	bytes.Buffer
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.Write(p)
}

func (l *locked) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.Buffer.String()
}

// A silent run reports the running steps every 30 s; a run with output does not.
func TestBeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b locked
		w := NewActivityWriter(&b)
		p := NewPlain(w, false, nil, PlanInfo{})
		p.Emit(dag.Event{Kind: dag.RunStarted, Time: time.Now()})
		stop := p.Heartbeat(w, HeartbeatInterval)
		for _, step := range []dag.ID{"use", "use/build", "a", "b", "c", "d", "e"} {
			p.Emit(dag.Event{Kind: dag.StepStarted, Node: step, Attempt: 1, Time: time.Now()})
		}
		b.mu.Lock()
		b.Reset()
		b.mu.Unlock()
		time.Sleep(20 * time.Second)
		fmt.Fprintln(w, "x | streamed")
		time.Sleep(29 * time.Second)
		if b.String() != "x | streamed\n" {
			t.Errorf("after 29 silent seconds: %s", b.String())
		}
		time.Sleep(2 * time.Second)
		p.Emit(dag.Event{Kind: dag.StepFinished, Node: "use/build", Time: time.Now(), Result: &dag.Result{Status: dag.Succeeded}})
		time.Sleep(35 * time.Second)
		stop()
		time.Sleep(time.Hour)
		var got []string
		for line := range strings.Lines(b.String()) {
			if strings.Contains(line, "still") {
				got = append(got, strings.TrimSpace(line))
			}
		}
		want := []string{"+50.0s            still running: use/build (50s), a (50s), b (50s), c (50s), d (50s), 1 more", "+1m21s            still running: a (1m21s), b (1m21s), c (1m21s), d (1m21s), e (1m21s)"}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// TestBeatBeforeStart: a run of which nothing is known yet has waited since it was shown.
func TestBeatBeforeStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b locked
		w := NewActivityWriter(&b)
		stop := NewPlain(w, false, nil, PlanInfo{}).Heartbeat(w, HeartbeatInterval)
		time.Sleep(31 * time.Second)
		stop()
		if got := strings.TrimSpace(b.String()); got != "+30.0s   still waiting; no step is running" {
			t.Errorf("%q", got)
		}
	})
}

// A cancellation stops the running steps. Steps that contain others, and steps that clean up,
// are not counted.
func TestStoppable(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(&b, false, nil, PlanInfo{Lasting: func(step string) bool { return step == "tidy" }})
	for _, step := range []dag.ID{"use", "use/build", "use/test", "each", "each[0]", "tidy", "done", "a"} {
		p.Emit(dag.Event{Kind: dag.StepStarted, Node: step, Attempt: 1})
	}
	p.Emit(dag.Event{Kind: dag.StepFinished, Node: "done", Result: &dag.Result{Status: dag.Succeeded}})
	b.Reset()
	p.Emit(dag.Event{Kind: dag.RunCancelling, Node: "use", Reason: dag.ReasonFailFast})
	p.Emit(dag.Event{Kind: dag.RunCancelling, Reason: dag.ReasonCancelled})
	p.Emit(dag.Event{Kind: dag.RunCancelling, Reason: dag.ReasonForced})
	for _, want := range []string{"Stopping 2 steps: a step failed (fail-fast)\n", "Stopping 4 steps, cleanup running... Ctrl-C again to force\n", "Stopping at once, including cleanup\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, &b)
		}
	}
}
