package runs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/permtrace"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// TestReportEnd holds what is said at the end of a run that is not recorded, depending on how it ended and on the progress.
func TestReportEnd(t *testing.T) {
	plan := recordedtest.Plan(t, released)
	for _, c := range []struct {
		res      runresult.Result
		progress string
		want     string
	}{
		{runresult.Result{Status: dag.Succeeded}, "plain", ""},
		{runresult.Result{Status: dag.Succeeded, Notes: []string{"1 tolerated"}, Tolerated: []string{"lint"}}, "plain", "flowrun: run r1 succeeded (1 tolerated): lint\n"},
		{runresult.Result{Status: dag.Succeeded, Notes: []string{"1 tolerated"}, Tolerated: []string{"lint"}}, "quiet", ""},
		{runresult.Result{Status: dag.Failed, Message: "step a failed"}, "plain", "flowrun: run r1 failed: step a failed\n"},
		{runresult.Result{Status: dag.Failed, Message: "step a failed"}, "quiet", "flowrun: run r1 failed: step a failed\n"},
		{runresult.Result{Status: dag.Failed, Message: "step a failed"}, "none", ""},
		{runresult.Result{Status: dag.Failed, Message: "step a failed"}, "json", ""},
		{runresult.Result{Status: dag.TimedOut, Message: "too slow"}, "plain", "flowrun: run r1 timed out: too slow\n"},
		{runresult.Result{Status: dag.Cancelled}, "plain", "flowrun: run r1 cancelled\n"},
	} {
		c.res.ID = "r1"
		f := runFlags{}
		f.Progress = c.progress
		out, got := printed(func(env *ui.Env) {
			if err := reportEnd(env, &c.res, plan, f, false); err != nil {
				t.Error(err)
			}
		})
		if got != c.want || out != "" {
			t.Errorf("%s %s: %q, want %q", c.progress, c.res.Status, got, c.want)
		}
	}
}

// TestCombined: -o combined has a section of every step that ran, with its standard output before its standard error.
func TestCombined(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, []byte("all of it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	res := &runresult.Result{Steps: []runresult.StepResult{
		{ID: "a", Status: dag.Succeeded, Output: "cut", StdoutFile: file, Error: "warning\n"},
		{ID: "b", Status: dag.Skipped, Output: "no"},
		{ID: "c", Status: dag.Failed, Output: "half"},
	}}
	for form, want := range map[string]string{"combined": "--- a: succeeded ---\nall of it\nwarning\n--- c: failed ---\nhalf", "text": ""} {
		if got, _ := printed(func(env *ui.Env) { PrintResult(env, res, form) }); got != want {
			t.Errorf("%s: %q", form, got)
		}
	}
	res.Steps[0].StdoutFile += "-gone"
	if err := PrintResult(silent(), res, "combined"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a log that is gone: %v", err)
	}
}

// TestRunOutput: an unfinished last line is ended, and output that nobody can receive stops the run.
func TestRunOutput(t *testing.T) {
	for text, want := range map[string]string{"": "", "a": "a\n", "a\n": "a\n", "a\nb": "a\nb\n"} {
		var b strings.Builder
		out := &runOutput{w: &b}
		io.WriteString(out, text)
		if out.endLine(); b.String() != want {
			t.Errorf("%q: %q", text, b.String())
		}
	}
	r, w := io.Pipe()
	r.Close()
	ctx, stop := context.WithCancelCause(t.Context())
	out := &runOutput{w: w, stop: stop}
	io.WriteString(out, "x")
	if !errors.Is(context.Cause(ctx), io.ErrClosedPipe) || !errors.Is(out.err, io.ErrClosedPipe) {
		t.Errorf("the run is not stopped: %v, %v", context.Cause(ctx), out.err)
	}
}

