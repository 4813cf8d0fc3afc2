package past

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// TestHandlerNote holds why show says that a handler was skipped.
func TestHandlerNote(t *testing.T) {
	for _, c := range []struct {
		answers map[string]bool
		want    map[string]string
	}{
		{map[string]bool{"gate": true, "publish": true, "tidy": true}, map[string]string{"undo": "not needed (on-failure)", "tell": "not needed (on-failure)", "gate": ""}},
		{map[string]bool{"gate": false, "undo": false, "tidy": true}, map[string]string{"tell": "an earlier handler failed: undo"}},
	} {
		run := recordedtest.Answered(t, history.NewMemory(), release, c.answers)
		for id, want := range c.want {
			if got := handlerNote(run.Plan, run.Result(), id); got != want {
				t.Errorf("%v: %s: %q, want %q", c.answers, id, got, want)
			}
		}
	}
}

// TestShow holds what show says of a run that failed.
func TestShow(t *testing.T) {
	s := history.NewMemory()
	run := recordedtest.Answered(t, s, release, map[string]bool{"gate": false, "undo": false, "tidy": true})
	out, _, err := command(s, "show", "latest")
	want := `^run      ` + run.Record.ID + `
tool     release
status   failed \(exit 1\)
started  .*
took     .*
file     \S+ sha256:[0-9a-f]{12}
message  .*

STEP +STATUS +TOOK +NOTE
gate +failed +\S+ +exit 1, rejected at .*
publish +skipped .*
undo +failed .*
tell +skipped +an earlier handler failed: undo
tidy +succeeded .*
$`
	if err != nil || !regexp.MustCompile(want).MatchString(out) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestShowDefinitions: the text of one definition is printed as it is, those of several below their names.
func TestShowDefinitions(t *testing.T) {
	a, b := runresult.Definition{Name: "a.yaml", Digest: "sha256:0123456789abcdef", Text: []byte("a\n")}, runresult.Definition{Name: "b\x1b.md", Digest: "short", Text: []byte("b\n")}
	for _, c := range []struct {
		list        []runresult.Definition
		text, names string
	}{
		{nil, "", ""},
		{[]runresult.Definition{a}, "a\n", "a.yaml sha256:0123456789ab"},
		{[]runresult.Definition{a, b}, "==> a.yaml <==\na\n\n==> " + console.Clean("b\x1b.md") + " <==\nb\n", "a.yaml sha256:0123456789ab, b\x1b.md short"},
	} {
		var out bytes.Buffer
		err := showDefinitions(&ui.Env{Terminal: ui.Terminal{Stdout: &out}}, c.list)
		if names := definitionNames(c.list); err != nil || out.String() != c.text || names != c.names {
			t.Errorf("%v\n%s\n%s", err, out.String(), names)
		}
	}
}

// TestShowFailure: of the first step that failed, the end of standard error is repeated, or else of its output.
func TestShowFailure(t *testing.T) {
	lines := func(n int) (text string) {
		for i := range n {
			text += fmt.Sprintf("line %d\n", i+1)
		}
		return text
	}
	for _, c := range []struct {
		steps []runresult.StepResult
		want  string
	}{
		{nil, ""},
		{[]runresult.StepResult{{ID: "a", Status: dag.Succeeded, Error: "warning"}}, ""},
		{[]runresult.StepResult{{ID: "a", Status: dag.Failed, Error: " \n"}}, ""},
		{[]runresult.StepResult{{ID: "a", Status: dag.Failed, Output: "out\n", Error: "one\ntwo\n"}}, "\nend of the standard error of a:\n  | one\n  | two\n"},
		{[]runresult.StepResult{{ID: "a", Status: dag.Failed, Output: "out\n"}}, "\nend of the output of a:\n  | out\n"},
		{[]runresult.StepResult{{ID: "a", Status: dag.Failed, Error: lines(maxFailureLines + 1)}}, "\nend of the standard error of a:\n  | line 2\n"},
	} {
		var out bytes.Buffer
		err := showFailure(&ui.Env{Terminal: ui.Terminal{Stdout: &out}}, &runresult.Result{Status: dag.Failed, Steps: c.steps})
		if err != nil || !strings.HasPrefix(out.String(), c.want) || c.want == "" && out.Len() > 0 {
			t.Errorf("%+v: %v\n%s", c.steps, err, out.String())
		}
	}
}

// TestWithoutEmpty: only those of the columns are removed that no row uses.
func TestWithoutEmpty(t *testing.T) {
	all := console.Columns("A", "B", "C", "D")
	rows := [][]string{{"1", "", "", ""}, {"2", "", "x", ""}}
	var titles []string
	for _, c := range withoutEmpty(all, rows, 1, 2) {
		titles = append(titles, c.Title)
	}
	if !cmp.Equal(titles, []string{"A", "C", "D"}) || !cmp.Equal(rows, [][]string{{"1", "", ""}, {"2", "x", ""}}) || all[1].Title != "B" {
		t.Error(titles, rows, all)
	}
}

// TestShownValues: parameters are shown in one order, as JSON.
func TestShownValues(t *testing.T) {
	if got := shownValues(map[string]any{"B": []any{"x"}, "A": "a b"}); got != `A="a b" B=["x"]` {
		t.Error(got)
	}
}

// TestArtifactNamed holds which artifact a word means.
func TestArtifactNamed(t *testing.T) {
	kept := func(words ...string) (list []runresult.KeptArtifact) {
		for _, w := range words {
			step, name, _ := strings.Cut(w, ":")
			list = append(list, runresult.KeptArtifact{Step: step, Artifact: dag.Artifact{Name: name}})
		}
		return list
	}
	var many []string
	for i := range 12 {
		many = append(many, fmt.Sprintf("s%d:log", i))
	}
	for _, c := range []struct {
		all        []runresult.KeptArtifact
		word, want string
		problem    string
		usage      bool
	}{
		{kept("build:report", "test:log"), "report", "build", "", false},
		{kept("build:report", "test:report"), "test/report", "test", "", false},
		{kept("build:report", "test:report"), "report", "", `several artifacts have the name "report": build/report, test/report`, true},
		{kept(many...), "log", "", "s8/log, s9/log, and 2 more", true},
		{kept("build:report"), "reprot", "", `run r1 has no artifact "reprot"`, false},
		{kept("build:report"), "build/reprot", "", `did you mean "build/report"?; to list its artifacts: flowrun artifacts r1`, false},
		{nil, "report", "", "run r1 has no artifacts", false},
	} {
		got, err := artifactNamed(&cobra.Command{}, "r1", c.all, c.word)
		if err == nil && (c.problem != "" || got.Step != c.want) {
			t.Errorf("%s: %+v", c.word, got)
		}
		if err != nil && (c.problem == "" || !strings.Contains(err.Error(), c.problem) || errors.As(err, new(*ui.UsageError)) != c.usage) {
			t.Errorf("%s: %v, want %s", c.word, err, c.problem)
		}
	}
}

// TestLogsReader: a step or an attempt that does not exist is an error.
func TestLogsReader(t *testing.T) {
	t.Setenv("FLOWRUN_STATE_DIR", t.TempDir())
	ended := recordedtest.Answered(t, history.NewMemory(), release, map[string]bool{"gate": true, "publish": true, "tidy": true})
	live := recordedtest.Answered(t, history.NewMemory(), release, nil)
	live.Info.Status = dag.Running
	for _, c := range []struct {
		run     *engine.RecordedRun
		step    string
		attempt int
		want    string
	}{
		{ended, "", 0, ""},
		{ended, "gate", 1, ""},
		{ended, "gates", 0, `no step "gates"`},
		{ended, "gate", 2, "no step has an attempt 2; the highest is 1"},
		{ended, "", 2, "no step has an attempt 2; the highest is 1"},
		{live, "gate", 2, ""}, // it may come
	} {
		f := logsFlags{attempt: c.attempt}
		_, err := f.reader(c.run, c.step, time.Time{})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q attempt %d: %v, want %s", c.step, c.attempt, err, c.want)
		}
	}
}

// TestLineFilter: lines are matched whole, however they arrive, without the end of the line.
func TestLineFilter(t *testing.T) {
	for _, c := range []struct {
		pattern string
		parts   []string
		want    string
	}{
		{"^out$", []string{"out\nno\nout"}, "out\nout"},
		{"^out$", []string{"o", "ut", "\nout 2\n"}, "out\n"},
		{"a$", []string{"a\r\nb\r\n"}, "a\r\n"},
		{"^$", []string{"\n\nx"}, "\n\n"},
		{"x", []string{"no"}, ""},
	} {
		var b strings.Builder
		f := &lineFilter{to: &b, pattern: regexp.MustCompile(c.pattern)}
		for _, p := range c.parts {
			if n, err := f.Write([]byte(p)); n != len(p) || err != nil {
				t.Errorf("%d, %v", n, err)
			}
		}
		if err := f.flush(); err != nil || b.String() != c.want {
			t.Errorf("%s %q: %q, %v", c.pattern, c.parts, b.String(), err)
		}
	}
}
