package past

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/test/recordedtest"
)

// release asks twice; what follows a rejection is undone.
const release = `
name: release
description: Asks
steps:
  - name: gate
    approve: Release?
  - name: publish
    approve: Published?
on-failure:
  - name: undo
    approve: Undone?
  - name: tell
    approve: Told?
finally:
  - name: tidy
    approve: Tidied?
`

// TestRuns holds which runs are listed, in which order, and that more of them are mentioned.
func TestRuns(t *testing.T) {
	s := history.NewMemory()
	var ids []string // oldest first
	for _, c := range []struct {
		tool    string
		to      string // the parameter TO
		answers map[string]bool
	}{
		{"release", "eu", map[string]bool{"gate": true, "publish": true, "tidy": true}},
		{"other", "eu", map[string]bool{"gate": false, "undo": true, "tell": true, "tidy": true}},
		{"release", "us", map[string]bool{"gate": false, "undo": true, "tell": true, "tidy": true}},
		{"release", "eu", nil},
	} {
		definition := strings.Replace(release, "release", c.tool, 1) + "parameters:\n  TO: {type: string, default: " + c.to + "}\n"
		ids = append(ids, recordedtest.Answered(t, s, definition, c.answers).Record.ID)
	}
	for _, c := range []struct {
		flags string
		want  []int // indices into ids, as listed
		note  string
	}{
		{"", []int{3, 2, 1, 0}, ""},
		{"--limit 2", []int{3, 2}, "flowrun: there are more runs; to list all: --limit 0\n"},
		{"--limit 4", []int{3, 2, 1, 0}, ""},
		{"--limit 0", []int{3, 2, 1, 0}, ""},
		{"--status failed", []int{2, 1}, ""},
		{"--status failed,waiting", []int{3, 2, 1}, ""},
		{"--status succeeded --status waiting", []int{3, 0}, ""},
		{"--tool release --limit 1", []int{3}, "flowrun: there are more runs; to list all: --limit 0\n"},
		{"--tool other", []int{1}, ""},
		{"--status cancelled", nil, "flowrun: no runs found\n"},
		{"--since 1h --tool other", []int{1}, ""},
		{"--since 2020-01-01 --tool other", []int{1}, ""},
		{"--since 2999-01-01T00:00:00Z", nil, "flowrun: no runs found\n"},
		{"--since 2999-01-01", nil, "flowrun: no runs found\n"},
		{"--until 2999-01-01 --tool other", []int{1}, ""},
		{"--until 1h", nil, "flowrun: no runs found\n"},
		{"--origin cli --limit 3", []int{3, 2, 1}, "flowrun: there are more runs; to list all: --limit 0\n"},
		{"--origin schedule", nil, "flowrun: no runs found\n"},
		{"--param TO=eu", []int{3, 1, 0}, ""},
		{"--param TO=eu --limit 3", []int{3, 1, 0}, ""},
		{"--param TO=eu --limit 2", []int{3, 1}, "flowrun: there are more runs; to list all: --limit 0\n"},
		{"--param TO=us --tool release", []int{2}, ""},
		{"--param TO=eu --param TO=us", nil, "flowrun: no runs found\n"},
	} {
		var want []string
		for _, i := range c.want {
			want = append(want, ids[i])
		}
		table, notes, err := command(s, append([]string{"runs"}, strings.Fields(c.flags)...)...)
		if diff := cmp.Diff(want, firstWords(table)); diff != "" || notes != c.note || err != nil {
			t.Errorf("runs %s: %v, %s%s", c.flags, err, notes, diff)
		}
		lines, notes, err := command(s, append([]string{"runs", "-o", "jsonl"}, strings.Fields(c.flags)...)...)
		var got []string
		for line := range strings.Lines(lines) {
			var r struct{ ID string }
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			got = append(got, r.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || notes != "" || err != nil {
			t.Errorf("runs -o jsonl %s: %v, %s%s", c.flags, err, notes, diff)
		}
	}
}

// firstWords returns the first word of each line of a table below its header.
func firstWords(table string) (words []string) {
	for line := range strings.Lines(table) {
		if f := strings.Fields(line); len(f) > 0 && f[0] != "RUN" {
			words = append(words, f[0])
		}
	}
	return words
}

// TestPsTable holds how active runs are listed, and what they share.
func TestPsTable(t *testing.T) {
	active := []rundocs.ActiveRun{{ID: "r1", Tool: "t", Status: dag.Running, PID: 7, Started: time.Now()}, {ID: "r2", Tool: "t", Status: dag.Waiting, Started: time.Now(), Message: "ask"}}
	for _, c := range []struct {
		doc       rundocs.Ps
		out, note string
	}{
		{rundocs.Ps{Locks: []rundocs.Lock{{Name: "l"}}}, `^$`, "flowrun: no active runs\n"},
		{rundocs.Ps{Runs: active}, `^RUN .*\nr1 +t +running +0s ago +7 *\nr2 +t +waiting +0s ago +ask\n$`, ""},
		{rundocs.Ps{Runs: active, Limits: []rundocs.Lock{{Name: "t", Used: 1, Slots: 2}}, Pools: []rundocs.Lock{{Name: "p", Slots: 1}}, Locks: []rundocs.Lock{{Name: "l", Used: 1, Slots: 1, Holders: []string{"r1"}, Waiting: []string{"r2/a", "r2/b"}}}},
			`\n\nIN USE .*\nlock l +1/1 +r1 +r2/a r2/b\npool p +0/1 *\nruns of t +1/2 *\n$`, ""},
	} {
		var out, notes bytes.Buffer
		err := psTable(&ui.Env{Terminal: ui.Terminal{Stdout: &out, Stderr: &notes}}, c.doc)
		if err != nil || notes.String() != c.note || !regexp.MustCompile(c.out).MatchString(out.String()) {
			t.Errorf("%v, %s\n%s", err, notes.String(), out.String())
		}
	}
}

// TestStatusColors: only the column of states has colours, with or without notes.
func TestStatusColors(t *testing.T) {
	env := &ui.Env{Terminal: ui.Terminal{Stdout: new(bytes.Buffer)}}
	t.Setenv("FLOWRUN_COLOR", "never")
	if statusColors(env, 1) != nil {
		t.Error("colours where nobody sees them")
	}
	t.Setenv("FLOWRUN_COLOR", "always")
	color, red := statusColors(env, 1), console.StyleOf(dag.Failed).Color
	for _, c := range []struct {
		column     int
		cell, want string
	}{{1, "failed   ", red}, {1, "failed (2 tolerated)", red}, {0, "failed", ""}, {1, "STATUS", ""}} {
		if got := color(c.column, c.cell); got != c.want {
			t.Errorf("%d %q: %q, want %q", c.column, c.cell, got, c.want)
		}
	}
}

// TestRemoveOrphanLogs: log folders without a run are removed once they are a day old.
func TestRemoveOrphanLogs(t *testing.T) {
	s, state := history.NewMemory(), t.TempDir()
	known := recordedtest.Answered(t, s, release, nil).Record.ID
	for name, age := range map[string]time.Duration{known: 99 * time.Hour, "1oldrun": 25 * time.Hour, "1newrun": 23 * time.Hour} {
		dir := filepath.Join(state, "runs", name)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chtimes(dir, time.Time{}, time.Now().Add(-age))); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeOrphanLogs(t.Context(), s, state); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{known: true, "1oldrun": false, "1newrun": true} {
		if _, err := os.Stat(filepath.Join(state, "runs", name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := removeOrphanLogs(t.Context(), s, t.TempDir()); err != nil {
		t.Errorf("without logs: %v", err)
	}
}
