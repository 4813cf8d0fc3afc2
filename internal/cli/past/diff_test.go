package past

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/rundiff"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// TestShowDiff holds what is said of each kind of change, and that nothing controls the terminal.
func TestShowDiff(t *testing.T) {
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.Local)
	line := func(s string) *string { return &s }
	d := &rundiff.Diff{
		Before:      rundiff.Run{ID: "1aaa", Tool: "t", Status: dag.Succeeded, Origin: "schedule:t", Flowrun: "1.0.0", Started: at, Duration: 1000},
		After:       rundiff.Run{ID: "1bbb", Tool: "t", Status: dag.Failed, ExitCode: 3, Flowrun: "1.1.0", Started: at.Add(24 * time.Hour), Duration: 65_000},
		Definitions: []rundiff.Definition{{Name: "t.yaml", Before: "1", After: "2", Diff: "-a\n+b\x1b[0m\n"}, {Name: "new.yaml", After: "3", Diff: "+n\n"}, {Name: "old.yaml", Before: "4", Diff: "-o\n"}},
		Params:      []rundiff.Param{{Name: "N", Before: "1", After: 2}, {Name: "M", After: []any{"\x1b"}}},
		Variables:   &rundiff.Names{Added: []string{"LANG", "TZ"}, Removed: []string{"HOME"}},
		Steps: []rundiff.Step{
			{ID: "same", Before: &rundiff.StepState{Status: dag.Succeeded, Attempts: 1, Duration: 5}, After: &rundiff.StepState{Status: dag.Succeeded, Attempts: 1, Duration: 9}},
			{ID: "fails", Before: &rundiff.StepState{Status: dag.Succeeded, Attempts: 1, Duration: 1000}, After: &rundiff.StepState{Status: dag.Failed, ExitCode: 3, Attempts: 2, Duration: 60_000}, Notable: true,
				Logs: []rundiff.LogChange{{Stream: "stdout", Line: 4, Before: line("a"), After: line("b\x1b[0m")}, {Stream: "stderr", Line: 1, After: line("no")}}},
			{ID: "added", After: &rundiff.StepState{Status: dag.Skipped}, Notable: true},
		},
		LogsCut: true,
	}
	var out, notes bytes.Buffer
	env := &ui.Env{Terminal: ui.Terminal{Stdout: &out, Stderr: &notes}}
	if err := showDiff(env, d); err != nil {
		t.Fatal(err)
	}
	want := `RUN      1aaa                 1bbb
status   succeeded            failed (exit 3)
started  2026-11-20 08:00:00  2026-11-21 08:00:00
took     1.0s                 1m05s
origin   schedule:t           cli
flowrun  1.0.0                1.1.0

t.yaml changed:
  -a
  +b�[0m

new.yaml is new:
  +n

old.yaml is no longer used:
  -o

parameters:
  N: "1" -> 2
  M: not set -> ["\u001b"]

environment variables added: LANG, TZ

environment variables removed: HOME

STEP   BEFORE          AFTER
fails  succeeded 1.0s  failed (exit 3, 2 attempts) 1m00s
added  not there       skipped

fails, line 4 of the output:
  - a
  + b

fails, line 1 of the standard error:
  + no


`
	if diff := cmp.Diff(want, out.String()); diff != "" || notes.String() != "flowrun: the logs are long: only their beginning was compared\n" {
		t.Error(notes.String(), diff)
	}
}

// TestUnchanged holds what two runs are said to have in common.
func TestUnchanged(t *testing.T) {
	for _, c := range []struct {
		d    rundiff.Diff
		want string
	}{
		{rundiff.Diff{}, "unchanged: the definition, the parameters\nnot recorded of both: the names of environment variables, the version of flowrun"},
		{rundiff.Diff{Variables: &rundiff.Names{}, Before: rundiff.Run{Flowrun: "1"}, After: rundiff.Run{Flowrun: "1"}}, "unchanged: the definition, the parameters, the names of environment variables, the version of flowrun"},
		{rundiff.Diff{Definitions: []rundiff.Definition{{}}, Variables: &rundiff.Names{Added: []string{"A"}}, Before: rundiff.Run{Flowrun: "1"}, After: rundiff.Run{Flowrun: "2"}}, "unchanged: the parameters"},
	} {
		if got := unchanged(&c.d); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// TestDiff holds which runs are compared.
func TestDiff(t *testing.T) {
	s := history.NewMemory()
	good := recordedtest.Answered(t, s, release, map[string]bool{"gate": true, "publish": true, "tidy": true}).Record.ID
	if _, _, err := command(s, "diff", "latest"); err == nil || !strings.Contains(err.Error(), "no run of release before run "+good+" succeeded; name the run to compare it with") {
		t.Error(err)
	}
	bad := recordedtest.Answered(t, s, release, map[string]bool{"gate": false, "undo": true, "tell": true, "tidy": true}).Record.ID
	other := recordedtest.Answered(t, s, strings.Replace(release, "release", "other", 1), nil).Record.ID
	for _, c := range []struct{ words, before, after string }{
		{"latest", "", ""},
		{bad, good, bad},
		{bad + " " + good, good, bad},
		{good + " latest", good, other},
	} {
		out, _, err := command(s, append([]string{"diff"}, strings.Fields(c.words)...)...)
		if c.before == "" {
			if err == nil {
				t.Errorf("diff %s: %s", c.words, out)
			}
			continue
		}
		if err != nil || !regexp.MustCompile(`^RUN +`+c.before+` +`+c.after+"\n").MatchString(out) {
			t.Errorf("diff %s: %v\n%s", c.words, err, out)
		}
	}
}
