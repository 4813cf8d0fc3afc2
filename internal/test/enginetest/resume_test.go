package enginetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// cutStore is a Store whose ledgers fail from one Append on: as if the engine had
// been killed there. late lets that one Append be kept.
type cutStore struct {
	history.Store
	at, calls int
	late      bool
}

type cutLedger struct {
	history.Ledger
	store *cutStore
}

var errCut = errors.New("cut")

func (s *cutStore) Begin(ctx context.Context, r *history.Record) (history.Ledger, error) {
	l, err := s.Store.Begin(ctx, r)
	return &cutLedger{l, s}, err
}

func (l *cutLedger) Append(ctx context.Context, events []dag.Event) error {
	l.store.calls++
	if l.store.calls < l.store.at || l.store.calls == l.store.at && l.store.late {
		if err := l.Ledger.Append(ctx, events); err != nil {
			return err
		}
	}
	if l.store.calls >= l.store.at {
		return errCut
	}
	return nil
}

// keptRuns is a bed that keeps its runs.
type keptRuns struct {
	*bed
	memory *history.Memory
}

func newKeptRuns(t *testing.T) *keptRuns {
	b := newBed(t)
	b.config.StateDir = filepath.Join(b.dir, "state")
	h := &keptRuns{b, history.NewMemory()}
	h.config.Store = h.memory
	return h
}

// latest is the newest run.
func (h *keptRuns) latest() *engine.RecordedRun {
	h.Helper()
	id, err := history.FindRun(context.Background(), h.memory, history.Latest)
	if err != nil {
		h.Fatal(err)
	}
	p, err := engine.LoadRun(context.Background(), h.memory, h.lib, id)
	if err != nil {
		h.Fatal(err)
	}
	return p
}

// resume takes the newest run up, and holds the journal's end against the result.
func (h *keptRuns) resume(o engine.ResumeOptions) *runresult.Result {
	h.Helper()
	g, err := h.latest().Resume(h.lib, o)
	if err != nil {
		h.Fatal(err)
	}
	return h.goOn(g)
}

// carryOn continues the run without an order of a person.
func (h *keptRuns) carryOn(o engine.ResumeOptions) *runresult.Result {
	h.Helper()
	g, err := h.latest().Continue(h.lib, o)
	if err != nil {
		h.Fatal(err)
	}
	return h.goOn(g)
}

func (h *keptRuns) goOn(g *engine.Continuation) *runresult.Result {
	h.Helper()
	h.config.Store = h.memory
	res, err := engine.New(h.config).Continue(context.Background(), g)
	if err != nil {
		h.Fatal(err)
	}
	told := h.latest().Result()
	if told.Status != res.Status || len(told.Steps) != len(res.Steps) {
		h.Errorf("history tells %s with %d steps, the run %s with %d", told.Status, len(told.Steps), res.Status, len(res.Steps))
	}
	if diff := cmp.Diff(res.Notices, told.Notices, cmpopts.EquateEmpty()); diff != "" && res.Status.Settled() {
		h.Errorf("notices of the run and of history (-run +history):\n%s", diff)
	}
	return res
}

// done are the lines that steps left in the file "done".
func (h *keptRuns) done() []string {
	b, _ := os.ReadFile(filepath.Join(h.dir, "done"))
	return strings.Fields(string(b))
}

func paths(list []dag.ID) string {
	words := make([]string, len(list))
	for i, id := range list {
		words[i] = string(id)
	}
	return strings.Join(words, " ")
}

