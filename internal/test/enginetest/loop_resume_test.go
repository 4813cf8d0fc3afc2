package enginetest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// loopy is a tool with loops over a command and over a group, and with handlers.
// Every step leaves its path in the file "done".
const loopy = `tags: [read]
steps:
  - {name: list, bash: "echo $FLOWRUN_STEP >> done; printf 'x\\ny\\nz\\n'"}
  - {name: t, for-each: {items: "{list.output}", key: "{item}", max-parallel: 2}, bash: "echo $FLOWRUN_STEP >> done; echo {item}!"}
  - name: g
    matrix: {a: [1, 2], b: [p]}
    steps:
      - {name: one, bash: "echo $FLOWRUN_STEP >> done; echo {matrix.a}"}
      - {name: two, bash: "echo $FLOWRUN_STEP >> done; echo {one.output}{matrix.b}"}
    on-success: [{name: gh, bash: "echo $FLOWRUN_STEP >> done"}]
  - {name: end, bash: "echo $FLOWRUN_STEP >> done; printf %s {t.output} {g.output}"}
on-success: [{name: good, bash: "echo $FLOWRUN_STEP >> done"}]
on-failure: [{name: bad, bash: "echo $FLOWRUN_STEP >> done"}]
finally: [{name: tidy, bash: "echo $FLOWRUN_STEP >> done"}]
`

// TestResumeLoopsEverywhere: flowrun is killed around every write of its journal; resumed,
// the run ends well, and no item runs again whose end is on record.
func TestResumeLoopsEverywhere(t *testing.T) {
	t.Parallel()
	// A turn each at least for the start, list, two rounds of t, end and the handlers; how many more depends on what ends
	// at the same moment.
	everyCut(t, 6, nil, loopy, func(h *keptRuns, res *runresult.Result) {
		if s := res.Step("end"); s == nil || s.Output != `["x!","y!","z!"]["1p","2p"]` {
			h.Errorf("end: %+v", s)
		}
		if done := h.done(); done[len(done)-1] != "tidy" || slices.Contains(done, "bad") {
			h.Errorf("%v ran", done)
		}
	})
}

