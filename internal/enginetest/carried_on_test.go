package enginetest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/sizetest"
)

// endedSteps are steps in every state that is an end, as YAML in braces. Each says in the file done that it ran.
var endedSteps = []struct{ name, step string }{
	{"succeeded", "bash: echo X >> done"},
	{"failed", "bash: 'echo X >> done; exit 1'"},
	{"failed and tolerated", "bash: 'echo X >> done; exit 1', continue-on-error: true"},
	{"failed after retries", "bash: 'echo X >> done; exit 1', error-handling: {retry: {attempts: 1, delay: 1ms}}"},
	{"failed with a fallback", "bash: 'echo X >> done; exit 1', error-handling: {fallback: 'false'}"},
	{"failed, on-interrupt retry", "bash: 'echo X >> done; exit 1', on-interrupt: retry"},
	{"timed out", "bash: 'echo X >> done; exec sleep 60', timeout: 300ms"},
	{"skipped", "bash: echo X >> done, run-condition: \"'a' == 'b'\""},
	{"failed outputs", "bash: echo X >> done, outputs: {v: string}"},
	{"script", "js: \"throw new Error('x')\""},
}

// placesOfEnded put a step where a run can have it, as the step a.
var placesOfEnded = []struct{ name, step string }{
	{"branch", "{name: a, wait-for: [], %s}"},
	{"group", "{name: a, wait-for: [], steps: [{name: in, %s}]}"},
	{"loop", "{name: a, wait-for: [], for-each: {items: [1, 2]}, %s}"},
	{"loop of groups", "{name: a, wait-for: [], for-each: {items: [1, 2]}, steps: [{name: in, %s}]}"},
	{"used tool", "{name: a, wait-for: [], use-tool: ./used.yaml}"},
}

