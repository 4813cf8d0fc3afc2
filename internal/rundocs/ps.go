package rundocs

import (
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
}

// Obstacle is one thing that a run in the queue waits for.
type Obstacle struct {
	history.LockDemand
	Holders []Holder `json:"holders"`
	Ahead   int      `json:"ahead"` // how many runs wait for it before this one
}

// Holder is a run that holds what others wait for.
type Holder struct {
	Run   string    `json:"run"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// Lock is a lock, or the limit max-active-runs of a tool, with the runs that hold it and
// the runs that wait for it. If runs give different Slots, it has the smallest.
type Lock struct {
	Name    string   `json:"name"`
	File    string   `json:"file,omitempty"`
	Slots   int      `json:"slots"`
	Holders []string `json:"holders"`
	Waiting []string `json:"waiting"`
}

// PsOf makes the document from the queue and the active runs.
func PsOf(queue history.Queue, runs []history.RunInfo) Ps {
	doc := Ps{Schema: "flowrun/ps.v1", Runs: []ActiveRun{}, Locks: lockList(queue, history.DemandLock), Limits: lockList(queue, history.DemandActiveRun)}
	waits := map[string][]Obstacle{}
	for _, q := range queue.Waiting() {
		waits[q.Run] = Obstacles(q)
	}
	for _, r := range runs {
		doc.Runs = append(doc.Runs, ActiveRun{r.ID, r.Tool, r.Status, r.Started, r.PID, r.Reason, r.Message, waits[r.ID]})
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
				list = append(list, Lock{n.Name, n.File, n.Slots, []string{}, []string{}})
			}
			l := &list[i]
			l.Slots = min(l.Slots, n.Slots)
			if p.Held {
				l.Holders = append(l.Holders, p.Run)
			} else {
				l.Waiting = append(l.Waiting, p.Run)
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
