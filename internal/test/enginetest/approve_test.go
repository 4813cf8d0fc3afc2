package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/library"
)

const gated = `
steps:
  - name: build
    bash: echo 1.2
  - name: gate
    approve:
      prompt: "Release {build.output}?"
      form:
        properties:
          REGION: {type: string, enum: [eu, us]}
          COUNT: {type: integer, default: 3}
        required: [REGION]
  - name: release
    bash: echo {gate.json.REGION} {gate.json.COUNT} {gate.status}
`

// asked is a run of text, and the questions that were put.
func asked(t *testing.T, b *bed, text string, say func(history.Question) (history.Answer, error)) (*runresult.Result, []history.Question) {
	t.Helper()
	var put []history.Question
	var mu sync.Mutex
	res := b.run(t.Context(), text, nil, engine.WithApproval(func(_ context.Context, q history.Question) (history.Answer, error) {
		mu.Lock()
		put = append(put, q)
		mu.Unlock()
		return say(q)
	}))
	return res, put
}

func eu(history.Question) (history.Answer, error) {
	return history.Answer{Approve: true, Values: map[string]any{"REGION": "eu"}, By: "ann"}, nil
}

func TestApproval(t *testing.T) {
	t.Parallel()
	for _, kept := range []bool{true, false} {
		t.Run(fmt.Sprintf("kept %v", kept), func(t *testing.T) {
			b := newBed(t)
			if kept {
				b.config.Store = history.NewMemory()
			}
			res, put := asked(t, b, gated, eu)
			b.want(res, dag.Succeeded, map[string]string{"build": "succeeded", "gate": "succeeded", "release": "succeeded"})
			if res.Output != "eu 3 succeeded\n" || res.Step("gate").Output != `{"COUNT":3,"REGION":"eu"}` || !strings.HasPrefix(res.Step("gate").Message, "approved by ann at ") {
				t.Errorf("output %q, the gate is %+v", res.Output, res.Step("gate"))
			}
			if len(put) != 1 || put[0].Prompt != "Release 1.2?" || put[0].Step != "gate" || len(put[0].Form.Fields) != 2 {
				t.Errorf("the questions are %+v", put)
			}
			res, _ = asked(t, b, gated, func(history.Question) (history.Answer, error) { return history.Answer{Comment: "not today"}, nil })
			b.want(res, dag.Failed, map[string]string{"build": "succeeded", "gate": "failed", "release": "skipped"})
			if g := res.Step("gate"); g.Reason != waiting.ReasonRejected || !strings.HasSuffix(g.Message, ": not today") {
				t.Errorf("the gate is %+v", g)
			}
			res, _ = asked(t, b, gated, func(history.Question) (history.Answer, error) {
				return history.Answer{Approve: true, Values: map[string]any{"REGION": "mars"}}, nil
			})
			if g := res.Step("gate"); g.Reason != dag.ReasonInput || !strings.Contains(g.Message, "not one of eu, us") {
				t.Errorf("with an answer that does not fit, the gate is %+v", g)
			}
		})
	}
}

// TestNobodyAnswers: without a store the step fails at once; with one the run is interrupted.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	res := b.run(t.Context(), gated, nil)
	if g := res.Step("gate"); res.Status != dag.Failed || g.Reason != "unanswered" || !strings.Contains(g.Message, "there is nobody to ask") {
		t.Errorf("the gate is %+v", g)
	}
	res, _ = asked(t, b, gated, func(history.Question) (history.Answer, error) { return history.Answer{}, waiting.ErrNoApprover })
	if g := res.Step("gate"); res.Status != dag.Failed || g.Reason != "unanswered" {
		t.Errorf("the gate is %+v", g)
	}
	b.config.Store = history.NewMemory()
	res, _ = asked(t, b, gated, func(history.Question) (history.Answer, error) {
		return history.Answer{}, errors.New("the door is shut")
	})
	b.want(res, dag.Waiting, map[string]string{"build": "succeeded", "gate": "waiting", "release": "pending"})
	if len(res.Notices) != 1 || !strings.Contains(res.Notices[0].Message, "the door is shut") {
		t.Errorf("notices: %+v", res.Notices)
	}
}