// waysOn carry a run on that waits at the steps gate1 and gate2 of other branches.
var waysOn = []struct {
	name string
	on   func(h *history)
}{
	{"an approval", func(h *history) { h.answer("gate1", true); h.resume(flowrun.ResumeOptions{}) }},
	{"a rejection", func(h *history) { h.answer("gate1", false); h.resume(flowrun.ResumeOptions{}) }},
	{"two answers", func(h *history) {
		h.answer("gate1", false)
		h.resume(flowrun.ResumeOptions{})
		h.answer("gate2", true)
		h.resume(flowrun.ResumeOptions{})
	}},
	{"the end of a question's time", func(h *history) { time.Sleep(500 * time.Millisecond); h.resume(flowrun.ResumeOptions{}) }},
	{"a restart", func(h *history) { h.resume(flowrun.ResumeOptions{}); h.resume(flowrun.ResumeOptions{}) }},
	{"an order of a person", func(h *history) { h.resume(flowrun.ResumeOptions{RerunInterrupted: true}) }},
	{"a crash after an answer", func(h *history) {
		h.answer("gate1", true)
		g, err := h.latest().Resume(h.lib, flowrun.ResumeOptions{})
		if err != nil {
			h.Fatal(err)
		}
		h.config.Store = &cutStore{Store: h.memory, at: 2}
		if _, err := flowrun.New(h.config).Continue(context.Background(), g); err != nil && !errors.Is(err, errCut) {
			h.Fatal(err)
		}
		h.config.Store = h.memory
		if !h.latest().Info.Status.Settled() || h.latest().Info.Status == dag.Interrupted {
			h.resume(flowrun.ResumeOptions{RerunAsked: true})
		}
	}},
	{"a cancel", func(h *history) {
		g, err := h.latest().Resume(h.lib, flowrun.ResumeOptions{})
		if err != nil {
			h.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := flowrun.New(h.config).Continue(ctx, g); err != nil {
			h.Fatal(err)
		}
	}},
}

// TestCarriedOn is the table of who carries a run on by what had ended before: no step that has ended runs again or
// changes its state, however it ended and wherever it stands, in a run that has not ended.
func TestCarriedOn(t *testing.T) {
	t.Parallel()
	cells := 0
	for _, ended := range endedSteps {
		for _, place := range placesOfEnded {
			for _, way := range waysOn {
				if cells++; cells%sizetest.Of(7, 1, 1) != 0 {
					continue
				}
				t.Run(fmt.Sprintf("%s, %s, %s", ended.name, place.name, way.name), func(t *testing.T) {
					t.Parallel()
					h := newHistory(t)
					h.file("used.yaml", "name: used\ndescription: Is used\nsteps: [{name: in, "+ended.step+"}]\n")
					step := place.step
					if strings.Contains(step, "%s") {
						step = fmt.Sprintf(step, ended.step)
					}
					text := "steps:\n- " + step + "\n- {name: gate1, wait-for: [], approve: {prompt: 'One?', timeout: 400ms, on-timeout: fail}}\n" +
						"- {name: one, wait-for: [gate1], bash: echo one >> done}\n- {name: gate2, wait-for: [], approve: 'Two?'}\n- {name: two, wait-for: [gate2], bash: echo two >> done}\n"
					res, err := flowrun.New(h.config).Run(context.Background(), h.compile(text), nil, flowrun.WithRunEnv(h.world))
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
func endedStates(res *flowrun.Result) map[string]string {
	states := map[string]string{}
	for _, s := range res.Steps {
		if s.Status.Settled() {
			states[s.ID] = fmt.Sprintf("%s %d %s %s %v", s.Status, s.ExitCode, s.Reason, s.Message, s.Ended.UnixNano())
		}
	}
	return states
}

// answer answers the question of a step.
func (h *history) answer(step string, approve bool) {
	h.Helper()
	for _, q := range h.latest().Questions() {
		if string(q.Step) == step {
			if err := h.memory.Answer(context.Background(), q.Run, flowrun.Answer{Step: q.Step, Wait: q.Wait, Approve: approve, By: "ann"}); err != nil {
				h.Fatal(err)
			}
			return
		}
	}
	h.Fatalf("nobody asks about %s: %+v", step, h.latest().Questions())
}

// TestTempWhileWaiting checks that the temporary directory of a run, and that of a tool that it uses, stay while the run
// waits, and go when it ends.
func TestTempWhileWaiting(t *testing.T) {
	t.Parallel()
	for _, ends := range []string{"approved", "rejected", "cancelled"} {
		h := newHistory(t)
		h.file("used.yaml", "name: used\ndescription: Is used\nfile-paths: {temp-directory: own}\nsteps:\n- {name: build, bash: 'echo built > $FLOWRUN_TEMP/a'}\n- {name: gate2, approve: 'Ship?'}\n- {name: ship, bash: 'cat $FLOWRUN_TEMP/a'}\n")
		res, err := flowrun.New(h.config).Run(context.Background(), h.compile("file-paths: {temp-directory: own}\nsteps:\n- {name: build, bash: 'echo built > $FLOWRUN_TEMP/a'}\n"+
			"- {name: gate, approve: 'Ship?'}\n- {name: ship, bash: 'cat $FLOWRUN_TEMP/a'}\n- {name: used, use-tool: ./used.yaml}\n"), nil, flowrun.WithRunEnv(h.world))
		if err != nil || res.Status != dag.Waiting {
			t.Fatal(err, res)
		}
		switch ends {
		case "cancelled":
			waysOn[len(waysOn)-1].on(h)
		default:
			h.answer("gate", ends == "approved")
			h.resume(flowrun.ResumeOptions{})
			if ends == "approved" {
				h.answer("used/gate2", true)
				if res = h.resume(flowrun.ResumeOptions{}); res.Status != dag.Succeeded || res.Output != "built\n" {
					t.Errorf("%s %q: %s %+v", res.Status, res.Output, res.Message, res.Steps)
				}
			}
		}
		if left, _ := os.ReadDir(filepath.Join(h.dir, "own")); len(left) > 0 {
			t.Errorf("%s: %v is left", ends, left)
		}
	}
}