// What failed and what comes after it runs again, the rest stands, and references
// read what was printed the first time.
func TestResumeAfterFailure(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	text := `steps:
  - {name: fetch, bash: "echo fetched $RANDOM | tee -a seen; echo fetch >> done"}
  - {name: big, bash: "seq 2000; echo big >> done"}
  - {name: nest, use-tool: ./inner.yaml}
  - {name: build, bash: "echo build >> done; printf %s {nest.output} | wc -c >> sizes; test -e ready && echo built {fetch.output} {big.output} | head -c 60"}
  - {name: ship, bash: "echo ship >> done; echo {build.output}"}
`
	h.file("inner.yaml", "description: d\nsteps:\n  - {name: cut, output: {buffer-limit: 5000}, bash: seq 3000}\n  - {name: never, run-condition: '1 == 2', run: x}\n")
	if res := h.run(context.Background(), text, nil); res.Status != dag.Failed {
		t.Fatalf("the first run ends %s", res.Status)
	}
	h.file("ready", "")
	g, err := h.latest().Resume(h.lib, engine.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprintf("kept %s, again %s", paths(g.Kept), paths(g.Reset)); got != "kept fetch big nest, again build ship" {
		t.Error(got)
	}
	res := h.goOn(g)
	seen, _ := os.ReadFile(filepath.Join(h.dir, "seen"))
	if !strings.HasPrefix(res.Output, "built "+strings.TrimSpace(string(seen))+" 1") {
		t.Errorf("output %q, want what fetch printed the first time (%q) and the beginning of big's", res.Output, seen)
	}
	if sizes, _ := os.ReadFile(filepath.Join(h.dir, "sizes")); string(sizes) != "5000\n5000\n" { // what references saw was cut
		t.Errorf("the nested tool's output had these sizes: %q", sizes)
	}
	if diff := cmp.Diff([]string{"fetch", "big", "build", "build", "ship"}, h.done()); diff != "" {
		t.Errorf("what ran:\n%s", diff)
	}
	g, err = h.latest().Resume(h.lib, engine.ResumeOptions{})
	if err != nil || !g.Nothing() {
		t.Errorf("a run that ended well has something left: %+v, %v", g, err)
	}
}

// flowrun may be killed before or after any write of its journal: resumed again, the
// run ends as if nothing had happened, and nothing runs twice whose end is on
// record.
func TestResumeEverywhere(t *testing.T) {
	t.Parallel()
	inner := "name: inner\ndescription: d\ntags: [read]\nparameters: {WORD: {description: d}}\nsteps:\n" +
		"  - {name: one, bash: \"echo $FLOWRUN_STEP >> done; echo {WORD}\"}\n  - {name: two, bash: \"echo $FLOWRUN_STEP >> done; echo {one.output}!\"}\noutput: \"<{two.output}>\"\n"
	text := `tags: [read]
steps:
  - {name: a, bash: "echo $FLOWRUN_STEP >> done; echo from-a"}
  - {name: nest, use-tool: ./inner.yaml, with: {WORD: "{a.output}"}}
  - {name: flaky, bash: "echo $FLOWRUN_STEP >> done; test $(grep -c flaky done) -gt 1", error-handling: {retry: {attempts: 2, delay: 1}}}
  - {name: end, bash: "echo $FLOWRUN_STEP >> done; echo {nest.output} {flaky.attempts}"}
  - {name: tidy, bash: "echo $FLOWRUN_STEP >> done", run-condition: always()}
`
	everyCut(t, 10, map[string]string{"inner.yaml": inner}, text, func(h *keptRuns, res *runresult.Result) {
		if !strings.HasPrefix(res.Step("end").Output, "<from-a!> ") {
			h.Errorf("the output is %q", res.Step("end").Output)
		}
	})
}

// everyCut cuts runs of a definition off around the writes of their journal, each in a world of its own, and resumes them
// again. It checks that each run succeeds and that no step whose end was on record runs again: each one writes its path into
// the file "done". least is how many writes there are at least; in the Small size every third of them is tried.
func everyCut(t *testing.T, least int, files map[string]string, text string, check func(h *keptRuns, res *runresult.Result)) {
	for at := 1; ; at += sizetest.Of(3, 1, 1) {
		for _, late := range []bool{false, true} {
			h := newKeptRuns(t)
			for name, text := range files {
				h.file(name, text)
			}
			h.config.Store = &cutStore{Store: h.memory, at: at, late: late}
			res, err := engine.New(h.config).Run(context.Background(), h.compile(text), nil, engine.WithRunEnv(h.world))
			cut := errors.Is(err, errCut)
			if err != nil && !cut {
				t.Fatal(err)
			}
			before, ended := len(h.done()), map[string]bool{}
			if cut {
				past := h.latest()
				if past.Info.Status == dag.Running {
					t.Fatalf("cut at %d: %s", at, past.Info.Status)
				}
				for _, e := range past.Events {
					if e.Kind == dag.StepFinished {
						ended[string(e.Node)] = true
					}
				}
				res = h.resume(engine.ResumeOptions{})
			}
			for _, path := range h.done()[before:] {
				if ended[path] {
					t.Errorf("%s ran again; its end was on record", path)
				}
			}
			if res.Status != dag.Succeeded {
				t.Errorf("the run %s: %s", res.Status, res.Message)
			}
			check(h, res)
			if t.Failed() {
				t.Fatalf("cut at %d (late %t)", at, late)
			}
			if !cut {
				if at <= least {
					t.Fatalf("the journal was written %d times at most", at-1)
				}
				return
			}
		}
	}
}

// The documented case: what is destroyed by an always() step is named when it is
// kept.
func TestResumeProvisionTestDestroy(t *testing.T) {
	t.Parallel()
	text := `on-interrupt: retry
steps:
  - {name: provision, bash: "echo provision >> done"}
  - {name: test, bash: "echo test >> done; test -e ready"}
  - {name: destroy, bash: "echo destroy >> done", run-condition: always()}
`
	want := map[int]string{ // writes that were kept: what runs again
		0: "reset [] left [provision test destroy] kept [] cleaned []",
		1: "reset [provision] left [test destroy] kept [] cleaned []",
		2: "reset [test] left [destroy] kept [provision] cleaned []",
		3: "reset [destroy] left [] kept [provision test] cleaned []", // the run has not ended, so test stays failed
		4: "reset [test destroy] left [] kept [provision] cleaned [{provision destroy}]",
		5: "reset [test destroy] left [] kept [provision] cleaned [{provision destroy}]",
	}
	for kept := range want {
		h := newKeptRuns(t)
		h.config.Store = &cutStore{Store: h.memory, at: kept + 1}
		_, err := engine.New(h.config).Run(context.Background(), h.compile(text), nil, engine.WithRunEnv(h.world))
		if err != nil && !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		g, err := h.latest().Resume(h.lib, engine.ResumeOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("reset %v left %v kept %v cleaned %v", g.Reset, g.Left, g.Kept, g.Cleaned); got != want[kept] {
			t.Errorf("after %d writes: %s, want %s", kept, got, want[kept])
		}
		h.file("ready", "")
		res := h.goOn(g)
		if carriedOn := kept == 3; (res.Status == dag.Failed) != carriedOn {
			t.Errorf("after %d writes the run ends %s", kept, res.Status)
		} else if carriedOn {
			res = h.resume(engine.ResumeOptions{}) // the order of a person, about a run that has ended
		}
		if res.Status != dag.Succeeded {
			t.Errorf("after %d writes the resumed run ends %s", kept, res.Status)
		}
	}
}

// on-interrupt: fail never runs twice unasked; ask waits for a person.
func TestResumeInterrupted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule    string
		options engine.ResumeOptions
		want    string // status of the step, or "asks"
		runs    int
	}{
		{"retry", engine.ResumeOptions{}, "succeeded", 2},
		{"fail", engine.ResumeOptions{}, "interrupted", 1},
		{"fail", engine.ResumeOptions{RerunAsked: true}, "interrupted", 1},
		{"fail", engine.ResumeOptions{RerunInterrupted: true}, "succeeded", 2},
		{"ask", engine.ResumeOptions{}, "asks", 1},
		{"ask", engine.ResumeOptions{RerunAsked: true}, "succeeded", 2},
		{"ask", engine.ResumeOptions{RerunInterrupted: true}, "succeeded", 2},
	} {
		h := newKeptRuns(t)
		text := fmt.Sprintf("steps:\n  - {name: pay, on-interrupt: %s, bash: echo pay >> done}\n  - {name: thank, bash: echo thank >> done}\n", tc.rule)
		h.config.Store = &cutStore{Store: h.memory, at: 2} // the end of pay
		if _, err := engine.New(h.config).Run(context.Background(), h.compile(text), nil, engine.WithRunEnv(h.world)); !errors.Is(err, errCut) {
			t.Fatal(err)
		}
		g, err := h.latest().Resume(h.lib, tc.options)
		if err != nil {
			t.Fatal(err)
		}
		h.config.Store = h.memory
		res, err := engine.New(h.config).Continue(context.Background(), g)
		var asks *outcome.InterruptedError
		got := "asks"
		if !errors.As(err, &asks) {
			got = res.Step("pay").Status.String()
		}
		runs := strings.Count(strings.Join(h.done(), " "), "pay")
		if got != tc.want || runs != tc.runs {
			t.Errorf("%s with %+v: %s after %d runs, want %s after %d", tc.rule, tc.options, got, runs, tc.want, tc.runs)
		}
		if tc.want == "interrupted" { // for good: another resume has nothing to do
			g, err := h.latest().Resume(h.lib, engine.ResumeOptions{})
			if err != nil || !g.Nothing() || res.Status != dag.Failed {
				t.Errorf("an interrupted step that counts as failed: run %s, left %+v, %v", res.Status, g, err)
			}
		}
	}
}

