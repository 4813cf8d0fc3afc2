package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/mocks"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/test/endedtest"
	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/internal/test/waittest"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/temporal/internal/activity"
	"github.com/flowrun/flowrun/temporal/internal/datastore"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

func TestMain(m *testing.M) {
	engine.HelperMain()
	os.Exit(m.Run())
}

// execution is one run of a definition in the test environment of the SDK, which skips time.
type execution struct {
	t     *testing.T
	env   *testsuite.TestWorkflowEnvironment
	lib   *library.Library
	input *interpreter.Input
	texts *activity.Texts
	host  *activity.Host
}

func prepare(t *testing.T, definition string, params map[string]any) *execution {
	t.Helper()
	return prepareEnforced(t, definition, params, "")
}

// prepareEnforced is prepare for a client that has this setting. The worker enforces nothing by itself.
func prepareEnforced(t *testing.T, definition string, params map[string]any, enforce engine.Enforcement) *execution {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "t.yaml")
	if err := os.WriteFile(file, []byte(definition), 0o600); err != nil {
		t.Fatal(err)
	}
	x := &execution{t: t, lib: library.New(library.Config{})}
	plan, err := engine.Compile(x.lib, file)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := plan.Bind(engine.RunEnv{}, params)
	if err != nil {
		t.Fatal(err)
	}
	record, err := bound.Record(history.NewID(time.Now()), "", enforce)
	if err != nil {
		t.Fatal(err)
	}
	x.input = interpreter.NewInput(record, interpreter.Options{Parallel: 4, Cleanup: time.Minute})
	store, err := datastore.Open(t.Context(), filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	x.texts = &activity.Texts{Store: store, Dir: filepath.Join(dir, "fetched")}
	service := &mocks.Client{}
	service.On("RecordActivityHeartbeat", mock.Anything, mock.Anything).Return(nil) // of a step that takes seconds on a busy machine
	h := &activity.Host{Engine: engine.New(engine.Config{StateDir: filepath.Join(dir, "state")}), Library: func() *library.Library { return x.lib }, Texts: x.texts, Client: service}
	x.host = h
	t.Cleanup(h.Close)
	var suite testsuite.WorkflowTestSuite
	x.env = suite.NewTestWorkflowEnvironment()
	x.env.SetStartWorkflowOptions(client.StartWorkflowOptions{ID: record.ID})
	x.env.SetTestTimeout(waittest.Limit)
	x.env.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: waittest.Limit}) // not 1 s, which a loaded machine needs to compile a tool
	h.Register(x.env)
	return x
}

