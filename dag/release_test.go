package dag_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
)

// TestRelease releases runs at different points and continues them an hour later: results
// are kept, stopped steps are decided by the next owner, and nothing was cancelled.
func TestRelease(t *testing.T) {
	bind := func(context.Context, *dag.Call) (dag.Args, error) { return "inner", nil }
	work := func(id dag.ID, d time.Duration, after ...dag.ID) dag.Node {
		return dag.Node{ID: id, Runner: sleeps(d), After: after}
	}
	for _, c := range []struct {
		name    string
		nodes   []dag.Node
		now     bool          // abandoned, not released
		at      time.Duration // when
		cancel  time.Duration // 0: it is not
		story   string        // up to that
		ended   bool          // it is not let go
		ongoing string        // and after
	}{
		{name: "between steps", at: 2 * time.Second, nodes: []dag.Node{work("a", 3*time.Second), work("b", time.Second, "a")},
			story:   `0s run.started; 0s step.started a; 3s step.finished a succeeded`,
			ongoing: `0s run.resumed; 0s step.started b; 1s step.finished b succeeded; 1s run.finished succeeded`},
		{name: "before it begins", at: 0, nodes: []dag.Node{work("a", time.Second)},
			story:   `0s run.started`,
			ongoing: `0s run.resumed; 0s step.started a; 1s step.finished a succeeded; 1s run.finished succeeded`},
		{name: "waiting for a try", at: 2 * time.Second,
			nodes:   []dag.Node{{ID: "a", Runner: tryBy(fail, ok), Policy: dag.Policy{Attempts: 2, Backoff: dag.Backoff{Delay: time.Minute}}}},
			story:   `0s run.started; 0s step.started a; 0s step.retrying a failed (exit)`,
			ongoing: `0s run.resumed; 0s step.started a try 2; 0s step.finished a succeeded; 0s run.finished succeeded`},
		{name: "in a nested graph", at: time.Second,
			nodes:   []dag.Node{{ID: "nest", Bind: bind, Graph: graph(t, dag.Settings{}, work("a", 3*time.Second), work("b", time.Second, "a"))}},
			story:   `0s run.started; 0s step.started nest; 0s step.started nest/a; 3s step.finished nest/a succeeded`,
			ongoing: `0s run.resumed; 0s step.started nest/b; 1s step.finished nest/b succeeded; 1s step.finished nest succeeded; 1s run.finished succeeded`},
		{name: "at once", now: true, at: time.Second, nodes: []dag.Node{work("a", 3*time.Second), work("b", time.Second, "a")},
			story:   `0s run.started; 0s step.started a`,
			ongoing: `0s run.resumed; 0s step.started a; 3s step.finished a succeeded; 3s step.started b; 4s step.finished b succeeded; 4s run.finished succeeded`},
		{name: "with its last step", at: time.Second, nodes: []dag.Node{work("a", 3*time.Second)}, ended: true,
			story: `0s run.started; 0s step.started a; 3s step.finished a succeeded; 3s run.finished succeeded`},
		{name: "being cancelled", at: 2 * time.Second, cancel: time.Second, ended: true,
			nodes: []dag.Node{work("a", time.Hour), {ID: "tidy", Runner: sleeps(3 * time.Second), After: []dag.ID{"a"}, When: always},
				{ID: "more", Runner: sleeps(time.Second), After: []dag.ID{"tidy"}, When: always}},
			story: `0s run.started; 0s step.started a; 1s run.cancelling (cancelled); 1s step.finished a cancelled (cancelled);
				1s step.started tidy; 4s step.finished tidy succeeded; 4s step.started more; 5s step.finished more succeeded; 5s run.finished cancelled (cancelled)`},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := graph(t, dag.Settings{}, c.nodes...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				let := make(chan struct{})
				if c.at == 0 {
					close(let)
				} else {
					time.AfterFunc(c.at, func() { close(let) })
				}
				o := dag.Options{ID: "run", Release: let, Abandon: make(chan struct{})}
				if c.now {
					o.Release, o.Abandon = nil, let
				}
				var told diary
				j := &cutJournal{lives: 100}
				o.Sinks, o.Journal = []dag.Sink{&told}, j
				_, err := dag.Run(ctx, g, nil, o)
				if errors.Is(err, dag.ErrReleased) == c.ended || err != nil && !errors.Is(err, dag.ErrReleased) {
					t.Fatal(err)
				}
				if diff := cmp.Diff(lines(c.story), told.lines); diff != "" {
					t.Fatalf("-want +got\n%s", diff)
				}
				if c.ended {
					return
				}
				time.Sleep(time.Hour)
				state, rest := j.carry(t, g, dag.Rules{Rerun: func(dag.ID, *dag.Node) bool { return true }})
				tells(t, t.Context(), g, dag.Options{ID: "run", Carry: state, Opening: []dag.Event{{Kind: dag.RunResumed, Reset: rest.Reset}}},
					"\n"+strings.ReplaceAll(c.ongoing, ";", "\n")+"\n")
			})
		})
	}
}

// lines are those of a story.
func lines(story string) (list []string) {
	for line := range strings.SplitSeq(story, ";") {
		list = append(list, strings.Join(strings.Fields(line), " "))
	}
	return list
}
