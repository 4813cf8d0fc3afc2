package runs

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// gates asks two questions at once, and a third after the first.
const gates = `
description: Asks
steps:
  - name: eu
    approve:
      prompt: Release to the EU?
      form:
        properties:
          REGION: {type: string, enum: [eu, us]}
          COUNT: {type: integer, default: 3}
          TAGS: {type: array, items: {type: string}}
        required: [REGION]
  - name: us
    approve: Release to the US?
    parallel: true
  - name: end
    approve: All done?
    wait-for: [eu, us]
`

// TestFindQuestion holds which question the words after a run name, and what is said if they name none.
func TestFindQuestion(t *testing.T) {
	for _, c := range []struct {
		answers     map[string]bool
		words, step string
		left        []string
		problem     string // RUN stands for the id
	}{
		{words: "eu", step: "eu", left: []string{}},
		{words: "eu REGION=eu A=1", step: "eu", left: []string{"REGION=eu", "A=1"}},
		{answers: map[string]bool{"us": true}, words: "REGION=eu", step: "eu", left: []string{"REGION=eu"}},
		{words: "", problem: "2 steps are waiting for an answer; name one of them: eu, us"},
		{words: "end", problem: "step end of run RUN is not waiting for an answer; it is pending; waiting steps: eu, us"},
		{words: "ends", problem: `has no step "ends"`},
		{answers: map[string]bool{"us": true}, words: "us", problem: "step us of run RUN is not waiting for an answer; it succeeded (approved at "},
		{answers: map[string]bool{"us": true, "eu": true, "end": true}, words: "", problem: "no step of run RUN is waiting for an answer; the run succeeded"},
		{answers: map[string]bool{"us": true, "eu": true, "end": false}, words: "", problem: "the run failed; to run again what failed: flowrun resume RUN"},
		{answers: map[string]bool{"us": true, "eu": true, "end": false}, words: "end", problem: "step end of run RUN is not waiting for an answer; it failed (rejected at "},
	} {
		run := runOf(t, gates, c.answers)
		q, left, err := findQuestion(run, strings.Fields(c.words))
		want := strings.ReplaceAll(c.problem, "RUN", run.Record.ID)
		if err == nil && (c.problem != "" || q.Step != c.step || !cmp.Equal(left, c.left)) {
			t.Errorf("%v %q: %s %q, want %s %q %s", c.answers, c.words, q.Step, left, c.step, c.left, want)
		}
		if err != nil && (want == "" || !strings.Contains(err.Error(), want)) {
			t.Errorf("%v %q: %v, want %s", c.answers, c.words, err, want)
		}
	}
}

// TestFindQuestionTooLate: the answer to a question whose time has passed is refused with the way to continue.
func TestFindQuestionTooLate(t *testing.T) {
	run := runOf(t, "description: Asks\nsteps:\n  - name: gate\n    approve: {prompt: \"Go?\", timeout: 1h}\n", nil)
	for _, e := range run.Events {
		if e.Kind == dag.StepWaiting {
			e.Result.Wait.Until = time.Now().Add(-time.Minute)
		}
	}
	_, _, err := findQuestion(run, nil)
	if want := "to continue the run: flowrun resume " + run.Record.ID; err == nil || !strings.HasPrefix(err.Error(), "too late: step gate waited for an answer until ") || !strings.HasSuffix(err.Error(), want) {
		t.Error(err)
	}
}

// TestSplitSecrets: words that give a secret of the run again are no fields, unless the form has a field of that name.
func TestSplitSecrets(t *testing.T) {
	run := runOf(t, gates, nil)
	run.Record.Withheld = []string{"TOKEN", "REGION"}
	words := []string{"REGION=eu", "TOKEN=x=y", `TOKEN:="z"`, "COUNT=1", "plain", "=x"}
	for _, q := range run.Questions() {
		want := map[string][]string{"eu": {"TOKEN=x=y", `TOKEN:="z"`}, "us": {"REGION=eu", "TOKEN=x=y", `TOKEN:="z"`}}[q.Step]
		secrets, fields := splitSecrets(run, q, words)
		if !cmp.Equal(secrets, want) || len(secrets)+len(fields) != len(words) {
			t.Errorf("%s: secrets %q, fields %q, want the secrets %q", q.Step, secrets, fields, want)
		}
	}
}