// A retry is a new run that takes over what went well, from a step, for a step
// alone, in nested tools, and with other parameters.
func TestRetry(t *testing.T) {
	t.Parallel()
	inner := "name: inner\ndescription: d\nsteps:\n  - {name: one, bash: \"echo one >> done; echo 1\"}\n  - {name: two, bash: \"echo two >> done; test -e ready; echo {one.output}2\"}\n"
	text := `parameters: {WHO: {description: d, default: x}}
steps:
  - {name: a, bash: "echo a >> done; echo A; seq 2000 >&2"}
  - {name: who, bash: "echo who >> done; echo {WHO}"}
  - {name: nest, use-tool: ./inner.yaml}
  - {name: z, bash: "echo z >> done; echo {a.output} {who.output} {nest.output}"}
`
	for _, tc := range []struct {
		name     string
		options  engine.RetryOptions
		ran      string
		output   string
		statuses string // of a, nest/one, nest/two
	}{
		{"all that failed", engine.RetryOptions{}, "two z", "A x 12", "reused reused succeeded"},
		{"from a step", engine.RetryOptions{From: []string{"who"}}, "who one two z", "A x 12", "reused succeeded succeeded"},
		{"from a nested step", engine.RetryOptions{From: []string{"nest/one"}}, "one two z", "A x 12", "reused succeeded succeeded"},
		{"one step", engine.RetryOptions{Only: "who"}, "who", "x", "reused - -"},
		{"one nested step", engine.RetryOptions{Only: "nest/two"}, "two", "12", "reused reused succeeded"},
		{"other parameters", engine.RetryOptions{With: map[string]any{"WHO": "y"}}, "who one two z", "A y 12", "reused succeeded succeeded"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			h := newKeptRuns(t)
			h.file("inner.yaml", strings.Replace(inner, "test -e ready;", "test -e ready || exit 1;", 1))
			h.run(context.Background(), text, nil)
			h.file("ready", "")
			before := h.done()
			old := h.latest()
			g, err := old.Retry(h.lib, tc.options)
			if err != nil {
				t.Fatal(err)
			}
			res := h.goOn(g)
			if got := strings.Join(h.done()[len(before):], " "); got != tc.ran {
				t.Errorf("ran %q, want %q", got, tc.ran)
			}
			if res.Status != dag.Succeeded || strings.TrimSpace(res.Output) != tc.output || res.RetryOf != old.Record.ID || res.ID == old.Record.ID {
				t.Errorf("%s %q, retry of %s", res.Status, res.Output, res.RetryOf)
			}
			var got []string
			for _, id := range []string{"a", "nest/one", "nest/two"} {
				word := "-"
				if s := res.Step(id); s != nil {
					word = s.Status.String()
				}
				got = append(got, word)
			}
			if s := strings.Join(got, " "); s != tc.statuses {
				t.Errorf("a, nest/one and nest/two are %s, want %s", s, tc.statuses)
			}
			os.RemoveAll(filepath.Join(h.config.StateDir, "runs", old.Record.ID))
			s := res.Step("a")
			if log, err := os.ReadFile(s.StderrFile); err != nil || !strings.Contains(s.StderrFile, res.ID) || len(log) != 8893 {
				t.Errorf("the log of a reused step is %q: %d bytes, %v", s.StderrFile, len(log), err)
			}
			if s.StdoutFile != "" && !strings.Contains(s.StdoutFile, res.ID) || s.Output != "A\n" { // there is a file if the step took long
				t.Errorf("a short output of a reused step is %q, in %q", s.Output, s.StdoutFile)
			}
		})
	}
	h := newKeptRuns(t)
	h.file("inner.yaml", inner)
	h.run(context.Background(), text, nil)
	var none *plan.StepError
	if _, err := h.latest().Retry(h.lib, engine.RetryOptions{From: []string{"nest/thre"}}); !errors.As(err, &none) {
		t.Errorf("an unknown step: %v", err)
	}
}

