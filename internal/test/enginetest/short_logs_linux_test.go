package enginetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/observe/runlog"
)

// logFiles returns the names of all files of the runs.
func (h *keptRuns) logFiles() (names []string) {
	for _, path := range files(h.T, filepath.Join(h.config.StateDir, "runs")) {
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			names = append(names, filepath.Base(path))
		}
	}
	return names
}

// TestShortOutputs: an output that its event has completely needs no file, also if its file could be read while the step ran.
// A run without files has no folder, and its logs are complete. The test is not parallel: a process that another test starts
// has every file of this program open for a moment, and a log that is open stays.
func TestShortOutputs(t *testing.T) {
	h := newKeptRuns(t)
	shown := "until ls " + h.config.StateDir + "/runs/*/logs/%s* > /dev/null 2>&1; do sleep 0.05; done\n"
	h.run(context.Background(), fmt.Sprintf(`
steps:
  - {name: quick, bash: "echo quick; echo warned >&2"}
  - name: slow
    bash: |
      echo slow
      %s      echo end
  - name: again
    bash: echo "try $FLOWRUN_ATTEMPT"; [ "$FLOWRUN_ATTEMPT" = 2 ]
    error-handling: {retry: {attempts: 1, delay: 1ms}}
`, fmt.Sprintf(shown, "slow")), nil)
	if entries, err := os.ReadDir(filepath.Join(h.config.StateDir, "runs")); err != nil || len(entries) > 0 {
		t.Errorf("left: %v, %v", entries, err)
	}
	var log bytes.Buffer
	run := h.latest()
	reader := runlog.New(rundir.LogFolder(h.config.StateDir, run.Record.ID), run.Plan, "")
	if err := reader.Copy(run.Events, runlog.Labelled(&log)); err != nil {
		t.Fatal(err)
	}
	want := "--- quick, attempt 1, stdout ---\nquick\n--- quick, attempt 1, stderr ---\nwarned\n--- slow, attempt 1, stdout ---\nslow\nend\n" +
		"--- again, attempt 1, stdout ---\ntry 1\n--- again, attempt 2, stdout ---\ntry 2\n"
	if log.String() != want {
		t.Errorf("%s\nwant %s", &log, want)
	}
}

// TestLogsThatStay: a log stays that is not whole in its event, that a process still writes, or whose event was not recorded.
func TestLogsThatStay(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	h.run(context.Background(), `
steps:
  - {name: long, bash: seq 2000}
  - {name: binary, bash: "printf '\\377'"}
  - name: background
    bash: echo started; (until [ -e go ]; do sleep 0.02; done; echo late; touch gone) &
  - {name: end, bash: "touch go; until [ -e gone ]; do sleep 0.02; done"}
`, nil)
	names := h.logFiles()
	if want := []string{"background.out", "binary.out", "long.out"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
	if text, err := os.ReadFile(filepath.Join(rundir.LogFolder(h.config.StateDir, h.latest().Record.ID), "background.out")); string(text) != "started\nlate\n" {
		t.Errorf("%q, %v", text, err)
	}

	h = newKeptRuns(t)
	full := errors.New("the disk is full")
	h.config.Store = refusing{h.memory, full}
	plan := h.compile(`
steps:
  - name: slow
    bash: |
      echo slow
      until ls ` + h.config.StateDir + `/runs/*/logs/slow* > /dev/null 2>&1; do sleep 0.05; done
`)
	_, err := engine.New(h.config).Run(context.Background(), plan, nil, engine.WithRunEnv(h.world))
	if names := h.logFiles(); !errors.Is(err, full) || !slices.Equal(names, []string{"slow.out"}) {
		t.Errorf("%q, %v", names, err)
	}
}

// refusing is a Store that does not record the end of a step.
type refusing struct {
	history.Store
	err error
}

func (s refusing) Begin(ctx context.Context, r *history.Record) (history.Ledger, error) {
	l, err := s.Store.Begin(ctx, r)
	return refusingLedger{l, s.err}, err
}

type refusingLedger struct {
	history.Ledger
	err error
}

func (l refusingLedger) Append(ctx context.Context, events []dag.Event) error {
	if slices.ContainsFunc(events, func(e dag.Event) bool { return e.Kind == dag.StepFinished }) {
		return l.err
	}
	return l.Ledger.Append(ctx, events)
}
