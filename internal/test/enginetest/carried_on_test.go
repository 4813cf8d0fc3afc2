package enginetest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/endedtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
)

// questionEnds is the way for which the question of gate1 has little time. It may end before the run waits.
const questionEnds = "the end of a question's time"

// waysOn carry a run on that waits at the steps gate1 and gate2 of other branches.
var waysOn = []struct {
	name string
	on   func(h *keptRuns)
}{
	{"an approval", func(h *keptRuns) { h.answer("gate1", true); h.carryOn(engine.ResumeOptions{}) }},
	{"a rejection", func(h *keptRuns) { h.answer("gate1", false); h.carryOn(engine.ResumeOptions{}) }},
	{"two answers", func(h *keptRuns) {
		h.answer("gate1", false)
		h.carryOn(engine.ResumeOptions{})
		h.answer("gate2", true)
		h.carryOn(engine.ResumeOptions{})
	}},
	{"two answers at once", func(h *keptRuns) { h.answer("gate1", true); h.answer("gate2", true); h.carryOn(engine.ResumeOptions{}) }},
	{"an answer that nobody continued", func(h *keptRuns) { h.answer("gate1", true); h.resume(engine.ResumeOptions{}) }},
	{questionEnds, func(h *keptRuns) { h.awaitEnd("gate1"); h.carryOn(engine.ResumeOptions{}) }},
	{"a restart", func(h *keptRuns) { h.carryOn(engine.ResumeOptions{}); h.carryOn(engine.ResumeOptions{}) }},
	{"an order of a person", func(h *keptRuns) {
		var awaits *outcome.AwaitsAnswerError
		if _, err := h.latest().Resume(h.lib, engine.ResumeOptions{RerunInterrupted: true}); !errors.As(err, &awaits) {
			h.Errorf("a run that waits for answers is resumed: %v", err)
		}
	}},
	{"an order with the current definitions", func(h *keptRuns) { h.resume(engine.ResumeOptions{Latest: true}) }},
	{"a crash after an answer", func(h *keptRuns) {
		h.answer("gate1", true)
		g, err := h.latest().Continue(h.lib, engine.ResumeOptions{})
		if err != nil {
			h.Fatal(err)
		}
		h.config.Store = &cutStore{Store: h.memory, at: 2}
		if _, err := engine.New(h.config).Continue(context.Background(), g); err != nil && !errors.Is(err, errCut) {
			h.Fatal(err)
		}
		h.config.Store = h.memory
		if !h.latest().Info.Status.Settled() || h.latest().Info.Status == dag.Interrupted {
			h.carryOn(engine.ResumeOptions{RerunAsked: true})
		}
	}},
	{"a cancel", func(h *keptRuns) {
		g, err := h.latest().Continue(h.lib, engine.ResumeOptions{})
		if err != nil {
			h.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := engine.New(h.config).Continue(ctx, g); err != nil {
			h.Fatal(err)
		}
	}},
}

// TestCarriedOn is the table of who carries a run on by what had ended before: no step that has ended runs again or
// changes its state, however it ended and wherever it stands, in a run that has not ended.
func TestCarriedOn(t *testing.T) {
	t.Parallel()
	cells := 0
	for _, ended := range endedtest.Steps {
		for _, place := range endedtest.Places {
			for _, way := range waysOn {
				if cells++; cells%sizetest.Of(7, 1, 1) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, %s", ended.Name, place.Name, way.name), func(t *testing.T) {
					t.Parallel()
					h := newKeptRuns(t)
					timeout := "1h"
					if way.name == questionEnds {
						timeout = "400ms"
					}
					text, used := endedtest.Run(ended, place, timeout)
					h.file("used.yaml", used)
					res, err := engine.New(h.config).Run(context.Background(), h.compile(text), nil, engine.WithRunEnv(h.world))
					if err != nil || res.Status != dag.Waiting {
						t.Fatalf("%v, %v", res, err)
					}
					ran, states := len(h.done()), endedStates(res)
					way.on(h)
					if again := slices.DeleteFunc(h.done(), func(w string) bool { return w == "one" || w == "two" }); len(again) != ran {
						t.Errorf("it ran %d times before and %d times in all", ran, len(again))
					}
					now := endedStates(h.latest().Result())
					for path, was := range states {
						if now[path] != was {
							t.Errorf("%s was %s and is %s", path, was, now[path])
						}
					}
				})
			}
		}
	}
}

// endedStates returns how the steps ended that have.
func endedStates(res *runresult.Result) map[string]string {
	states := map[string]string{}
	for _, s := range res.Steps {
		if s.Status.Settled() {
			states[s.ID] = fmt.Sprintf("%s %d %s %s %v", s.Status, s.ExitCode, s.Reason, s.Message, s.Ended.UnixNano())
		}
	}
	return states
}

// awaitEnd waits until the question of a step has ended or its time is over.
func (h *keptRuns) awaitEnd(step string) {
	h.Helper()
	waittest.Until(h, "the end of the question's time", func() bool {
		return !slices.ContainsFunc(h.latest().Questions(), func(q history.Question) bool { return q.Step == step && !q.Over(time.Now()) })
	})
}

// answer answers the question of a step.
func (h *keptRuns) answer(step string, approve bool) {
	h.Helper()
	for _, q := range h.latest().Questions() {
		if string(q.Step) == step {
			if err := h.memory.Answer(context.Background(), q.Run, history.Answer{Step: q.Step, Wait: q.Wait, Approve: approve, By: "ann"}); err != nil {
				h.Fatal(err)
			}
			return
		}
	}
	h.Fatalf("nobody asks about %s: %+v", step, h.latest().Questions())
}