// TestFormValues holds how words become the values of a form, and that all problems are printed together.
func TestFormValues(t *testing.T) {
	q, _, err := findQuestion(runOf(t, gates, nil), []string{"eu"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		words  string
		want   map[string]any
		stderr string
	}{
		{"REGION=eu", map[string]any{"REGION": "eu", "COUNT": "3"}, ""},
		{"REGION=us COUNT=10", map[string]any{"REGION": "us", "COUNT": "10"}, ""},
		{"REGION=eu TAGS=a TAGS=b", map[string]any{"REGION": "eu", "COUNT": "3", "TAGS": []any{"a", "b"}}, ""},
		{`REGION=eu TAGS:=["a"]`, map[string]any{"REGION": "eu", "COUNT": "3", "TAGS": []any{"a"}}, ""},
		{"", nil, "field REGION: "},
		{"REGION=asia COUNT=many", nil, "field COUNT: ... field REGION: "},
		{"REGION=eu COUNT:=[1,", nil, "field COUNT: not valid JSON: line 1, column 4: the JSON value is incomplete; write plain text as COUNT=..."},
		{"REGION=eu PLACE=x", nil, "field PLACE: "},
	} {
		var got map[string]any
		var err error
		_, stderr := printed(func(env *ui.Env) {
			got, err = formValues(env, &cobra.Command{}, q, strings.Fields(c.words), answering{Approve: true})
		})
		if c.want != nil && (err != nil || fmt.Sprint(got) != fmt.Sprint(c.want)) {
			t.Errorf("%s: %v, %v, want %v", c.words, got, err, c.want)
		}
		if c.want == nil && (err != error(ui.CodeError(outcome.ExitParams)) || !containsAll(stderr, c.stderr)) {
			t.Errorf("%s: %v, %s, want %s", c.words, err, stderr, c.stderr)
		}
	}
	if _, err := formValues(silent(), &cobra.Command{}, q, []string{"REGION=eu"}, answering{}); !errors.As(err, new(*ui.UsageError)) {
		t.Errorf("reject takes a field: %v", err)
	}
}

// containsAll reports whether a text contains the parts of pattern, which " ... " separates, each after the one before.
func containsAll(text, pattern string) bool {
	for _, part := range strings.Split(pattern, " ... ") {
		_, rest, found := strings.Cut(text, part)
		if !found {
			return false
		}
		text = rest
	}
	return true
}

// TestAnsweredBefore: only a run that nobody continues gets the hint to resume it.
func TestAnsweredBefore(t *testing.T) {
	answered := history.Answered(history.Answer{Approve: true, By: "ann"})
	for _, c := range []struct {
		status dag.Status
		err    error
		hint   bool
	}{
		{dag.Waiting, answered, true},
		{dag.Running, answered, false},
		{dag.Waiting, history.ErrNoRun, false},
	} {
		err := addResumeHint(&engine.RecordedRun{Record: &history.Record{ID: "r1"}, Info: history.RunInfo{Status: c.status}}, c.err)
		if !errors.Is(err, c.err) || strings.Contains(err.Error(), "; to continue the run: flowrun resume r1") != c.hint {
			t.Errorf("%s: %v", c.status, err)
		}
	}
}

// TestLostRace: a run that another process resumed first is looked at again; other errors end the command.
func TestLostRace(t *testing.T) {
	for err, want := range map[error]bool{nil: false, history.ErrNoRun: false, fmt.Errorf("x: %w", history.ErrLive): true, history.ErrChanged: true} {
		if lostRace(err) != want {
			t.Errorf("%v: %v", err, !want)
		}
	}
}

// TestContinuedElsewhere holds when approve does not continue the run itself.
func TestContinuedElsewhere(t *testing.T) {
	t.Setenv("FLOWRUN_STATE_DIR", t.TempDir())
	store := history.NewMemory()
	for _, c := range []struct {
		answers map[string]bool
		want    bool
		note    string
	}{
		{nil, false, ""},
		{map[string]bool{"eu": true, "us": true, "end": true}, true, "has ended in the meantime; it succeeded; for details: flowrun show"},
		{map[string]bool{"eu": false, "us": true}, true, "has ended in the meantime; it failed"},
	} {
		run := recordedtest.Answered(t, store, gates, c.answers)
		var elsewhere bool
		var err error
		_, stderr := printed(func(env *ui.Env) {
			elsewhere, err = continuedElsewhere(t.Context(), env, store, run, history.Question{}, true)
		})
		if err != nil || elsewhere != c.want || !strings.Contains(stderr, c.note) {
			t.Errorf("%v: %v, %v, %s", c.answers, elsewhere, err, stderr)
		}
	}
}
