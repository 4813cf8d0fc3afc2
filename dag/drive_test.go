package dag

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/internal/test/proptest"
)

// remoteDriver drives a Machine. Every order and outcome travels as JSON, as between two
// processes, and time is skipped.
type remoteDriver struct {
	t       *rapid.T
	graph   *Graph
	slots   int
	machine *Machine
	work    *Performer
	log     []Event
	now     time.Time
	todo    []Task
	claims  bool
	held    map[ID]bool // the nodes for which the driver has what they claim
}

func newRemoteDriver(t *rapid.T, g *Graph, slots int) *remoteDriver {
	d := &remoteDriver{t: t, graph: g, slots: slots, work: &Performer{Run: "run", Graph: g}, now: time.Unix(1e9, 0), held: map[ID]bool{}}
	d.start(nil)
	return d
}

// start makes a Machine that continues after these events.
func (d *remoteDriver) start(recorded []Event) {
	d.machine = NewMachine(d.graph, MachineOptions{ID: "run", Parallel: d.slots, Recorded: recorded, Acquire: d.claims,
		Jitter: func(wait time.Duration) time.Duration { return wait / 2 },
		Judge: func(o *Order) (bool, error) {
			out := d.perform(o)
			if out.Result.Message != "" {
				return false, judgement(out.Result.Message)
			}
			return out.Yes, nil
		}})
}

type judgement string

func (e judgement) Error() string { return string(e) }

func (d *remoteDriver) perform(o *Order) (out Outcome) {
	var sent Order
	d.send(o, &sent)
	done, err := d.work.Perform(context.Background(), &sent)
	if err != nil {
		d.t.Fatal(err)
	}
	d.send(done, &out)
	return out
}

func (d *remoteDriver) send(from, to any) {
	b, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(b, to)
	}
	if err != nil {
		d.t.Fatal(err)
	}
}

// run takes turns until the run has ended. It calls between before each turn that has nothing to
// apply.
func (d *remoteDriver) run(between func(turn int)) {
	var in Input
	for turn := 1; ; turn++ {
		if len(in.Reports)+len(in.Answers) == 0 {
			between(turn)
		}
		t, err := d.machine.Turn(d.now, in)
		if err != nil {
			d.t.Fatal(err)
		}
		in = Input{}
		d.log, d.todo = append(d.log, t.Events...), append(d.todo, t.Tasks...)
		for _, e := range t.Events {
			if a := asked(e); a != nil {
				in.Answers = append(in.Answers, *a)
			}
			d.holds(e)
		}
		switch {
		case d.machine.State().Result() != nil:
			return
		case len(d.todo) > 0:
			i := rapid.IntRange(0, len(d.todo)-1).Draw(d.t, "reports next")
			task := d.todo[i]
			d.todo = append(d.todo[:i], d.todo[i+1:]...)
			in.Reports = []Report{d.carryOut(task)}
		case len(in.Answers) > 0:
		case t.Wake.IsZero():
			d.t.Fatal("nothing is left to do, and the run has not ended")
		default:
			d.now = t.Wake
		}
	}
}

func (d *remoteDriver) carryOut(t Task) Report {
	switch {
	case t.Claims():
		d.held[t.Path()] = true
		return Report{Task: t, Granted: true}
	case t.Releases():
		return Report{Task: t}
	}
	return Report{Task: t, Outcome: d.perform(t.Order())}
}

// holds checks that the attempts of nodes with a Claim start when the driver has what they claim, and takes it back when
// they end.
func (d *remoteDriver) holds(e Event) {
	n := e.at.f
	if !d.claims || n == nil || n.def(e.at.i).Claim == nil {
		return
	}
	switch e.Kind {
	case StepStarted:
		if !d.held[e.Node] {
			d.t.Fatalf("%s starts without what it claims", e.Node)
		}
	case StepFinished, StepRetrying, StepFallback:
		delete(d.held, e.Node)
	}
}

// claimAll gives all leaves of a graph that need a slot a Claim.
func claimAll(g *Graph) {
	for i := range g.nodes {
		switch n := &g.nodes[i]; {
		case n.Graph != nil:
			claimAll(n.Graph)
		case n.needsSlot() && !n.isJoin():
			n.Claim = "gpu"
		}
	}
}

// TestRemoteDriver: a run whose work is done in another process ends as the rules say, also
// if the rest of it is driven by another Machine.
func TestRemoteDriver(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		steps := scriptGen().Draw(t, "script")
		want, total := oracle(steps, "", false)
		g := graphOf(t, steps, Settings{})
		d := newRemoteDriver(t, g, rapid.IntRange(1, 8).Draw(t, "slots"))
		if d.claims = rapid.Bool().Draw(t, "claims"); d.claims {
			claimAll(g)
			d.start(nil)
		}
		change := rapid.IntRange(1, 60).Draw(t, "another machine after turn")
		d.run(func(turn int) {
			if turn >= change && len(d.todo) == 0 && len(d.log) > 0 && d.machine.Settled() {
				change = 1 << 30
				d.start(d.log)
			}
		})
		if diff := cmp.Diff(want, states(d.machine.State())); diff != "" {
			t.Fatalf("end states (-rules +driver):\n%s", diff)
		}
		if got := d.machine.State().Result().Status.String(); got != total {
			t.Fatalf("the run ends %s, want %s", got, total)
		}
	})
}

// TestRestart: an attempt that was interrupted waits for a decision, and then runs again under
// the same number.
func TestRestart(t *testing.T) {
	node := Node{ID: "a", Runner: RunnerFunc(func(context.Context, *Call) (Result, error) { return Result{}, nil }), Policy: Policy{Timeout: time.Second}}
	g, err := New([]Node{node}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	m := NewMachine(g, MachineOptions{ID: "run", Parallel: 1})
	now := time.Unix(1e9, 0)
	turn := func(in Input) Turn {
		t.Helper()
		now = now.Add(time.Hour)
		out, err := m.Turn(now, in)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	report := Report{Task: turn(Input{}).Tasks[0]}
	report.Result = Result{Status: Waiting, Reason: ReasonInterrupted, Wait: &Wait{Asks: true}}
	asks := turn(Input{Reports: []Report{report}}).Events
	again := turn(Input{Answers: []Answer{{Node: "a", Wait: asks[0].Seq, Restart: true}}})
	if len(again.Tasks) != 1 || again.Tasks[0].Order().Attempt != 1 {
		t.Fatalf("%+v", again)
	}
	report = Report{Task: again.Tasks[0]}
	report.Result = Result{Status: Succeeded}
	turn(Input{Reports: []Report{report}})
	if r := m.State().Result(); r == nil || r.Status != Succeeded {
		t.Errorf("%+v", r)
	}
}