// TestEntryText: permissions are printed as YAML reads them.
func TestEntryText(t *testing.T) {
	for entry, want := range map[string]string{
		"filesystem:read:/etc/x": "filesystem:read:/etc/x",
		"network:external:*":     "network:external:*",
		"filesystem:read:/a b":   `"filesystem:read:/a b"`,
		"process:a#b":            `"process:a#b"`,
		"odd:":                   `"odd:"`,
	} {
		if got := entryText(entry); got != want {
			t.Errorf("%s: %s, want %s", entry, got, want)
		}
	}
}

// TestPrintPermissions holds the section that a traced run prints.
func TestPrintPermissions(t *testing.T) {
	for _, c := range []struct {
		report permtrace.Report
		want   string
	}{
		{permtrace.Report{}, "  required-permissions: []\n"},
		{permtrace.Report{Needed: []string{"a:b"}}, "  required-permissions:\n    - a:b\n"},
		{permtrace.Report{Direct: []string{"1.2.3.4:443"}}, "required-permissions: []\nflowrun: programs connected to 1.2.3.4:443 without a proxy"},
		{permtrace.Report{Unused: []string{"c"}}, "flowrun: the run did not use the permission c\n"},
	} {
		_, got := printed(func(env *ui.Env) { printPermissions(env, &runresult.Result{ID: "r1", Permissions: &c.report}) })
		if !strings.Contains(got, c.want) {
			t.Errorf("%+v: %s", c.report, got)
		}
	}
}

// TestFillMissing: with --watch, a person is asked only once; other problems are not hidden.
func TestFillMissing(t *testing.T) {
	answers := map[string]any{"A": "1", "B": "2"}
	for _, c := range []struct {
		err  error
		want string
		some bool
	}{
		{nil, "", false},
		{&value.ParamsError{Problems: []value.ParamProblem{{Name: "A", Code: "missing"}, {Name: "C", Code: "missing"}}}, "1", true},
		{&value.ParamsError{Problems: []value.ParamProblem{{Name: "A", Code: "type"}}}, "", false},
	} {
		r := &request{bindErr: c.err, params: map[string]any{}}
		if some := r.fillMissing(answers); some != c.some || c.want != "" && r.params["A"] != c.want || len(r.params) != len(c.want) {
			t.Errorf("%v: %v %v", c.err, some, r.params)
		}
	}
}

// TestPrintWarnings: what concerns a parameter is said only to those who give it.
func TestPrintWarnings(t *testing.T) {
	plan := recordedtest.Plan(t, `
name: old
description: An old tool
deprecated: true
deprecated-message: use tool
bash: echo {OLD} {NEW}
parameters:
  OLD: {description: old, default: x, deprecated: true, deprecated-alternative: NEW}
  NEW: {description: new, default: x}
  LEFT: {description: Of an earlier version, default: x}
`)
	for given, want := range map[string]string{
		"NEW":  "",
		"OLD":  "flowrun: parameter OLD is deprecated; use NEW\n",
		"LEFT": "unused-parameter",
	} {
		_, got := printed(func(env *ui.Env) { printWarnings(env, plan, map[string]any{given: "1"}) })
		rest := strings.Replace(got, "flowrun: tool old is deprecated: use tool\n", "", 1)
		if rest == got || (want == "") != (rest == "") || !strings.Contains(rest, want) {
			t.Errorf("%s: %s", given, got)
		}
	}
}

// TestHistoryUnavailable: a run goes unrecorded only where nobody named a place for the history.
func TestHistoryUnavailable(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		home, named string
		want        bool
	}{
		{dir, "", false},
		{file, "", true},
		{file, filepath.Join(file, "state"), false}, // that it cannot be used is an error of the run
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("FLOWRUN_STATE_DIR", c.named)
		t.Setenv("XDG_STATE_HOME", "")
		var got bool
		_, note := printed(func(env *ui.Env) { got = historyUnavailable(env, ui.InteractionFlags{}) })
		if got != c.want || strings.Contains(note, "the run is not recorded: ") != c.want {
			t.Errorf("HOME=%s FLOWRUN_STATE_DIR=%s: %v, %s", c.home, c.named, got, note)
		}
	}
}
