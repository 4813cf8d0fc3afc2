package rundiff_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/observe/rundiff"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
	"github.com/flowrun/flowrun/internal/test/schematest"
)

const release = `
name: release
description: Asks
parameters:
  TO: {type: string, default: eu}
  N: {type: number, default: 1}
steps:
  - name: gate
    approve: Release?
  - name: publish
    approve: {prompt: "Published?", form: {properties: {REGION: {type: string}}}}
`

// TestOf compares two runs in both orders.
func TestOf(t *testing.T) {
	s, state := history.NewMemory(), t.TempDir()
	good := recordedtest.Answered(t, s, release, map[string]bool{"gate": true, "publish": true})
	changed := strings.NewReplacer("default: eu", "default: us", "N: {type: number, default: 1}", "M: {type: number, default: 1.0}", "Published", "Done").Replace(release)
	bad := recordedtest.Answered(t, s, changed+"  - {name: tell, approve: 'Told?'}\n", map[string]bool{"gate": true, "publish": false})
	good.Record.Flowrun, bad.Record.Flowrun = "1.0.0", "1.1.0"
	good.Record.Variables, bad.Record.Variables = []string{"HOME", "PATH", "TZ"}, []string{"HOME", "LANG", "PATH"}
	writeLog(t, state, good, "gate", "one\ntwo\n")
	writeLog(t, state, bad, "gate", "one\nthree\n")

	for _, order := range [][2]*engine.RecordedRun{{good, bad}, {bad, good}} {
		d, err := rundiff.Of(state, order[0], order[1])
		if err != nil {
			t.Fatal(err)
		}
		doc, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		schematest.Validate(t, "run-diff", doc)
		if d.Before.ID != good.Record.ID || d.After.ID != bad.Record.ID || d.Before.Flowrun != "1.0.0" || d.After.Flowrun != "1.1.0" || d.Before.Status != dag.Succeeded || d.After.Status != dag.Failed || d.After.ExitCode != 1 {
			t.Errorf("%+v %+v", d.Before, d.After)
		}
		if diff := cmp.Diff(&rundiff.Names{Added: []string{"LANG"}, Removed: []string{"TZ"}}, d.Variables); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff([]rundiff.Param{{Name: "M", After: json.Number("1.0")}, {Name: "N", Before: json.Number("1")}, {Name: "TO", Before: "eu", After: "us"}}, d.Params); diff != "" {
			t.Error(diff)
		}
		if len(d.Definitions) != 1 || d.Definitions[0].Name != "tool.yaml" || d.Definitions[0].Before == d.Definitions[0].After || !strings.Contains(d.Definitions[0].Diff, "\n-  TO: {type: string, default: eu}\n-  N:") ||
			!strings.HasPrefix(d.Definitions[0].Diff, "--- tool.yaml of run "+good.Record.ID+"\n+++ tool.yaml of run "+bad.Record.ID+"\n") {
			t.Errorf("%+v", d.Definitions)
		}
		var steps []string
		for _, st := range d.Steps {
			text := st.ID
			for _, state := range []*rundiff.StepState{st.Before, st.After} {
				if state == nil {
					text += " -"
				} else {
					text += " " + state.Status.String()
				}
			}
			for _, l := range st.Logs {
				text += " " + l.Stream + " " + textOf(l.Before) + " " + textOf(l.After)
			}
			if st.Notable {
				text += " notable"
			}
			steps = append(steps, text)
		}
		want := []string{"gate succeeded succeeded stdout two three notable", `publish succeeded failed stdout {"REGION":"eu"} nothing notable`, "tell - skipped notable"}
		if diff := cmp.Diff(want, steps); diff != "" {
			t.Error(diff)
		}
	}

	same, err := rundiff.Of(state, good, good)
	if err != nil || len(same.Definitions)+len(same.Params)+len(same.Variables.Added)+len(same.Variables.Removed) > 0 || same.Steps[0].Notable {
		t.Errorf("a run differs from itself: %v %+v", err, same)
	}
	good.Record.Variables = nil // it is of an older version
	if d, err := rundiff.Of(state, good, bad); err != nil || d.Variables != nil {
		t.Errorf("%v %+v", err, d.Variables)
	}
}

func textOf(line *string) string {
	if line == nil {
		return "nothing"
	}
	return *line
}

// writeLog writes what the first attempt of a step printed.
func writeLog(t *testing.T, state string, run *engine.RecordedRun, step dag.ID, text string) {
	t.Helper()
	file := filepath.Join(rundir.LogFolder(state, run.Record.ID), rundir.LogName(step, 1, rundir.Stdout))
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// TestReference holds which run a run is compared with.
func TestReference(t *testing.T) {
	s := history.NewMemory()
	at := time.Date(2026, 11, 20, 8, 0, 0, 0, time.UTC)
	for _, r := range []struct {
		id, tool, file, only string
		status               dag.Status
	}{
		{"r1", "t", "/a/t.yaml", "", dag.Succeeded},
		{"r2", "t", "/a/t.yaml", "build", dag.Succeeded},
		{"r3", "t", "/b/t.yaml", "", dag.Succeeded},
		{"r4", "other", "/a/t.yaml", "", dag.Succeeded},
		{"r5", "t", "/a/t.yaml", "", dag.Failed},
		{"r6", "t", "/a/t.yaml", "", dag.Succeeded},
		{"r7", "t", "/c/t.yaml", "", dag.Failed},
		{"r8", "go", "", "", dag.Succeeded},
		{"r9", "go", "", "", dag.Failed},
	} {
		record := &history.Record{ID: r.id, Tool: r.tool, Only: r.only, Created: at}
		if r.file != "" {
			record.Sources = []tool.Source{{Name: r.tool, File: r.file, Digest: tool.DigestOf(nil)}}
		}
		l, err := s.Begin(t.Context(), record)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Append(t.Context(), []dag.Event{{V: dag.EventVersion, Seq: 1, Run: r.id, Kind: dag.RunFinished, Time: at, Result: &dag.Result{Status: r.status, Started: at, Ended: at}}}); err != nil {
			t.Fatal(err)
		}
		l.Close()
	}
	for id, want := range map[string]string{"r1": "", "r2": "", "r3": "", "r4": "", "r5": "r1", "r6": "r1", "r7": "", "r8": "", "r9": "r8"} {
		run, err := s.Record(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rundiff.Reference(t.Context(), s, run)
		var none *rundiff.NoReferenceError
		if got != want || errors.As(err, &none) != (want == "") || errors.Is(err, history.ErrNoRun) != (want == "") {
			t.Errorf("%s: %q %v, want %q", id, got, err, want)
		}
	}
}
