package console

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// events returns a small run with all events that have a line.
func events() []dag.Event {
	t := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	at := func(ms int) time.Time { return t.Add(time.Duration(ms) * time.Millisecond) }
	done := func(from, to int, r dag.Result) *dag.Result {
		r.Started, r.Ended = at(from), at(to)
		return &r
	}
	out := &dag.Output{Inline: "one\ntwo \x1b]0;title\x07\x1b[31mred\u202e\n", Size: 30}
	return []dag.Event{
		{Kind: dag.RunStarted, Time: at(0)},
		{Kind: dag.StepStarted, Node: "checkout", Attempt: 1, Time: at(0)},
		{Kind: dag.StepFinished, Node: "checkout", Time: at(600), Result: done(0, 600, dag.Result{Status: dag.Succeeded})},
		{Kind: dag.StepStarted, Node: "setup/clone", Attempt: 1, Time: at(600)},
		{Kind: dag.StepRetrying, Node: "setup/clone", Time: at(900), Due: at(1900), Result: done(600, 900, dag.Result{Status: dag.Failed, ExitCode: 128, Attempts: 1})},
		{Kind: dag.StepStarted, Node: "setup/clone", Attempt: 2, Time: at(1900)},
		{Kind: dag.StepFallback, Node: "setup/clone", Time: at(2000), Result: done(600, 2000, dag.Result{Status: dag.TimedOut, ExitCode: 124, Attempts: 2})},
		{Kind: dag.StepFinished, Node: "setup/clone", Time: at(65_000), Result: done(600, 65_000, dag.Result{Status: dag.Succeeded, Fallback: true, Attempts: 2})},
		{Kind: dag.StepFinished, Node: "lint", Time: at(65_100), Result: done(65_000, 65_100, dag.Result{Status: dag.Failed, ExitCode: 2, Tolerated: true})},
		{Kind: dag.StepFinished, Node: "test", Time: at(65_200), Result: done(65_000, 65_200, dag.Result{Status: dag.Failed, ExitCode: 1, Message: "it \x1b[2Jbroke", Stderr: out})},
		{Kind: dag.StepFinished, Node: "ship", Time: at(65_200), Result: done(0, 0, dag.Result{Status: dag.Skipped, Reason: dag.ReasonUpstreamFailed})},
		{Kind: dag.StepFinished, Node: "maybe", Time: at(65_200), Result: done(0, 0, dag.Result{Status: dag.Skipped, Reason: dag.ReasonCondition})},
		{Kind: dag.RunCancelling, Reason: dag.ReasonCancelled, Time: at(65_300)},
		{Kind: dag.StepFinished, Node: "late", Time: at(65_400), Result: done(0, 0, dag.Result{Status: dag.Cancelled})},
		{Kind: dag.RunFinished, Time: at(65_400), Result: done(0, 65_400, dag.Result{Status: dag.Failed, ExitCode: 1})},
	}
}

func TestPlain(t *testing.T) {
	var b bytes.Buffer
	p := NewPlain(&b, false, []string{"checkout", "setup/clone", "ship"}, PlanInfo{Pos: func(string) (string, int, int) { return "flow.yaml", 7, 5 }})
	for _, e := range events() {
		p.Emit(e)
	}
	want := `   +0.0s  checkout    started
   +0.6s  checkout    ok       600ms
   +0.6s  setup/clone started
   +0.9s  setup/clone FAILED   exit 128, next attempt in 1.0s
   +1.9s  setup/clone attempt 2 started
   +2.0s  setup/clone TIMED OUT after 2 attempts, running the fallback
  +1m05s  setup/clone ok (fallback) 1m04s
  +1m05s  lint        FAILED   exit 2 (tolerated)
  +1m05s  test        FAILED   exit 1: it ` + "\uFFFD" + `[2Jbroke
        at flow.yaml:7
        | one
        | two red` + "\uFFFD" + `
  +1m05s  ship        skipped  an upstream step failed
  +1m05s  maybe       skipped  its condition is false
  +1m05s              Stopping, cleanup running... Ctrl-C again to force
  +1m05s  late        cancelled
`
	if got := b.String(); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestShort(t *testing.T) {
	for _, c := range []struct {
		d    time.Duration
		want string
	}{
		{0, "0ms"}, {400 * time.Microsecond, "0ms"}, {2 * time.Millisecond, "2ms"}, {40 * time.Millisecond, "40ms"}, {999 * time.Millisecond, "999ms"},
		{999600 * time.Microsecond, "1.0s"}, {time.Second, "1.0s"}, {12440 * time.Millisecond, "12.4s"}, {59940 * time.Millisecond, "59.9s"}, {59960 * time.Millisecond, "1m00s"},
		{185 * time.Second, "3m05s"}, {time.Hour - time.Millisecond, "59m59s"}, {127 * time.Minute, "2h07m"}, {-time.Second, "-1000ms"},
	} {
		if got := Short(c.d); got != c.want {
			t.Errorf("%v: %s, want %s", c.d, got, c.want)
		}
	}
}

// No byte of a step's output reaches the terminal as a control character.
func TestClean(t *testing.T) {
	if got := Clean("a\nb\r\nc\td"); got != "a b c d" {
		t.Errorf("%q", got)
	}
	got := Clean("a\x1b[2J\x00\r\x7f\u009b\u200f\tb\u2028c")
	if strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r == 0x7f || 0x80 <= r && r <= 0x9f }) {
		t.Errorf("%q", got)
	}
}

func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	j := NewJSON(&b)
	for _, e := range events() {
		j.Emit(e)
	}
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != len(events()) {
		t.Fatalf("%d lines", len(lines))
	}
	for _, l := range lines {
		var e dag.Event
		if err := json.Unmarshal([]byte(l), &e); err != nil {
			t.Errorf("%v: %s", err, l)
		}
	}
}