// Secrets are not kept: they must be given again, and what printed them runs again
// or is refused by name.
func TestResumeSecrets(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	text := `parameters: {TOKEN: {description: d, required: true}}
environment: {secrets: [TOKEN]}
steps:
  - {name: login, idempotent: %t, bash: "echo login >> done; echo session-{TOKEN}"}
  - {name: use, bash: "test -e ready && test {login.output} = session-hunter22"}
`
	for _, idempotent := range []bool{true, false} {
		os.Remove(filepath.Join(h.dir, "ready"))
		h.run(context.Background(), fmt.Sprintf(text, idempotent), map[string]any{"TOKEN": "hunter22"})
		h.file("ready", "")
		past := h.latest()
		var params *value.ParamsError
		if _, err := past.Resume(h.lib, engine.ResumeOptions{}); !errors.As(err, &params) || params.Problems[0].Code != "withheld" {
			t.Fatalf("without the secret: %v", err)
		}
		g, err := past.Resume(h.lib, engine.ResumeOptions{Params: map[string]any{"TOKEN": "hunter22"}})
		var withheld *outcome.WithheldError
		switch {
		case !idempotent:
			if !errors.As(err, &withheld) || !strings.Contains(err.Error(), "step use reads the output of step login") {
				t.Errorf("a withheld output: %v", err)
			}
		case err != nil:
			t.Error(err)
		default:
			if got := paths(g.Reset); got != "login use" {
				t.Errorf("%s run again, want login use", got)
			}
			if res := h.goOn(g); res.Status != dag.Succeeded {
				t.Errorf("the run ends %s: %s", res.Status, res.Message)
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join(h.config.StateDir, "runs", "*", "logs", "*"))
	for _, f := range files {
		if b, _ := os.ReadFile(f); strings.Contains(string(b), "hunter22") {
			t.Errorf("%s holds the secret", f)
		}
	}
}

// A run continues with the definitions it was started with, or with the latest.
func TestResumeDefinitions(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	h.run(context.Background(), "steps:\n  - {name: a, bash: echo first; exit 1}\n", nil)
	h.file("under-test.yaml", "description: d\nsteps:\n  - {name: a, bash: echo second}\n")
	if res := h.resume(engine.ResumeOptions{}); res.Output != "first\n" {
		t.Errorf("resumed with %q", res.Output)
	}
	if res := h.resume(engine.ResumeOptions{Latest: true}); res.Output != "second\n" {
		t.Errorf("resumed with the latest: %q", res.Output)
	}
}

// A log that lost its end with the machine does not take what the record holds of it
// along, and is not taken for the whole.
func TestHistoryWithoutLogs(t *testing.T) {
	t.Parallel()
	for _, size := range []int{5000, 9000} {
		h := newKeptRuns(t)
		h.run(context.Background(), fmt.Sprintf("bash: head -c %d /dev/zero | tr '\\0' x\n", size), nil)
		file := h.latest().Result().Steps[0].StdoutFile
		for _, left := range []int64{int64(size), 10, 0, -1} {
			if left < 0 {
				os.Remove(file)
			} else if err := os.Truncate(file, left); err != nil {
				t.Fatal(err)
			}
			doc, err := json.Marshal(h.latest().Result())
			if err != nil {
				t.Fatal(err)
			}
			var got struct {
				Steps []struct {
					Output    string
					Truncated bool
				}
			}
			if err := json.Unmarshal(doc, &got); err != nil {
				t.Fatal(err)
			}
			want, lost := size, left < int64(size) && size > dag.InlineLimit
			if lost {
				want = dag.InlineLimit
			}
			if s := got.Steps[0]; len(s.Output) != want || s.Truncated != lost {
				t.Errorf("of %d bytes %d are left in the log: %d are shown, truncated %t", size, left, len(s.Output), s.Truncated)
			}
		}
	}
}

// A secret that an author wrote into a definition is not kept with it. The run can be
// looked at all the same, and continues while the file is as it was.
func TestResumeSecretInDefinition(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"hunter22", "'hunter22'", "name"} { // the last one is a key as well: nothing is left of the definition that could be read
		h := newKeptRuns(t)
		text := fmt.Sprintf("parameters:\n  PW: {description: d, default: %s}\nenvironment: {secrets: [PW]}\nsteps:\n"+
			"  - name: a\n    bash: echo a >> done\n  - name: b\n    bash: test -e ready && printf %%s {PW} | wc -c\n", secret)
		h.run(context.Background(), text, nil)
		doc, err := json.Marshal(h.latest().Record)
		kept := string(doc)
		for _, s := range h.latest().Record.Sources {
			kept += string(s.Text)
		}
		if err != nil || strings.Contains(kept, "hunter22") {
			t.Errorf("%s is kept: %s", secret, kept)
		}
		h.file("ready", "")
		if res := h.resume(engine.ResumeOptions{}); res.Status != dag.Succeeded || !slices.Equal(h.done(), []string{"a"}) {
			t.Errorf("%s: resumed, the run is %s, and %v ran", secret, res.Status, h.done())
		}
		os.Remove(filepath.Join(h.dir, "ready"))
		h.run(context.Background(), text, nil)
		h.file("under-test.yaml", "description: other\nbash: x\n")
		past, err := engine.LoadRun(context.Background(), h.memory, h.lib, latestID(t, h))
		if err != nil || past.Result().Status != dag.Failed {
			t.Fatalf("%s: cannot look at the run: %v", secret, err)
		}
		if _, err := past.Resume(h.lib, engine.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "to use the current definition: --latest") {
			t.Errorf("%s: resumed with another definition: %v", secret, err)
		}
	}
}

func latestID(t *testing.T, h *keptRuns) string {
	id, err := history.FindRun(context.Background(), h.memory, history.Latest)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A retry that never began has taken nothing over: resuming it would run everything.
func TestResumeUnbegunRetry(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	h.run(context.Background(), "steps:\n  - {name: a, bash: echo a >> done}\n  - {name: b, bash: exit 1}\n", nil)
	record := *h.latest().Record
	record.ID, record.RetryOf = "unbegun", record.ID
	ledger, err := h.memory.Begin(context.Background(), &record)
	if err != nil {
		t.Fatal(err)
	}
	ledger.Close()
	if _, err := h.latest().Resume(h.lib, engine.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "retry run "+record.RetryOf+" again") {
		t.Errorf("%v", err)
	}
}
