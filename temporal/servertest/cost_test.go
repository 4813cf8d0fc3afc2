package servertest

import (
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/flowrun/flowrun/internal/test/sizetest"
)

// byHand is a workflow as people write it: it runs a program in one activity after the other.
func byHand(ctx workflow.Context, steps int) error {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
	for range steps {
		if err := workflow.ExecuteActivity(ctx, runTrue).Get(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

func runTrue(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "true").Output()
	return string(out), err
}

// TestCost: a chain of steps costs at most half as much again as a workflow that was written by hand for the same
// programs, in events and in time.
func TestCost(t *testing.T) {
	steps, rounds := sizetest.Of(30, 30, 100), sizetest.Of(3, 3, 7)
	s := startServer(t)
	r := startRemote(t, s, 0)
	w := worker.New(s.client, "by-hand", worker.Options{})
	w.RegisterWorkflow(byHand)
	w.RegisterActivity(runTrue)
	if err := w.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Stop)
	var text strings.Builder
	text.WriteString("steps:\n")
	for i := range steps {
		fmt.Fprintf(&text, "  - {name: s%d, run: 'true'}\n", i)
	}
	c := &testCase{name: "chain", text: text.String()}
	var ratios, ours, theirs []float64
	var events [2]int
	for round := range rounds + 1 { // the first one fills caches
		began := time.Now()
		p, err := r.start(t.Context(), c, t.TempDir())
		if err == nil {
			_, err = r.wait(t.Context(), p)
		}
		if err != nil {
			t.Fatal(err)
		}
		tool := time.Since(began)
		began = time.Now()
		run, err := s.client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{TaskQueue: "by-hand"}, byHand, steps)
		if err == nil {
			err = run.Get(t.Context(), nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		hand := time.Since(began)
		if round > 0 {
			ours, theirs = append(ours, tool.Seconds()), append(theirs, hand.Seconds())
			ratios = append(ratios, tool.Seconds()/hand.Seconds())
		}
		events = [2]int{countEvents(t, s, p.id()), countEvents(t, s, run.GetID())}
	}
	t.Logf("%d steps: %.1f events a step, by hand %.1f; %.1f ms a step, by hand %.1f; ratio %.2f (median of %d)", steps,
		float64(events[0])/float64(steps), float64(events[1])/float64(steps), 1000*median(ours)/float64(steps), 1000*median(theirs)/float64(steps), median(ratios), rounds)
	if 2*events[0] > 3*events[1] {
		t.Errorf("%d events, by hand %d", events[0], events[1])
	}
	if ratio := median(ratios); ratio > 1.5 {
		t.Errorf("takes %.2f times as long as the workflow written by hand, want at most 1.5", ratio)
	}
}

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func countEvents(t *testing.T, s *server, id string) (n int) {
	t.Helper()
	events := s.client.GetWorkflowHistory(t.Context(), id, "", false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
	for ; events.HasNext(); n++ {
		if _, err := events.Next(); err != nil {
			t.Fatal(err)
		}
	}
	return n
}