// TestAnswerLater: a run at rest is found with its question, answered once, and continues.
func TestAnswerLater(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	store := history.NewMemory()
	b.config.Store, b.config.StateDir = store, t.TempDir()
	ctx := t.Context()
	res := b.run(ctx, gated, nil)
	b.want(res, dag.Waiting, map[string]string{"build": "succeeded", "gate": "waiting", "release": "pending"})
	if res.Message != "step gate waits for approval: Release 1.2?" || res.Step("gate").Wait == nil {
		t.Errorf("the result is %+v", res)
	}
	lib := library.New(library.Config{})
	past, err := engine.LoadRun(ctx, store, lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	if past.Info.Status != dag.Waiting || past.Result().Status != dag.Waiting || past.Result().Message != res.Message {
		t.Errorf("on record the run is %+v", past.Info)
	}
	qs := past.Questions()
	if len(qs) != 1 || qs[0].Step != "gate" {
		t.Fatalf("the questions are %+v", qs)
	}
	for text, want := range map[string]string{
		`{}`:                                   "REGION: is missing",
		`{"REGION":"eu","COUNT":"x","MORE":1}`: `COUNT: "x" is not a number, MORE: is not in the form`,
		`{"REGION":1,"COUNT":1.5}`:             "COUNT: expected a whole number, got a number, REGION: expected text, got a number",
		`{"REGION":"eu","COUNT":"7"}`:          "",
	} {
		var values map[string]any
		if err := json.Unmarshal([]byte(text), &values); err != nil {
			t.Fatal(err)
		}
		_, err := qs[0].Check(values)
		var bad *value.ParamsError
		var got []string
		if errors.As(err, &bad) {
			for _, p := range bad.Problems {
				got = append(got, p.Name+": "+p.Message)
			}
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %v, want %s", text, got, want)
		}
	}
	a := history.Answer{Step: "gate", Wait: qs[0].Wait, Approve: true, Values: map[string]any{"REGION": "us", "COUNT": "7"}, By: "bob"}
	if err := store.Answer(ctx, res.ID, a); err != nil {
		t.Fatal(err)
	}
	if err := store.Answer(ctx, res.ID, a); !errors.Is(err, history.ErrAnswered) {
		t.Errorf("the second gets %v", err)
	}
	again, err := past.Continue(lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]dag.ID{"gate"}, again.Waiting); diff != "" {
		t.Error(diff)
	}
	end, err := engine.New(b.config).Continue(ctx, again, engine.WithRunEnv(engine.RunEnv{Workspace: b.dir}))
	if err != nil {
		t.Fatal(err)
	}
	if end.Status != dag.Succeeded || end.Output != "us 7 succeeded\n" {
		t.Errorf("the run ends %s with %q: %s", end.Status, end.Output, end.Message)
	}
	if err := past.Refresh(ctx, store); err != nil || len(past.Questions()) > 0 {
		t.Errorf("what is asked afterwards: %+v, %v", past.Questions(), err)
	}
}

// TestAnswerWhileRunning: the owner of a run hears what others answer, and who is asked
// meanwhile is let go.
func TestAnswerWhileRunning(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	store := history.NewMemory()
	b.config.Store = store
	let := make(chan error, 1)
	res := b.run(t.Context(), gated, nil, engine.WithApproval(func(ctx context.Context, q history.Question) (history.Answer, error) {
		a := history.Answer{Step: q.Step, Wait: q.Wait, Approve: true, Values: map[string]any{"REGION": "us"}, By: "another"}
		if err := store.Answer(ctx, q.Run, a); err != nil {
			t.Error(err)
		}
		<-ctx.Done()
		let <- ctx.Err()
		return history.Answer{}, ctx.Err()
	}))
	if res.Status != dag.Succeeded || !strings.HasPrefix(res.Step("gate").Message, "approved by another") || <-let == nil {
		t.Errorf("the run ends %s; the gate is %+v", res.Status, res.Step("gate"))
	}
}

// TestApprovalInside: in loops and nested tools a step is asked about by its path.
func TestApprovalInside(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.file("one.yaml", "name: one\ndescription: d\nparameters: {WHERE: {type: string, description: d}}\nsteps:\n  - name: gate\n    approve: 'to {WHERE}?'\n  - name: ship\n    bash: echo to {WHERE}\n")
	res, put := asked(t, b, "steps:\n  - name: deploy\n    for-each: {items: [eu, us], key: '{item}'}\n    use-tool: ./one.yaml\n    with: {WHERE: '{item}'}\n", func(q history.Question) (history.Answer, error) {
		return history.Answer{Approve: q.Step == "deploy[eu]/gate"}, nil
	})
	b.want(res, dag.Failed, map[string]string{"deploy": "failed", "deploy[eu]": "succeeded", "deploy[eu]/gate": "succeeded", "deploy[eu]/ship": "succeeded",
		"deploy[us]": "failed", "deploy[us]/gate": "failed", "deploy[us]/ship": "skipped"})
	if len(put) != 2 {
		t.Errorf("the questions are %+v", put)
	}
}

// TestLateDefaults: the defaults that a yes without an answer takes are there also where
// another engine finds that the time is over.
func TestLateDefaults(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	store := history.NewMemory()
	b.config.Store, b.config.StateDir = store, t.TempDir()
	big := strings.Repeat("x", 3*dag.InlineLimit)
	res := b.run(t.Context(), "steps:\n  - name: gate\n    approve: {prompt: p, timeout: 2s, on-timeout: approve, form: {properties: {BIG: {type: string, default: "+big+"}}}}\n  - name: size\n    bash: printf %s {gate.json.BIG} | wc -c\n", nil)
	if res.Status != dag.Waiting {
		t.Fatal(res.Status, res.Message)
	}
	time.Sleep(2 * time.Second)
	lib := library.New(library.Config{})
	past, err := engine.LoadRun(t.Context(), store, lib, res.ID)
	if err != nil {
		t.Fatal(err)
	}
	again, err := past.Resume(lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	end, err := engine.New(b.config).Continue(t.Context(), again)
	if err != nil || strings.TrimSpace(end.Output) != fmt.Sprint(len(big)) {
		t.Errorf("the run ends %+v, %v", end, err)
	}
}
