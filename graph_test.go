package flowrun_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
)

type order struct {
	Item  string
	Count int
}

type price struct {
	Cents int64
	note  string // not recorded
}

// TestGraph runs a graph with a value from two steps, a retry, a fallback and a condition, and reads its values.
func TestGraph(t *testing.T) {
	g := flowrun.NewGraph("shop")
	in := flowrun.Input[order](g)
	tries := 0
	cost := flowrun.AddStep(g, "cost", in, func(_ context.Context, o order) (price, error) {
		if tries++; tries == 1 {
			return price{}, errors.New("busy")
		}
		return price{Cents: int64(o.Count) * 1234567890123456, note: "lost"}, nil
	}, flowrun.Retry(1, time.Millisecond))
	stock := flowrun.AddStep(g, "stock", in, func(context.Context, order) (string, error) { return "", errors.New("no answer") },
		flowrun.Fallback(func(_ context.Context, o order) (string, error) { return "plenty of " + o.Item, nil }))
	both := flowrun.Combine(cost, stock, func(p price, s string) string { return s + p.note })
	said := flowrun.AddStep(g, "say", both, func(_ context.Context, s string) (string, error) { return strings.ToUpper(s), nil })
	free := flowrun.AddStep(g, "free", cost, func(_ context.Context, p price) (*price, error) { return &p, nil },
		flowrun.When(cost, func(p price) bool { return p.Cents == 0 }))
	last := flowrun.AddStep(g, "last", free, func(_ context.Context, p *price) (bool, error) { return p == nil, nil }, flowrun.After(said))
	plan, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	params, err := flowrun.ParamsOf(order{"tea", 7})
	if err != nil {
		t.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{}).Run(t.Context(), plan, params)
	if err != nil || res.Err() != nil {
		t.Fatal(err, res.Err())
	}
	if p, err := cost.Of(res); p.Cents != 8641975230864192 || err != nil {
		t.Error(p, err)
	}
	if s, err := said.Of(res); s != "PLENTY OF TEA" || err != nil {
		t.Error(s, err)
	}
	if o, err := in.Of(res); o != (order{"tea", 7}) || err != nil {
		t.Error(o, err)
	}
	if p, err := free.Of(res); err == nil || !strings.Contains(err.Error(), "skipped") {
		t.Error(p, err)
	}
	if zero, err := last.Of(res); !zero || err != nil {
		t.Error(zero, err)
	}
	if s := res.Step("cost"); s.Attempts != 2 {
		t.Errorf("%d attempts", s.Attempts)
	}
	if s := res.Step("stock"); !s.Fallback {
		t.Error("there was no fallback")
	}
}

// TestGraphConditionPanics: a condition that panics fails its step, not the program.
func TestGraphConditionPanics(t *testing.T) {
	g := flowrun.NewGraph("g")
	in := flowrun.Input[struct{}](g)
	flowrun.AddStep(g, "a", in, func(context.Context, struct{}) (int, error) { return 1, nil },
		flowrun.When(in, func(struct{}) bool { panic("oh") }))
	plan, err := g.Compile()
	if err != nil {
		t.Fatal(err)
	}
	res, err := flowrun.New(flowrun.Config{}).Run(t.Context(), plan, nil)
	if err != nil || res.Status != dag.Failed || !strings.Contains(res.Step("a").Message, "panic: oh") {
		t.Errorf("%v %+v", err, res)
	}
}

// TestGraphProblems: everything that the compiler of Go cannot check is reported when the graph is built.
func TestGraphProblems(t *testing.T) {
	g, other := flowrun.NewGraph("g"), flowrun.NewGraph("other")
	in := flowrun.Input[order](g)
	foreign := flowrun.Input[order](other)
	f := func(context.Context, order) (int, error) { return 0, nil }
	flowrun.AddStep(g, "a", in, f)
	flowrun.AddStep(g, "a", in, f)
	flowrun.AddStep(g, "{x}", in, f)
	flowrun.AddStep(g, "b", foreign, f)
	flowrun.AddStep(g, "c", in, func(context.Context, order) (chan int, error) { return nil, nil })
	flowrun.AddStep(g, "d", in, f, flowrun.Fallback(func(context.Context, string) (int, error) { return 0, nil }))
	flowrun.AddStep(g, "Item", in, f)
	_, err := g.Compile()
	if err == nil {
		t.Fatal("it compiles")
	}
	for _, want := range []string{`step "a": there are two`, `step "{x}": the name`, `step "b": it uses a value of another graph`,
		`step "c": its result cannot be recorded`, `step "d": its fallback`, `"Item" is the name of a step and of a parameter`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %s", err, want)
		}
	}
}

// TestGraphResumes: a run that failed continues with the values that were recorded, in a program that has the plan and
// nothing else.
func TestGraphResumes(t *testing.T) {
	store := history.NewMemory()
	engine := flowrun.New(flowrun.Config{Store: store})
	var calls []string
	build := func(broken bool) (*flowrun.Plan, flowrun.Value[string]) {
		g := flowrun.NewGraph("pipeline")
		a := flowrun.AddStep(g, "a", flowrun.Input[order](g), func(_ context.Context, o order) (price, error) {
			calls = append(calls, "a")
			return price{Cents: 9007199254740993}, nil
		})
		b := flowrun.AddStep(g, "b", a, func(_ context.Context, p price) (string, error) {
			calls = append(calls, "b")
			if broken || p.Cents != 9007199254740993 {
				return "", errors.New("broken")
			}
			return "fine", nil
		})
		plan, err := g.Compile()
		if err != nil {
			t.Fatal(err)
		}
		return plan, b
	}
	plan, _ := build(true)
	res, err := engine.Run(t.Context(), plan, map[string]any{"Item": "x", "Count": 1})
	if err != nil || res.Status != dag.Failed {
		t.Fatal(err, res)
	}
	lib := library.New(library.Config{})
	elsewhere, err := flowrun.LoadRun(t.Context(), store, lib, res.ID) // as the command does
	if err != nil {
		t.Fatal(err)
	}
	shown := elsewhere.Result()
	if len(shown.Steps) != 2 || shown.Step("a").Status != dag.Succeeded || shown.Step("b").Message != "broken" || shown.Status != dag.Failed {
		t.Errorf("without its definition the run is shown as %+v", shown)
	}
	if _, err := elsewhere.Resume(lib, flowrun.ResumeOptions{}); err == nil || !strings.Contains(err.Error(), "pipeline was made in a Go program") {
		t.Error(err)
	}
	plan, b := build(false)
	run, err := flowrun.LoadRun(t.Context(), store, lib, res.ID, plan)
	if err != nil {
		t.Fatal(err)
	}
	rest, err := run.Resume(lib, flowrun.ResumeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if res, err = engine.Continue(t.Context(), rest); err != nil {
		t.Fatal(err)
	}
	if s, err := b.Of(res); s != "fine" || err != nil || strings.Join(calls, "") != "abb" {
		t.Error(s, err, calls)
	}
}
