package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/test/proptest"
)

// held counts who has each lock.
func held(line history.Queue) map[string]int {
	n := map[string]int{}
	for _, p := range line {
		if p.Held {
			for _, need := range p.Demands {
				n[need.Name] += max(need.Count, 1)
			}
		}
	}
	return n
}

func shares(a, b history.QueueEntry) bool {
	return slices.ContainsFunc(a.Demands, func(n history.LockDemand) bool { return slices.ContainsFunc(b.Demands, n.Same) })
}

// TestLineRule: runs come, end and are killed in any order. Nobody is admitted where others
// have all slots, nobody passes one who asked earlier for something in common, nobody
// waits whom nothing holds up, and what people read about those who wait is so.
func TestLineRule(t *testing.T) {
	names := []string{"a", "b", "c"}
	proptest.Check(t, func(t *rapid.T) {
		var line history.Queue
		for i := range rapid.IntRange(1, 60).Draw(t, "events") {
			if len(line) > 0 && rapid.IntRange(0, 2).Draw(t, "kind") == 0 { // one ends, waits, is cancelled or killed
				at := rapid.IntRange(0, len(line)-1).Draw(t, "who")
				line = slices.Delete(line, at, at+1)
			} else {
				p := history.QueueEntry{Run: fmt.Sprint("r", i), Priority: rapid.IntRange(0, 2).Draw(t, "priority")}
				for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 1, 3, rapid.ID).Draw(t, "locks") {
					d := history.LockDemand{Kind: history.DemandPool, Name: name, Slots: rapid.IntRange(1, 3).Draw(t, "slots")}
					d.Count = rapid.IntRange(0, d.Slots).Draw(t, "count")
					p.Demands = append(p.Demands, d)
				}
				line = append(line, p)
			}
			next, _ := line.Next(time.Time{}, nil)
			for _, i := range next {
				if line[i].Held {
					t.Fatal("it holds already:", i)
				}
				for _, n := range line[i].Demands {
					if held(line)[n.Name]+max(n.Count, 1) > n.Slots {
						t.Fatalf("%v was admitted to %s of %d slots", line[i], n.Name, n.Slots)
					}
				}
				for j, other := range line {
					before := other.Priority > line[i].Priority || other.Priority == line[i].Priority && j < i
					if before && !other.Held && shares(other, line[i]) {
						t.Fatalf("%v passed %v", line[i], other)
					}
				}
				line[i].Held = true
			}
			if again, _ := line.Next(time.Time{}, nil); len(again) > 0 {
				t.Fatal("some were forgotten:", again)
			}
			taken := held(line)
			waiting := line.Waiting()
			for i, p := range line {
				q, waits := waiting[i]
				if waits == p.Held || waits && (q.Run != p.Run || len(q.Obstacles) == 0) {
					t.Fatalf("%+v gets %+v", p, q)
				}
				for _, o := range q.Obstacles {
					if full := taken[o.Name]+max(o.Count, 1) > o.Slots; !full && o.Ahead == 0 || (o.Ahead > 0) != (o.Behind != "") {
						t.Fatalf("%+v is not an obstacle", o)
					}
				}
			}
		}
	})
}

// TestRate: what has a rate starts that often in any time, with a burst of as many, whoever asks.
func TestRate(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		rate := history.Rate{N: rapid.IntRange(1, 5).Draw(t, "n"), Per: time.Minute}
		rates, now := history.Rates{}, time.Unix(1e9, 0)
		var line history.Queue
		var starts []time.Time
		for i := range 60 {
			line = append(line, history.QueueEntry{Run: fmt.Sprint("r", i), Demands: []history.LockDemand{{Kind: history.DemandPool, Name: "api", Slots: 100, Rate: rate}}})
			next, again := line.Next(now, rates)
			for _, i := range next {
				line[i].Held = true
				starts = append(starts, now)
			}
			if waiting := len(line) - len(starts); (waiting > 0) == again.IsZero() || waiting > 0 && !again.After(now) {
				t.Fatalf("%d wait until %v, and it is %v", waiting, again, now)
			}
			if !again.IsZero() && rapid.Bool().Draw(t, "wait") {
				now = again
			} else {
				now = now.Add(time.Duration(rapid.IntRange(0, 30).Draw(t, "seconds")) * time.Second)
			}
		}
		// A bucket of N that fills with N a minute: in each span there are at most N and what has flowed in.
		for i := range starts {
			for j := i; j < len(starts); j++ {
				if most := float64(rate.N) + starts[j].Sub(starts[i]).Minutes()*float64(rate.N); float64(j-i+1) > most+1e-6 {
					t.Fatalf("%d started within %v, at %v", j-i+1, starts[j].Sub(starts[i]), rate)
				}
			}
		}
	})
}

func TestQueuedText(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 11, 22, 10, 31, 7, 0, time.Local)
	var holders []history.Holder
	for i := range 5 {
		holders = append(holders, history.Holder{Run: fmt.Sprint("h", i), PID: 40 + i, Since: since})
	}
	lock := func(slots int) history.LockDemand {
		return history.LockDemand{Kind: history.DemandLock, Name: "db", Slots: slots}
	}
	pool := history.LockDemand{Kind: history.DemandPool, Name: "gpu", Slots: 4, Count: 3, Rate: history.Rate{N: 10, Per: time.Minute}}
	turn := history.LockDemand{Kind: history.DemandActiveRun, Name: "deploy", File: "/w/deploy.yaml", Slots: 1}
	for want, q := range map[string]history.QueuePosition{
		"waits for pool gpu, at most 10/m":                                   {Obstacles: []history.Obstacle{{LockDemand: pool, Paced: true}}},
		"waits for pool gpu, held by step train of run h0 (pid 40, since T)": {Obstacles: []history.Obstacle{{LockDemand: pool, Holders: []history.Holder{{Run: "h0", PID: 40, Since: since, Step: "train", Count: 2}}}}},
		"is no longer waiting":                                               {},
		"waits for lock db, held by run h0 (pid 40, since T)":                {Obstacles: []history.Obstacle{{LockDemand: lock(1), Holders: holders[:1]}}},
		"waits for lock db, behind run x":                                    {Obstacles: []history.Obstacle{{LockDemand: lock(2), Holders: holders[:1], Ahead: 1, Behind: "x"}}},
		"waits for a slot of deploy (max-active-runs: 1), held by run h0 (pid 40, since T); and for lock db, behind 3 other runs": {Obstacles: []history.Obstacle{
			{LockDemand: turn, Holders: holders[:1]}, {LockDemand: lock(1), Ahead: 3, Behind: "x"}}},
		"waits for lock db, held by run h0 (pid 40, since T), run h1 (pid 41, since T), run h2 (pid 42, since T), 2 more": {Obstacles: []history.Obstacle{{LockDemand: lock(5), Holders: holders}}},
	} {
		got := strings.ReplaceAll(strings.ReplaceAll(q.String(), since.Format(time.DateTime), "T"), since.Format(time.TimeOnly), "T")
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