// compilePlan compiles a definition without a name and a description.
func compilePlan(t *testing.T, definition string) *engine.Plan {
	t.Helper()
	file := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(file, []byte("name: t\ndescription: d\n"+definition+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	plan, err := engine.Compile(library.New(library.Config{}), file)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// run runs it to its end.
func (x *execution) run() *runresult.Result {
	x.t.Helper()
	x.env.ExecuteWorkflow(interpreter.WorkflowType, x.input)
	var out interpreter.Output
	err := x.env.GetWorkflowError()
	if err == nil {
		err = x.env.GetWorkflowResult(&out)
	}
	ended, err := interpreter.OutputOf(&out, err)
	if err != nil {
		x.t.Fatal(err)
	}
	events, err := interpreter.DecodeEvents(x.input.Record.ID, ended.Events)
	if err != nil {
		x.t.Fatal(err)
	}
	r, err := x.input.Load(x.t.Context(), x.lib, events)
	if err != nil {
		x.t.Fatal(err)
	}
	return r.Result()
}

func TestSteps(t *testing.T) {
	r := prepare(t, `
name: t
parameters:
  WHO: {type: string}
steps:
  - {name: a, bash: 'echo hello {WHO}'}
  - {name: b, bash: 'echo "<{a.output}>"', run-condition: "{a.output} == 'hello Ada'"}
  - {name: c, bash: 'exit 3', continue-on-error: true, run-condition: "{b.exit-code} == 0"}
  - {name: d, bash: 'echo never', run-condition: "{c.exit-code} == 0"}
  - {name: e, bash: 'echo "{c.exit-code} {d.status}"'}
`, map[string]any{"WHO": "Ada"}).run()
	if r.Status.String() != "succeeded" || r.Output != "3 skipped\n" {
		t.Errorf("%v %q %s", r.Status, r.Output, r.Message)
	}
	for _, s := range r.Steps {
		t.Logf("%s %s %q %s", s.ID, s.Status, s.Output, s.Message)
	}
}

// TestPooled: the service has the slots of a pool, so a worker needs no history for them.
func TestPooled(t *testing.T) {
	if r := prepare(t, "name: t\nsteps:\n  - {name: a, pool: gpu, run: echo hi}\n", nil).run(); r.Status != dag.Succeeded {
		t.Errorf("%v: %s", r.Status, r.Message)
	}
}

func TestLongOutput(t *testing.T) {
	r := prepare(t, `
name: t
steps:
  - {name: a, bash: 'seq 100000'}
  - {name: b, bash: 'wc -c', input: '{a.output}'}
`, nil).run()
	if r.Status.String() != "succeeded" || r.Output != "588894\n" {
		t.Errorf("%v %q %s", r.Status, r.Output, r.Message)
	}
}

// A text that is not UTF-8, one that is masked, and the output of an attempt reach those who
// read them.
func TestTexts(t *testing.T) {
	x := prepare(t, `
name: t
environment: {secrets: [{name: TOKEN, command: "printf abcd-efgh"}]}
steps:
  - {name: a, bash: "printf 'a\\377b'"}
  - {name: b, run: 'od -An -c', input: '{a.output}'}
  - {name: s, bash: 'echo "<$TOKEN>"'}
  - {name: t, bash: "printf '%s' {s.output} | wc -c"}
  - {name: r, bash: 'echo busy >&2; exit 1', continue-on-error: true, error-handling: {retry: {attempts: 1, when: "{last.error} contains 'busy'"}}}
  - {name: e, bash: 'echo {b.output} {t.output} {r.attempts}'}
`, nil)
	x.texts.Secrets = converter.GetDefaultDataConverter()
	if r := x.run(); r.Output != "   a 377   b 11 2\n" {
		t.Errorf("%v %q %s %+v", r.Status, r.Output, r.Message, r.Steps)
	}
}

// Steps end while a condition is evaluated.
func TestManyConditions(t *testing.T) {
	definition := "name: t\nsteps:\n"
	for i := range 20 {
		definition += fmt.Sprintf("  - {name: a%[1]d, wait-for: [], bash: 'echo %[1]d'}\n  - {name: b%[1]d, wait-for: [a%[1]d], run-condition: \"{a%[1]d.output} == '%[1]d'\", bash: 'echo %[1]d'}\n", i)
	}
	if r := prepare(t, definition, nil).run(); r.Status.String() != "succeeded" || r.Output != "19\n" {
		t.Errorf("%v %q %s", r.Status, r.Output, r.Message)
	}
}

func TestRetry(t *testing.T) {
	r := prepare(t, `
name: t
steps:
  - {name: a, bash: 'echo {WORKSPACE} >/dev/null; exit 4', error-handling: {retry: {attempts: 3, delay: 1h}}, continue-on-error: true}
  - {name: l, bash: 'echo {item}', for-each: {items: [x, y, z]}}
  - name: g
    steps:
      - {name: i, bash: 'echo "{l.output}"'}
`, nil).run()
	if r.Status.String() != "succeeded" || r.Step("a").Attempts != 4 || r.Output != `["x","y","z"]`+"\n" {
		t.Errorf("%v %q %s", r.Status, r.Output, r.Message)
	}
	if took := r.Duration(); took < 7*time.Hour {
		t.Errorf("took %s", took)
	}
}

func TestApproval(t *testing.T) {
	x := prepare(t, `
name: t
steps:
  - {name: a, approve: {prompt: 'Really?'}}
  - {name: b, bash: 'echo done'}
`, nil)
	x.env.RegisterDelayedCallback(func() {
		x.env.SignalWorkflow(interpreter.AnswerSignal, history.Answer{Step: "a", Approve: true, By: "Ada"})
	}, 30*24*time.Hour)
	if r := x.run(); r.Status.String() != "succeeded" || r.Output != "done\n" || r.Duration() < 30*24*time.Hour {
		t.Errorf("%v %q %s %s", r.Status, r.Output, r.Message, r.Duration())
	}
}

// TestCarriedOn is the table of who carries a run on by what had ended before, on a worker: see the test of that name of
// the engine.
func TestCarriedOn(t *testing.T) {
	t.Parallel()
	base, cells, ran := t.TempDir(), 0, 0 // the names of the cells are no paths for YAML
	for _, ended := range endedtest.Steps {
		for _, place := range endedtest.Places {
			for _, way := range []struct {
				name string
				act  func(x *execution)
			}{
				{"an approval", func(x *execution) { x.answer("gate1", true) }},
				{"a rejection", func(x *execution) { x.answer("gate1", false) }},
				{"two answers", func(x *execution) { x.answer("gate1", true); x.answer("gate2", true) }},
				{"the end of a question's time", func(*execution) {}},
				{"an answer that is too late", func(x *execution) {
					x.env.RegisterDelayedCallback(func() { x.answer("gate1", true) }, 2*time.Hour)
				}},
				{"a cancel", func(x *execution) { x.env.CancelWorkflow() }},
			} {
				if cells++; cells%sizetest.Of(30, 6, 1) != 0 {
					continue
				}
				t.Run(ended.Name+", "+place.Name+", "+way.name, func(t *testing.T) {
					dir := filepath.Join(base, strconv.Itoa(cells))
					if err := os.Mkdir(dir, 0o700); err != nil {
						t.Fatal(err)
					}
					text, used := endedtest.Run(ended, place, "1h")
					inDir := func(text string) string { return strings.ReplaceAll(text, ">> done", ">> "+dir+"/done") }
					if err := os.WriteFile(filepath.Join(dir, "used.yaml"), []byte(inDir(used)), 0o600); err != nil {
						t.Fatal(err)
					}
					x := prepare(t, "name: t\n"+strings.ReplaceAll(inDir(text), "./used.yaml", dir+"/used.yaml"), nil)
					done := func() (ran []string) {
						b, _ := os.ReadFile(dir + "/done")
						return slices.DeleteFunc(strings.Fields(string(b)), func(w string) bool { return w == "one" || w == "two" })
					}
					var before []string
					x.env.RegisterDelayedCallback(func() { before = done(); way.act(x) }, time.Minute)
					x.env.RegisterDelayedCallback(func() { x.env.CancelWorkflow() }, 3*time.Hour)
					r := x.run()
					ran += len(before)
					if after := done(); len(after) != len(before) {
						t.Errorf("%s: %d times before, %d in all", r.Status, len(before), len(after))
					}
				})
			}
		}
	}
	if ran == 0 {
		t.Error("no step had run before")
	}
}

// answer answers the question of a step.
func (x *execution) answer(step string, approve bool) {
	x.env.SignalWorkflow(interpreter.AnswerSignal, history.Answer{Step: step, Approve: approve, By: "Ada"})
}

// TestEnforced: permissions that the tool or the client enforces are enforced by a worker that enforces nothing of its own
// accord, and the run document says so.
func TestEnforced(t *testing.T) {
	for name, c := range map[string]struct {
		security string
		setting  engine.Enforcement
		enforced bool
	}{
		"nothing": {"", "", false},
		"tool":    {"security: {enforce: true, required-permissions: ['filesystem:read:/etc/hosts']}", "", true},
		"client":  {"security: {required-permissions: ['filesystem:read:/etc/hosts']}", engine.EnforceAlways, true},
		"models":  {"security: {required-permissions: ['filesystem:read:/etc/hosts']}", engine.EnforceModels, false},
	} {
		t.Run(name, func(t *testing.T) {
			other := filepath.Join(t.TempDir(), "other")
			if err := os.WriteFile(other, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			x := prepareEnforced(t, "name: t\n"+c.security+"\nsteps: [{name: a, bash: 'cat "+other+"', continue-on-error: true}, {name: b, bash: 'cat /etc/hosts'}]\n", nil, c.setting)
			r := x.run()
			if r.Status.String() != "succeeded" || r.Enforced != c.enforced || (r.Step("a").Status == dag.Failed) != c.enforced {
				t.Errorf("%v enforced %v, step a %v %s: %s", r.Status, r.Enforced, r.Step("a").Status, r.Step("a").Error, r.Message)
			}
		})
	}
}
