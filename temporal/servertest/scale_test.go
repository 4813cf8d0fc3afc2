package servertest

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun/internal/test/sizetest"
	"github.com/flowrun/flowrun/temporal/internal/interpreter"
)

// TestManyItems: the history of a long loop is continued as new, more than once, and the run ends as a local one.
func TestManyItems(t *testing.T) {
	items, after := sizetest.Of(150, 150, 5000), sizetest.Of(300, 300, 0) // 0 is what workers of a release do
	r := startRemote(t, startServer(t), after)
	c := &testCase{name: "many-items", text: fmt.Sprintf("steps: [{name: l, for-each: {items: 1..%d}, run: 'echo {item}'}, {name: s, run: wc -c, input: '{l.output}'}]\n", items)}
	here, there := t.TempDir(), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), 4*faultLimit)
	defer cancel()
	want, err := local{}.run(ctx, c, here)
	if err != nil {
		t.Fatal(err)
	}
	p, err := r.start(ctx, c, there)
	if err != nil {
		t.Fatal(err)
	}
	first := p.GetRunID()
	got, err := r.wait(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if diff := difference(want, got, here, there); diff != "" {
		t.Errorf("(-local +Temporal)\n%s", diff)
	}
	last, err := r.client.DescribeWorkflowExecution(ctx, p.id(), "")
	if err != nil {
		t.Fatal(err)
	}
	info := last.GetWorkflowExecutionInfo()
	if info.GetExecution().GetRunId() == first || info.GetFirstRunId() != first {
		t.Errorf("the workflow was not continued as new: %v", info)
	}
	if info.GetMemo().GetFields()[interpreter.CreatedMemo] == nil {
		t.Error("the last of the workflows does not say when the run began")
	}
	t.Logf("the last of the workflows has %d events, %d bytes", info.GetHistoryLength(), info.GetHistorySizeBytes())
}

// TestLargeOutput: 3 MB go from step to step, and to the run document.
func TestLargeOutput(t *testing.T) {
	r := startRemote(t, startServer(t), 0)
	c := &testCase{name: "large-output", text: "output: '{a.output}'\nsteps: [{name: a, bash: 'head -c 3000000 /dev/zero | tr \"\\0\" x; echo'}, {name: b, run: wc -c, input: '{a.output}'}]\n"}
	d := runCase(t, r, c, t.TempDir())
	steps := d["steps"].([]any)
	if size := len(steps[0].(map[string]any)["output"].(string)); size != 3000001 || len(d["output"].(string)) < 3000000 {
		t.Errorf("the step has %d bytes of output, the run %d", size, len(d["output"].(string)))
	}
	if count := steps[1].(map[string]any)["output"]; strings.TrimSpace(count.(string)) != "3000000" {
		t.Errorf("the next step read %v", count)
	}
}

// TestManyRuns: many runs at once on some workers.
func TestManyRuns(t *testing.T) {
	runs, workers := sizetest.Of(10, 10, 100), sizetest.Of(2, 2, 4)
	s := startServer(t)
	for range workers {
		startWorker(t, s, s.address, "many")
	}
	r := newRemote(t, s, "many")
	c := &testCase{name: "one-of-many", text: "steps: [{name: a, run: echo a}, {name: b, run: 'echo {a.output}b'}, {name: l, for-each: {items: [1, 2]}, run: 'echo {item}{b.output}'}]\n"}
	var all sync.WaitGroup
	for range runs {
		dir := t.TempDir()
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), faultLimit)
			defer cancel()
			if d, err := r.run(ctx, c, dir); err != nil || d["output"] != "[\"1ab\",\"2ab\"]\n" {
				t.Errorf("%v %v", err, d)
			}
		})
	}
	all.Wait()
}
