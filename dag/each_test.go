package dag_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/dag"
)

// over are items whose arguments are their own keys.
type over struct {
	keys  []string
	named bool
}

func (o over) Len() int       { return len(o.keys) }
func (o over) Digest() string { return "" }
func (o over) Keys() []string {
	if o.named {
		return o.keys
	}
	return nil
}
func (o over) Args(i int) dag.Args { return o.keys[i] }

func items(keys ...string) func(context.Context, *dag.Call) (dag.Items, error) {
	return func(context.Context, *dag.Call) (dag.Items, error) { return over{keys, true}, nil }
}

// failing fails for the items whose arguments begin with "bad".
var failing = runner(func(_ context.Context, c *dag.Call) (dag.Result, error) {
	text := fmt.Sprint(c.Args())
	r := dag.Result{Stdout: &dag.Output{Raw: text, Inline: text}}
	if strings.HasPrefix(text, "bad") {
		r.ExitCode = 3
	}
	return r, nil
})

// outputs puts the items' outputs together.
func outputs(_ dag.View, items []*dag.Result, r *dag.Result) {
	var all []string
	for _, it := range items {
		if it.Stdout == nil {
			all = append(all, "-")
			continue
		}
		all = append(all, it.Stdout.Raw)
	}
	r.Stdout = &dag.Output{Raw: strings.Join(all, ",")}
}

func TestLoop(t *testing.T) {
	for _, tc := range []struct {
		name string
		each dag.Each
		want string // the loop's state, message and output
	}{
		{"all well", dag.Each{Items: items("a", "b")}, "succeeded, , a,b"},
		{"nothing", dag.Each{Items: items()}, "succeeded, , "},
		{"one bad", dag.Each{Items: items("a", "bad", "c")}, "failed, 1 of 3 items failed: l[bad], a,bad,c"},
		{"enough", dag.Each{Items: items("a", "bad", "c"), MinSuccess: 2}, "succeeded, , a,bad,c"},
		{"too few", dag.Each{Items: items("a", "bad", "c"), MinSuccess: 3}, "failed, 1 of 3 items failed, 2 succeeded, but 3 must succeed: l[bad], a,bad,c"},
		{"one at a time, stops", dag.Each{Items: items("a", "bad", "c"), Parallel: 1, FailFast: true}, "failed, 1 of 3 items failed: l[bad], a,bad,-"},
		{"the same key", dag.Each{Items: items("a", "a")}, `failed, items 0 and 1 have the same key "a", `},
	} {
		t.Run(tc.name, func(t *testing.T) {
			each := tc.each
			each.Item, each.Gather, each.Keep = dag.Node{Runner: failing}, outputs, 100
			g := graph(t, dag.Settings{}, dag.Node{ID: "l", Each: &each})
			s, err := dag.Run(t.Context(), g, nil, dag.Options{ID: "run"})
			if err != nil {
				t.Fatal(err)
			}
			s.All(func(path dag.ID, _ *dag.Node, st dag.Status, r *dag.Result) {
				if path != "l" {
					return
				}
				out := ""
				if r.Stdout != nil {
					out = r.Stdout.Raw
				}
				if got := fmt.Sprintf("%s, %s, %s", st, r.Message, out); got != tc.want {
					t.Errorf("%s\nwant %s", got, tc.want)
				}
			})
		})
	}
}
