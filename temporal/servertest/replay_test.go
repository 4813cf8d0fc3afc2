package servertest

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/encoding/protojson"

	work "github.com/flowrun/flowrun/temporal/internal/activity"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// update records the histories of this version: go test -run TestReplay -update
var update = flag.Bool("update", false, "record histories")

const histories = "../testdata/histories"

// recorded are the cases whose histories are kept.
var recorded = []string{"handlers-of-a-nested-tool", "loops-one-fails", "loops-loop-in-loop", "nested-attempts-of-a-tool", "outside-approve", "outside-cancel-a-chain",
	"outside-timeout-of-a-wait", "outside-order", "policy-when-output", "upstream-timed-out-cancelled"}

// TestReplay: this version of the workflow continues the runs that every version with the same task queue has
// started, because it decides the same from the same history.
func TestReplay(t *testing.T) {
	if *update {
		recordHistories(t)
	}
	files, err := filepath.Glob(histories + "/*.json")
	if err != nil || len(files) < len(recorded) {
		t.Fatalf("%d histories, want %d; %v", len(files), len(recorded), err)
	}
	r, err := worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{DisableDeadlockDetection: true})
	if err != nil {
		t.Fatal(err)
	}
	(&work.Host{Library: newLibrary}).Register(replayed{r})
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if err := r.ReplayWorkflowHistoryFromJSONFile(quiet{}, file); err != nil {
				t.Error(err)
			}
		})
	}
}

// replayed is a replayer that accepts activities, which it does not need.
type replayed struct{ worker.WorkflowReplayer }

func (replayed) RegisterActivityWithOptions(any, activity.RegisterOptions)    {}
func (replayed) RegisterDynamicActivity(any, activity.DynamicRegisterOptions) {}

// recordHistories runs cases and keeps their histories.
func recordHistories(t *testing.T) {
	t.Helper()
	r := startRemote(t, startServer(t), 0)
	if err := os.MkdirAll(histories, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range allCases(t, 0) {
		if !slices.Contains(recorded, c.name) {
			continue
		}
		dir := filepath.Join(os.TempDir(), "history", c.name) // the same on every machine
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(filepath.Dir(dir))
		d, err := r.run(t.Context(), c, dir)
		if err != nil {
			t.Fatal(c.name, err)
		}
		text, err := protojson.MarshalOptions{Indent: " "}.Marshal(historyOf(t, r, d["id"].(string)))
		if err == nil {
			err = os.WriteFile(filepath.Join(histories, interpreter.TaskQueue("v")+"-"+c.name+".json"), append(text, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func historyOf(t *testing.T, r *remote, id string) *history.History {
	t.Helper()
	h := &history.History{}
	events := r.client.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for events.HasNext() {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		h.Events = append(h.Events, e)
	}
	return h
}
