package dag_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestCancelOutlastedByCleanup: a cancel, a time limit and a fail-fast do not stop cleanup
// steps that are running; they have the whole cleanup time. A node with always() is treated
// the same whether it started before or after the cancel. A forced stop ends both.
func TestCancelOutlastedByCleanup(t *testing.T) {
	always := &dag.When{Uses: dag.UsesCancel, Eval: func(dag.View) (bool, error) { return true, nil }}
	unlessCancelled := &dag.When{Uses: dag.UsesCancel, Eval: func(v dag.View) (bool, error) { return !v.Stopped(), nil }}
	inner := graph(t, dag.Settings{}, dag.Node{ID: "x", Runner: sleeps(2 * time.Second)}, dag.Node{ID: "y", After: []dag.ID{"x"}, Runner: sleeps(2 * time.Second)})
	for _, tc := range []struct {
		name     string
		settings dag.Settings
		takes    time.Duration // undo
		force    time.Duration
		story    string
	}{
		{"a time limit", dag.Settings{Timeout: time.Second}, 3 * time.Second, 0, `
			0s run.started
			0s step.started work
			0s step.started undo
			0s step.started put-back
			0s step.started put-back/x
			1s run.cancelling (timeout)
			1s step.finished work cancelled (timeout)
			2s step.finished put-back/x succeeded
			2s step.started put-back/y
			3s step.finished undo succeeded
			4s step.finished put-back/y succeeded
			4s step.finished put-back succeeded
			4s run.finished timed-out (timeout)
		`},
		{"too slow", dag.Settings{Timeout: time.Second}, time.Hour, 0, `
			0s run.started
			0s step.started work
			0s step.started undo
			0s step.started put-back
			0s step.started put-back/x
			1s run.cancelling (timeout)
			1s step.finished work cancelled (timeout)
			2s step.finished put-back/x succeeded
			2s step.started put-back/y
			4s step.finished put-back/y succeeded
			4s step.finished put-back succeeded
			11s step.finished undo timed-out (timeout)
			11s run.finished timed-out (timeout)
		`},
		{"by force", dag.Settings{Timeout: time.Second}, time.Hour, 3 * time.Second, `
			0s run.started
			0s step.started work
			0s step.started undo
			1s run.cancelling (timeout)
			1s step.finished work cancelled (timeout)
			3s run.cancelling (forced)
			3s step.finished undo cancelled (forced)
			3s run.finished timed-out (timeout)
		`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				nodes := []dag.Node{{ID: "work", Runner: sleeps(time.Hour), When: unlessCancelled}, {ID: "undo", When: always, Runner: sleeps(tc.takes)}}
				force := make(chan struct{})
				if tc.force > 0 {
					time.AfterFunc(tc.force, func() { close(force) })
				} else {
					nodes = append(nodes, dag.Node{ID: "put-back", When: always, Graph: inner})
				}
				g := graph(t, tc.settings, nodes...)
				tells(t, t.Context(), g, dag.Options{ID: "run", Cleanup: 10 * time.Second, Force: force}, tc.story)
			})
		})
	}
}
