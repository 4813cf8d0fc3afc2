package fold_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dop251/goja"
	"github.com/evanw/esbuild/pkg/api"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/fold"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

// page is the fold of the web page, in TypeScript.
type page struct {
	apply, states, at, durations goja.Callable
	vm                           *goja.Runtime
}

// pageFold returns the program with the fold of the web page.
func pageFold(t testing.TB) *goja.Program {
	built := api.Build(api.BuildOptions{EntryPoints: []string{"../../service/ui/src/run/fold.ts"}, Bundle: true, Format: api.FormatIIFE, GlobalName: "fold", Target: api.ES2017})
	if len(built.Errors) > 0 {
		t.Fatal(built.Errors)
	}
	program, err := goja.Compile("fold.js", string(built.OutputFiles[0].Contents)+`
		let run = fold.newRun(), seen = [];
		const list = (r) => JSON.stringify(Object.fromEntries([['', r.state], ...[...r.steps.values()].map((s) => [s.path, s.state])]));
		function apply(event) { const e = JSON.parse(event); seen.push(e); fold.apply(run, e); }
		function states() { return list(run); }
		function durations(now) { return JSON.stringify(Object.fromEntries([['', run], ...run.steps].map(([path, x]) => [path, fold.durations(x, now)]))); }
		function at(n) { return list(fold.stateAt(seen.slice(0, n))); }`, false)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func newPage(t *rapid.T, program *goja.Program) *page {
	p := &page{vm: goja.New()}
	if _, err := p.vm.RunProgram(program); err != nil {
		t.Fatal(err)
	}
	for name, f := range map[string]*goja.Callable{"apply": &p.apply, "states": &p.states, "at": &p.at, "durations": &p.durations} {
		*f, _ = goja.AssertFunction(p.vm.Get(name))
	}
	return p
}

// call calls a function of the page that returns the states of a run and its steps.
func (p *page) call(t *rapid.T, f goja.Callable, args ...any) map[string]dag.Status {
	list := make([]goja.Value, len(args))
	for i, a := range args {
		list[i] = p.vm.ToValue(a)
	}
	v, err := f(goja.Undefined(), list...)
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]dag.Status{}
	if err := json.Unmarshal([]byte(v.String()), &states); err != nil {
		t.Fatal(err)
	}
	return states
}

