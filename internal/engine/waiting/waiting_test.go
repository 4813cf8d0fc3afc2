package waiting_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/steps"
	"github.com/flowrun/flowrun/internal/engine/terminal"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/dataschema"
	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/library"
)

// session is open until the test ends.
func session(t *testing.T) *steps.Session {
	t.Helper()
	s, err := steps.Open(steps.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	return s
}

// firstWait runs one step up to its end, or until it waits, and returns its result.
func firstWait(t *testing.T, step string, answerable bool, params map[string]any) (res *dag.Result) {
	t.Helper()
	def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\nparameters: {P: {description: p, default: it}}\nsteps: [{name: a, "+step+"}]\n"))
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	p, err := compile.Definition(library.New(library.Config{}), "", def)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := call.Bind(t.Context(), p, new(call.RunEnv).Filled(), params)
	if err != nil {
		t.Fatal(err)
	}
	a := bound.Frame()
	a.Answerable = answerable
	if err := a.Begin(t.Context(), session(t), "run", ""); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	sink := dag.SinkFunc(func(e dag.Event) {
		if res == nil && (e.Kind == dag.StepWaiting || e.Kind == dag.StepFinished) {
			res = e.Result
			cancel()
		}
	})
	if _, err := dag.Run(ctx, p.Graph, a, dag.Options{Sinks: []dag.Sink{sink}}); err != nil {
		t.Fatal(err)
	}
	return res
}

// then describes what a wait becomes if nobody answers in time.
func then(r *dag.Result) string {
	if r == nil {
		return "nothing"
	}
	return strings.TrimSpace(fmt.Sprintf("%s %s %s: %s", r.Status, r.Reason, call.Raw(r.Stdout), r.Message))
}

// TestApproval holds what an approval asks, and what happens without an answer.
func TestApproval(t *testing.T) {
	for _, c := range []struct{ step, prompt, then string }{
		{"approve: 'Ship {P}?'", "Ship it?", "nothing"},
		{"approve: {prompt: Go, timeout: 1h}", "Go", "failed unanswered : no answer within 1h0m0s"},
		{"approve: {prompt: Go, timeout: 1h, on-timeout: reject}", "Go", "failed rejected : no answer within 1h0m0s, which counts as a rejection"},
		{"approve: {prompt: Go, timeout: 1h, on-timeout: approve}", "Go", "succeeded  : no answer within 1h0m0s, which counts as an approval"},
		{"approve: {prompt: Go, timeout: 1h, on-timeout: approve, form: {properties: {N: {type: integer, default: 3}}}}", "Go", `succeeded  {"N":3}: no answer within 1h0m0s, which counts as an approval`},
	} {
		r := firstWait(t, c.step, true, nil)
		if r.Status != dag.Waiting || r.Wait.Prompt != c.prompt || !r.Wait.Asks || then(r.Wait.Then) != c.then {
			t.Errorf("%s: %s %+v, then %q", c.step, r.Status, r.Wait, then(r.Wait.Then))
		}
	}
	if r := firstWait(t, "approve: Go", false, nil); r.Reason != terminal.ReasonUnanswered || !strings.Contains(r.Message, "cannot be answered later") {
		t.Errorf("%+v", r)
	}
	long := firstWait(t, "approve: '{P}'", true, map[string]any{"P": strings.Repeat("é", dag.InlineLimit)})
	if text := long.Wait.Prompt; len(text) > dag.InlineLimit || !strings.HasSuffix(text, "é ...") {
		t.Errorf("a prompt of %d bytes ends with %q", len(text), text[len(text)-10:])
	}
}

// TestPause holds when a wait ends, or why it fails.
func TestPause(t *testing.T) {
	at := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	r := firstWait(t, "wait: {until: '"+at.Format(time.RFC3339)+"'}", true, nil)
	if r.Status != dag.Waiting || !r.Wait.Until.Equal(at) || r.Wait.Asks {
		t.Errorf("%s %+v, want %s", r.Status, r.Wait, at)
	}
	if r := firstWait(t, "wait: {for: 1h}", true, nil); r.Status != dag.Waiting || time.Until(r.Wait.Until) < 59*time.Minute {
		t.Errorf("%s %+v", r.Status, r.Wait)
	}
	if r := firstWait(t, "wait: {until: '2001-02-03T04:05:06Z'}", true, nil); r.Status != dag.Succeeded {
		t.Errorf("%+v", r)
	}
	for text, ok := range map[string]bool{"2026-03-01T09:00:00Z": true, "2026-03-01T09:00:00+01:00": true, "2026-03-01": false, "tomorrow": false, "": false} {
		if _, err := waiting.ParseTime(text); (err == nil) != ok {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestAnswerResult holds what an answer makes of its step.
func TestAnswerResult(t *testing.T) {
	form, err := dataschema.ParseForm([]byte(`{"type":"object","properties":{"N":{"type":"integer"}},"required":["N"]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := session(t)
	if err := s.Mask().Add("hunter22"); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct {
		question history.Question
		answer   history.Answer
		want     string
	}{
		{history.Question{}, history.Answer{Approve: true}, "succeeded  : approved"},
		{history.Question{}, history.Answer{By: "ann", At: at, Comment: " not hunter22 "}, "failed rejected : rejected by ann at 2026-03-01T08:00:00Z: not ***"},
		{history.Question{Form: form, Step: "a"}, history.Answer{Approve: true, Values: map[string]any{"N": 3}}, `succeeded  {"N":3}: approved`},
		{history.Question{Form: form, Step: "a"}, history.Answer{Approve: true}, "failed input : the answer does not match the form: parameter N: is missing"},
		{history.Question{Form: form, Step: "a"}, history.Answer{Values: map[string]any{"N": "x"}}, "failed rejected : rejected"},
	} {
		if got := then(waiting.AnswerResult(s, c.question, c.answer)); got != c.want {
			t.Errorf("%+v: %q, want %q", c.answer, got, c.want)
		}
	}
}

// asked is the event with which a step asks a question.
func asked(step string, seq uint64) dag.Event {
	return dag.Event{Kind: dag.StepWaiting, Node: dag.ID(step), Seq: seq, Result: &dag.Result{Status: dag.Waiting, Wait: &dag.Wait{Kind: "approval", Prompt: "Go?"}}}
}

// TestBroker holds what a run that is not recorded gets from the person who is asked.
func TestBroker(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer history.Answer
		err    error
		want   string
		notice string
	}{
		{"yes", history.Answer{Approve: true, By: "ann", At: time.Unix(0, 0)}, nil, "succeeded  : approved by ann at 1970-01-01T00:00:00Z", ""},
		{"nobody", history.Answer{}, waiting.ErrNoApprover, "failed unanswered : there was no answer, and the run is not recorded, so it cannot be answered later", ""},
		{"broken", history.Answer{}, errors.New("no terminal"), "failed unanswered : there was no answer, and the run is not recorded, so it cannot be answered later", "cannot ask for an answer to step a: no terminal"},
	} {
		var said string
		ask := func(_ context.Context, q history.Question) (history.Answer, error) {
			if q.Prompt != "Go?" || q.Step != "a" || q.Wait != 7 {
				t.Errorf("asked %+v", q)
			}
			return c.answer, c.err
		}
		k := waiting.NewBroker(t.Context(), "run", "t", ask, nil, nil, session(t), func(n notice.Notice) { said = n.Message })
		k.Start()
		k.Emit(asked("a", 7))
		got := <-k.Answers
		k.Stop()
		if got.Node != "a" || got.Wait != 7 || then(got.Result) != c.want || said != c.notice || !k.CanAnswer() {
			t.Errorf("%s: %+v, %q; %q", c.name, got, then(got.Result), said)
		}
	}
}

// TestBrokerEnds checks that a question is withdrawn when its step ends, and that nobody can answer a run that has neither
// a person nor a store.
func TestBrokerEnds(t *testing.T) {
	withdrawn := make(chan struct{})
	ask := func(ctx context.Context, _ history.Question) (history.Answer, error) {
		<-ctx.Done()
		close(withdrawn)
		return history.Answer{}, ctx.Err()
	}
	k := waiting.NewBroker(t.Context(), "run", "t", ask, nil, nil, session(t), func(n notice.Notice) { t.Error(n) })
	k.Start()
	k.Emit(asked("a", 7))
	k.Emit(dag.Event{Kind: dag.StepFinished, Node: "a"})
	<-withdrawn
	k.Stop()
	if len(k.Answers) > 0 {
		t.Error("there is an answer")
	}
	if waiting.NewBroker(t.Context(), "run", "t", nil, nil, nil, nil, nil).CanAnswer() {
		t.Error("somebody can answer")
	}
}