// TestResumeItems: what failed of a loop runs again, and what waits for it.
func TestResumeItems(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, text string
		again      string   // reset and left
		ran        []string // when it continues
	}{
		{"an item failed", "steps:\n  - {name: t, for-each: {items: [x, y, z], key: \"{item}\"}, bash: \"echo $FLOWRUN_STEP >> done; test {item} != y -o -e ready; echo {item}\", strict: true}\n  - {name: z, bash: \"echo z >> done; echo {t.output}\"}\n",
			"t[y] z", []string{"t[y]", "z"}},
		{"inside a group", "steps:\n  - name: g\n    for-each: {items: [x, y], key: \"{item}\"}\n    steps:\n      - {name: a, bash: \"echo $FLOWRUN_STEP >> done; echo {item}\"}\n      - {name: b, bash: \"echo $FLOWRUN_STEP >> done; test {a.output} != y -o -e ready\"}\n  - {name: z, bash: \"echo z >> done\"}\n",
			"g[y]/b z", []string{"g[y]/b", "z"}},
		{"enough succeeded", "steps:\n  - {name: t, for-each: {items: [x, y], key: \"{item}\", min-success: 1}, bash: \"echo $FLOWRUN_STEP >> done; test {item} != y -o -e ready\"}\n  - {name: z, bash: \"echo z >> done; test -e ready\"}\n",
			"z", []string{"z"}},
		{"what is kept of an item is read", "steps:\n  - name: g\n    for-each: {items: [x], key: \"{item}\"}\n    steps:\n      - {name: a, bash: \"echo word\"}\n      - {name: b, bash: \"echo {a.output} >> done; test -e ready\"}\n",
			"g[x]/b", []string{"word"}},
		{"fail-fast", "steps:\n  - {name: t, for-each: {items: [y, x, z], key: \"{item}\", max-parallel: 1, fail-fast: true}, bash: \"echo $FLOWRUN_STEP >> done; test {item} != y -o -e ready\"}\n",
			"t[y] t[x] t[z]", []string{"t[y]", "t[x]", "t[z]"}},
		{"handlers run again with what they are about", "steps:\n  - {name: a, bash: \"echo a >> done; test -e ready\", on-failure: [{name: ah, bash: \"echo ah >> done\"}], on-success: [{name: as, bash: \"echo as >> done\"}]}\nfinally: [{name: f, bash: \"echo f >> done\"}]\n",
			"a as ah f", []string{"a", "as", "f"}},
		{"a handler failed", "steps:\n  - {name: a, bash: \"echo a >> done\"}\non-success: [{name: h, bash: \"echo h >> done; test -e ready\"}]\nfinally: [{name: f, bash: \"echo f >> done\"}]\n",
			"h f", []string{"h", "f"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newKeptRuns(t)
			if res := h.run(context.Background(), c.text, nil); res.Status != dag.Failed {
				t.Fatalf("the first run %s: %s", res.Status, res.Message)
			}
			before := len(h.done())
			h.file("ready", "")
			g, err := h.latest().Resume(h.lib, engine.ResumeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(paths(g.Reset) + " " + paths(g.Left)); got != c.again {
				t.Errorf("again: %s, want %s", got, c.again)
			}
			if res := h.goOn(g); res.Status != dag.Succeeded {
				t.Errorf("the run %s: %s", res.Status, res.Message)
			}
			got := h.done()[before:]
			slices.Sort(got[:1])
			if diff := cmp.Diff(c.ran, got); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRetryItems: single items, from one on, and what a new parameter sends back.
func TestRetryItems(t *testing.T) {
	t.Parallel()
	const text = `parameters: {P: {description: p, default: p}, LIST: {type: array, description: l, default: [x, y]}}
steps:
  - {name: t, for-each: {items: "{LIST}", key: "{item}"}, bash: "echo $FLOWRUN_STEP >> done; echo {item}"}
  - name: g
    for-each: {items: [x, y], key: "{item}"}
    steps:
      - {name: a, bash: "echo $FLOWRUN_STEP >> done; echo {item}{P}"}
      - {name: b, bash: "echo $FLOWRUN_STEP >> done; echo {a.output}"}
  - {name: z, bash: "echo z >> done; printf %s {t.output} {g.output}"}
finally: [{name: f, bash: "echo f >> done"}]
`
	h := newKeptRuns(t)
	if res := h.run(context.Background(), text, nil); res.Status != dag.Succeeded {
		t.Fatalf("the first run %s: %s", res.Status, res.Message)
	}
	past := h.latest()
	for _, c := range []struct {
		name   string
		o      engine.RetryOptions
		ran    []string
		output string
		fails  string // what Retry says
	}{
		{name: "from an item", o: engine.RetryOptions{From: []string{"t[y]"}}, ran: []string{"t[y]", "g[x]/a", "g[x]/b", "g[y]/a", "g[y]/b", "z", "f"}},
		{name: "from a step in an item", o: engine.RetryOptions{From: []string{"g[x]/b"}}, ran: []string{"g[x]/b", "z", "f"}},
		{name: "from a loop", o: engine.RetryOptions{From: []string{"t"}}, ran: []string{"t[x]", "t[y]", "g[x]/a", "g[x]/b", "g[y]/a", "g[y]/b", "z", "f"}},
		{name: "only an item", o: engine.RetryOptions{Only: "t[y]"}, ran: []string{"t[y]"}, output: `["x","y"]`},
		{name: "only a loop", o: engine.RetryOptions{Only: "t"}, ran: []string{"t[x]", "t[y]"}, output: `["x","y"]`},
		{name: "only a step in an item", o: engine.RetryOptions{Only: "g[x]/b"}, ran: []string{"g[x]/b"}, output: `["xp","yp"]`},
		{name: "from a handler", o: engine.RetryOptions{From: []string{"f"}}, ran: []string{"f"}},
		{name: "a parameter of the body", o: engine.RetryOptions{With: map[string]any{"P": "q"}}, ran: []string{"g[x]/a", "g[x]/b", "g[y]/a", "g[y]/b", "z", "f"}, output: `["x","y"]["xq","yq"]`},
		{name: "a parameter of the items", o: engine.RetryOptions{With: map[string]any{"LIST": []any{"x", "n"}}}, ran: []string{"t[x]", "t[n]", "g[x]/a", "g[x]/b", "g[y]/a", "g[y]/b", "z", "f"}, output: `["x","n"]["xp","yp"]`},
		{name: "no such item", o: engine.RetryOptions{From: []string{"t[no]"}}, fails: `no step "t[no]"`},
		{name: "no item of that", o: engine.RetryOptions{From: []string{"z[0]"}}, fails: `no step "z[0]"`},
		{name: "no such item, only", o: engine.RetryOptions{Only: "t[no]"}, fails: `no step "t[no]"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(h.done())
			g, err := past.Retry(h.lib, c.o)
			if c.fails != "" {
				var wrong *plan.StepError
				if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.fails) {
					t.Errorf("%v, want %s", err, c.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			res := h.goOn(g)
			got, want := h.done()[before:], slices.Clone(c.ran)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("ran (-want +got):\n%s", diff)
			}
			if c.output == "" {
				c.output = `["x","y"]["xp","yp"]`
			}
			if res.Status != dag.Succeeded || strings.TrimSpace(res.Output) != c.output {
				t.Errorf("the run %s %q: %s, want %q", res.Status, res.Output, res.Message, c.output)
			}
		})
	}
}

// TestResumeCancelledLoop: a cancel stops the items active and keeps the rest from
// starting; what is left runs when the run continues.
func TestResumeCancelledLoop(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	res := h.run(ctx, `on-interrupt: retry
steps:
  - {name: t, for-each: {items: 1..4, max-parallel: 1}, bash: "echo $FLOWRUN_STEP >> done; [ {item} != 2 -o -e ready ] || sleep 300; echo {item}"}
  - {name: z, run: "echo {t.output}"}
`, nil, cancelAt("t[1]", cancel))
	h.want(res, dag.Cancelled, map[string]string{"t": "cancelled", "t[0]": "succeeded", "t[1]": "cancelled", "t[2]": "cancelled", "t[3]": "cancelled", "z": "cancelled"})
	h.file("ready", "")
	res = h.resume(engine.ResumeOptions{})
	if res.Status != dag.Succeeded || res.Output != "[\"1\",\"2\",\"3\",\"4\"]\n" {
		t.Errorf("the run %s %q: %s", res.Status, res.Output, res.Message)
	}
	if n := len(slices.DeleteFunc(h.done(), func(s string) bool { return s != "t[0]" })); n != 1 {
		t.Errorf("t[0] ran %d times", n)
	}
}

// TestResumeItemsAtTheirLimit: what a loop gathers has its limit after a resume too.
func TestResumeItemsAtTheirLimit(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	h.run(context.Background(), `
steps:
  - {name: t, for-each: {items: 1..4, max-parallel: 1}, output: {buffer-limit: 10}, bash: "echo 1234{item}"}
  - {name: z, bash: "echo {t.exit-code}; test -e ready"}
output: "{t.output}"
`, nil)
	h.file("ready", "")
	res := h.resume(engine.ResumeOptions{})
	if s := res.Step("t"); res.Status != dag.Succeeded || !s.Truncated {
		t.Errorf("the run %s %q: %s %+v", res.Status, res.Output, res.Message, s)
	}
	g, err := h.latest().Retry(h.lib, engine.RetryOptions{From: []string{"t[3]"}})
	if err != nil {
		t.Fatal(err)
	}
	if res = h.goOn(g); res.Status != dag.Succeeded || !res.Step("t").Truncated || res.Output != `["12341","","","12344"]` {
		t.Errorf("the run %s %q: %s", res.Status, res.Output, res.Message)
	}
}

// TestResumeOtherItems: a loop that would go over something else does not go on, and
// can be begun again.
func TestResumeOtherItems(t *testing.T) {
	t.Parallel()
	h := newKeptRuns(t)
	const text = "steps:\n  - {name: t, for-each: {items: [a, b, ITEM]}, bash: \"echo {item} >> done; test -e ready -o {item} = a\"}\n"
	h.run(context.Background(), strings.ReplaceAll(text, "ITEM", "c"), nil)
	h.file("ready", "")
	h.compile(strings.ReplaceAll(text, "ITEM", "c, d")) // as the file is now
	g, err := h.latest().Resume(h.lib, engine.ResumeOptions{Latest: true})
	if err != nil {
		t.Fatal(err)
	}
	h.config.Store = h.memory
	if _, err = engine.New(h.config).Continue(context.Background(), g); err == nil || !strings.Contains(err.Error(), "the items of step t changed") {
		t.Errorf("the run continues: %v", err)
	}
	res := h.resume(engine.ResumeOptions{})
	if res.Status != dag.Succeeded || len(items(res, "t")) != 3 {
		t.Errorf("the run %s: %s %v", res.Status, res.Message, items(res, "t"))
	}
	if n := len(slices.DeleteFunc(h.done(), func(s string) bool { return s != "a" })); n != 1 {
		t.Errorf("a ran %d times", n)
	}
}