// placesOfGates put a question after a step that has failed, and a step behind the question.
var placesOfGates = []struct{ name, text string }{
	{"on-failure of the tool", "steps: [{name: deploy, bash: 'echo deploy >> done; exit 1'}]\non-failure: [{name: gate, APPROVE}, {name: behind, bash: echo behind >> done}]\n"},
	{"finally of the tool", "steps: [{name: deploy, bash: 'echo deploy >> done; exit 1'}]\nfinally: [{name: gate, APPROVE}, {name: behind, bash: echo behind >> done}]\n"},
	{"on-failure of a step", "steps: [{name: deploy, bash: 'echo deploy >> done; exit 1', on-failure: [{name: gate, APPROVE}, {name: behind, bash: echo behind >> done}]}]\n"},
	{"a condition", "steps: [{name: deploy, bash: 'echo deploy >> done; exit 1'}, {name: gate, run-condition: failure(), APPROVE}, {name: behind, run-condition: \"{gate.status} == 'succeeded'\", wait-for: [gate], bash: echo behind >> done}]\n"},
	{"a group", "steps: [{name: deploy, wait-for: [], bash: 'echo deploy >> done; exit 1'}, {name: g, wait-for: [], steps: [{name: gate, APPROVE}, {name: behind, bash: echo behind >> done}]}]\n"},
	{"a loop", "steps: [{name: deploy, wait-for: [], bash: 'echo deploy >> done; exit 1'}, {name: g, wait-for: [], for-each: {items: [x]}, steps: [{name: gate, APPROVE}, {name: behind, bash: echo behind >> done}]}]\n"},
	{"a used tool", "steps: [{name: deploy, wait-for: [], bash: 'echo deploy >> done; exit 1'}, {name: g, wait-for: [], use-tool: ./gated.yaml}]\n"},
	{"on-failure of a used tool", "steps: [{name: g, use-tool: ./failing.yaml}]\n"},
}

// TestGates checks that a question is answered once wherever it stands after a failure: what had failed does not run
// again, an approval lets through what is behind the question, and a rejection and the end of its time do not.
func TestGates(t *testing.T) {
	t.Parallel()
	for _, place := range placesOfGates {
		for _, answer := range []string{"approved", "rejected", "unanswered"} {
			t.Run(place.name+", "+answer, func(t *testing.T) {
				t.Parallel()
				h := newKeptRuns(t)
				question := "approve: {prompt: 'Go on?'}"
				if answer == "unanswered" {
					question = "approve: {prompt: 'Go on?', timeout: 300ms}"
				}
				h.file("gated.yaml", "name: gated\ndescription: Asks\nsteps: [{name: gate, "+question+"}, {name: behind, bash: echo behind >> done}]\n")
				h.file("failing.yaml", strings.ReplaceAll("name: failing\ndescription: Fails, and asks\n"+placesOfGates[0].text, "APPROVE", question))
				res, err := engine.New(h.config).Run(context.Background(), h.compile(strings.ReplaceAll(place.text, "APPROVE", question)), nil, engine.WithRunEnv(h.world))
				switch {
				case err == nil && answer == "unanswered" && res.Status == dag.Failed: // its time was over before the run waited
				case err != nil || res.Status != dag.Waiting || !strings.HasPrefix(res.Message, "step "+res.FirstFailed()+" failed; step "):
					t.Fatalf("%v, %v", res, err)
				case answer == "unanswered":
					h.awaitEnd(h.latest().Questions()[0].Step)
					res = h.carryOn(engine.ResumeOptions{})
				default:
					h.answer(h.latest().Questions()[0].Step, answer == "approved")
					res = h.carryOn(engine.ResumeOptions{})
				}
				want := "deploy"
				if answer == "approved" {
					want = "deploy behind"
				}
				if got := strings.Join(h.done(), " "); res.Status != dag.Failed || got != want {
					t.Errorf("%s: %s ran, want %s", res.Status, got, want)
				}
			})
		}
	}
}

// TestTempWhileWaiting checks that the temporary directory of a run, and that of a tool that it uses, stay while the run
// waits, and go when it succeeds.
func TestTempWhileWaiting(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	h.file("used.yaml", "name: used\ndescription: Is used\nfile-paths: {temp-directory: own}\nsteps:\n- {name: build, bash: 'echo built > $FLOWRUN_TEMP/a'}\n- {name: gate2, approve: 'Ship?'}\n- {name: ship, bash: 'cat $FLOWRUN_TEMP/a'}\n")
	res, err := engine.New(h.config).Run(context.Background(), h.compile("file-paths: {temp-directory: own}\nsteps:\n- {name: build, bash: 'echo built > $FLOWRUN_TEMP/a'}\n"+
		"- {name: gate, approve: 'Ship?'}\n- {name: ship, bash: 'cat $FLOWRUN_TEMP/a'}\n- {name: used, use-tool: ./used.yaml}\n"), nil, engine.WithRunEnv(h.world))
	if err != nil || res.Status != dag.Waiting {
		t.Fatal(err, res)
	}
	h.answer("gate", true)
	h.resume(engine.ResumeOptions{})
	h.answer("used/gate2", true)
	if res = h.resume(engine.ResumeOptions{}); res.Status != dag.Succeeded || res.Output != "built\n" {
		t.Errorf("%s %q: %+v", res.Status, res.Message, res.Steps)
	}
	if left := files(t, filepath.Join(h.dir, "own")); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}