// TestPageSameDurations: the web page computes the same durations as the fold, after each event of
// random graphs with waits, whose runs are killed and resumed, whatever time passes between events.
// Steps that the fold has dropped once are not compared.
func TestPageSameDurations(t *testing.T) {
	proptest.Checks(t, 10, 100, 1000)
	program := pageFold(t)
	proptest.Check(t, func(t *rapid.T) {
		d := &drawing{T: t, left: 25}
		g := d.graph(3)
		var journal []dag.Event
		now := time.UnixMilli(1e12)
		for life := range rapid.IntRange(1, 3).Draw(t, "lives") {
			d.life, d.calls = life, atomic.Int32{}
			ctx, cancel := context.WithCancel(context.Background())
			d.cancel, d.cancelAt = cancel, int32(rapid.IntRange(-20, 20).Draw(t, "cancel at"))
			o := dag.Options{ID: "run", Slots: dag.NewSlots(3)}
			if life > 0 {
				journal = journal[:rapid.IntRange(1, len(journal)).Draw(t, "crash after")]
				now = journal[len(journal)-1].Time
				o.Carry, o.Opening = folded(g, journal), d.opening(folded(g, journal))
			}
			page, live := newPage(t, program), fold.New[struct{}](fold.Plan{})
			dropped := map[string]bool{}
			for i := range journal {
				page.add(t, &journal[i])
				live.Apply(&journal[i])
				sameDurations(t, &journal[i], live, page, dropped)
			}
			o.Sinks = []dag.Sink{dag.SinkFunc(func(e dag.Event) {
				e = recorded(t, e)
				e.Time = now.Add(time.Duration(rapid.SampledFrom([]int{0, 1, 70, 5000}).Draw(t, "passed")) * time.Millisecond)
				e.Queued = time.Duration(rapid.IntRange(0, int(e.Time.Sub(now).Milliseconds())).Draw(t, "queued")) * time.Millisecond
				now = e.Time
				if e.Result != nil && !e.Result.Ended.IsZero() {
					e.Result.Started, e.Result.Ended = now.Add(-2*time.Millisecond), now.Add(-time.Millisecond)
				}
				journal = append(journal, e)
				page.add(t, &e)
				live.Apply(&e)
				sameDurations(t, &e, live, page, dropped)
			})}
			if _, err := dag.Run(ctx, g, nil, o); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
	})
}

// sameDurations compares the durations a minute after an event.
func sameDurations(t *rapid.T, e *dag.Event, live *fold.Run[struct{}], page *page, dropped map[string]bool) {
	now := e.Time.Add(time.Minute)
	v, err := page.durations(goja.Undefined(), page.vm.ToValue(now.UnixMilli()))
	if err != nil {
		t.Fatal(err)
	}
	var shown map[string]struct{ Took, Waited, Idle float64 }
	if err := json.Unmarshal([]byte(v.String()), &shown); err != nil {
		t.Fatal(err)
	}
	for path, got := range shown {
		want := live.Durations(now)
		if path != "" {
			s := live.Find(dag.ID(path))
			if dropped[path] = dropped[path] || s == nil; dropped[path] {
				continue
			}
			want = s.Durations(now)
		}
		ms := func(x float64) time.Duration { return time.Duration(x * 1e6) }
		if shown := (fold.Durations{Took: ms(got.Took), Waited: ms(got.Waited), Idle: ms(got.Idle)}); shown != want {
			t.Fatalf("after %d %s %q: %q has %+v, and %+v on the page", e.Seq, e.Kind, e.Node, path, want, shown)
		}
	}
}

// TestPageSameAsState: the web page computes the same states of steps as the State, after
// each event of random graphs that are resumed several times, and for each moment of the
// past.
func TestPageSameAsState(t *testing.T) {
	proptest.Checks(t, 10, 100, 1000)
	program := pageFold(t)
	proptest.Check(t, func(t *rapid.T) {
		d := &drawing{T: t, left: 25}
		g := d.graph(3)
		var journal []dag.Event
		var page *page
		for life := range rapid.IntRange(1, 3).Draw(t, "lives") {
			d.life, d.calls = life, atomic.Int32{}
			ctx, cancel := context.WithCancel(context.Background())
			d.cancel, d.cancelAt = cancel, int32(rapid.IntRange(-20, 20).Draw(t, "cancel at"))
			o := dag.Options{ID: "run", Slots: dag.NewSlots(3)}
			if life > 0 {
				journal = journal[:rapid.IntRange(1, len(journal)).Draw(t, "crash after")]
				o.Carry, o.Opening = folded(g, journal), d.opening(folded(g, journal))
			}
			state := folded(g, journal)
			page = newPage(t, program)
			for i := range journal {
				page.add(t, &journal[i])
			}
			o.Sinks = []dag.Sink{dag.SinkFunc(func(e dag.Event) {
				e = recorded(t, e)
				journal = append(journal, e)
				state.Apply(e)
				page.add(t, &e)
				same(t, &e, state, page.call(t, page.states))
			})}
			if _, err := dag.Run(ctx, g, nil, o); err != nil {
				t.Fatal(err)
			}
			cancel()
		}
		n := rapid.IntRange(1, len(journal)).Draw(t, "moment")
		same(t, &journal[n-1], folded(g, journal[:n]), page.call(t, page.at, n))
	})
}

func (p *page) add(t *rapid.T, e *dag.Event) {
	if _, err := p.apply(goja.Undefined(), p.vm.ToValue(string(e.AppendJSON(nil)))); err != nil {
		t.Fatal(err)
	}
}

// same compares the states of the page with those of the State. A pending step may be
// missing on the page.
func same(t *rapid.T, e *dag.Event, s *dag.State, got map[string]dag.Status) {
	want := dag.Running
	if r := s.Result(); r != nil {
		want = r.Status
	}
	after := fmt.Sprintf("after %d %s %s %v", e.Seq, e.Kind, e.Node, e.Reset)
	if got[""] != want {
		t.Fatalf("%s: the run is %s, and %s on the page", after, want, got[""])
	}
	delete(got, "")
	s.All(func(path dag.ID, _ *dag.Node, status dag.Status, _ *dag.Result) {
		shown, known := got[string(path.WithoutAttempts())]
		delete(got, string(path.WithoutAttempts()))
		if shown != status || !known && status != dag.Pending {
			t.Fatalf("%s: %s is %s, and %s on the page", after, path, status, shown)
		}
	})
	for path, shown := range got {
		t.Fatalf("%s: %s is %s on the page, and does not exist", after, path, shown)
	}
}
