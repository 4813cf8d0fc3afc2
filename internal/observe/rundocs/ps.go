package rundocs

import (
	"context"
	"slices"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// ActiveStatuses returns the statuses of the runs that Ps lists.
func ActiveStatuses() []dag.Status { return []dag.Status{dag.Running, dag.Pending, dag.Waiting} }

// Ps is the document flowrun/ps.v1: the active runs, and the locks they hold or wait for.
type Ps struct {
	Schema string      `json:"schema"`
	Runs   []ActiveRun `json:"runs"`
	Locks  []Lock      `json:"locks"`
	Limits []Lock      `json:"limits"` // limits of tools with max-active-runs
	Pools  []Lock      `json:"pools"`
}

// ActiveRun is a run that is running, pending or waiting.
type ActiveRun struct {
	ID       string     `json:"id"`
	Tool     string     `json:"tool"`
	Status   dag.Status `json:"status"`
	Started  time.Time  `json:"started"`
	PID      int        `json:"pid,omitempty"`
	Reason   string     `json:"reason,omitempty"`
	Message  string     `json:"message,omitempty"`
	WaitsFor []Obstacle `json:"waits_for,omitempty"`
	Steps    []Queued   `json:"queued_steps,omitempty"` // steps that wait for locks or pools
}

// Queued is a step that waits for locks or pools.
type Queued struct {
	Step     string     `json:"step"`
	Since    time.Time  `json:"since"`
	Message  string     `json:"message"`
	WaitsFor []Obstacle `json:"waits_for"`
}

// Obstacle is one thing that a run in the queue waits for.
type Obstacle struct {
	history.LockDemand
	Holders []Holder `json:"holders"`
	Ahead   int      `json:"ahead"` // how many runs wait for it before this one
}

// Holder is a run, or a step of one, that holds what others wait for.
type Holder struct {
	Run   string    `json:"run"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
	Step  string    `json:"step,omitempty"`
	Count int       `json:"count"` // how many slots it holds
}

// Lock is a lock, a pool, or the limit max-active-runs of a tool, with the runs that hold it
// and the runs that wait for it; those of which steps do so are named RUN/STEP. If runs give
// different Slots, it has the smallest.
type Lock struct {
	Name    string   `json:"name"`
	File    string   `json:"file,omitempty"`
	Slots   int      `json:"slots"`
	Used    int      `json:"used"` // slots that are held
	Rate    string   `json:"rate,omitempty"`
	Holders []string `json:"holders"`
	Waiting []string `json:"waiting"`
}

// ReadPs reads the active runs of the tools that may allows, nil for all, and the queue. The queue is read last: a run that is
// listed as pending is then among those that wait.
func ReadPs(ctx context.Context, s interface {
	Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error)
	Queue(ctx context.Context) (history.Queue, error)
}, may func(tool string) bool) (Ps, error) {
	runs, err := s.Runs(ctx, history.Query{Status: ActiveStatuses()})
	if err != nil {
		return Ps{}, err
	}
	queue, err := s.Queue(ctx)
	if may != nil {
		runs = slices.DeleteFunc(runs, func(i history.RunInfo) bool { return !may(i.Tool) })
		queue = slices.DeleteFunc(queue, func(p history.QueueEntry) bool {
			return !slices.ContainsFunc(runs, func(i history.RunInfo) bool { return i.ID == p.Run })
		})
	}
	return psOf(queue, runs), err
}

func psOf(queue history.Queue, runs []history.RunInfo) Ps {
	doc := Ps{Schema: "flowrun/ps.v1", Runs: []ActiveRun{}, Locks: lockList(queue, history.DemandLock), Limits: lockList(queue, history.DemandActiveRun), Pools: lockList(queue, history.DemandPool)}
	waits, steps := map[string][]Obstacle{}, map[string][]Queued{}
	positions := queue.Waiting()
	for i := range queue {
		switch q, waiting := positions[i]; {
		case !waiting:
		case q.Step == "":
			waits[q.Run] = Obstacles(q)
		default:
			steps[q.Run] = append(steps[q.Run], Queued{q.Step, q.Since, q.String(), Obstacles(q)})
		}
	}
	for _, r := range runs {
		doc.Runs = append(doc.Runs, ActiveRun{r.ID, r.Tool, r.Status, r.Started, r.PID, r.Reason, r.Message, waits[r.ID], steps[r.ID]})
	}
	return doc
}

// Obstacles returns what a run in the queue waits for.
func Obstacles(q history.QueuePosition) []Obstacle {
	list := []Obstacle{}
	for _, o := range q.Obstacles {
		j := Obstacle{LockDemand: o.LockDemand, Holders: []Holder{}, Ahead: o.Ahead}
		for _, h := range o.Holders {
			j.Holders = append(j.Holders, Holder(h))
		}
		list = append(list, j)
	}
	return list
}

// lockList returns each lock or limit of a kind with its holders and waiting runs, in the
// order in which they were first demanded.
func lockList(queue history.Queue, kind history.DemandKind) []Lock {
	list := []Lock{}
	at := map[[2]string]int{}
	for _, p := range queue {
		for _, n := range p.Demands {
			if n.Kind != kind {
				continue
			}
			key := [2]string{n.Name, n.File}
			i, known := at[key]
			if !known {
				i = len(list)
				at[key] = i
				list = append(list, Lock{Name: n.Name, File: n.File, Slots: n.Slots, Holders: []string{}, Waiting: []string{}})
				if n.Rate.N > 0 {
					list[i].Rate = n.Rate.String()
				}
			}
			l := &list[i]
			l.Slots = min(l.Slots, n.Slots)
			who := p.Run
			if p.Step != "" {
				who += "/" + p.Step
			}
			if p.Held {
				l.Used += max(n.Count, 1)
				l.Holders = append(l.Holders, who)
			} else {
				l.Waiting = append(l.Waiting, who)
			}
		}
	}
	return list
}

// WithoutFiles removes the paths of definitions, for readers on other machines. It changes
// d's slices.
func (d Ps) WithoutFiles() Ps {
	for i := range d.Limits {
		d.Limits[i].File = ""
	}
	for i := range d.Runs {
		for j := range d.Runs[i].WaitsFor {
			d.Runs[i].WaitsFor[j].File = ""
		}
	}
	return d
}
