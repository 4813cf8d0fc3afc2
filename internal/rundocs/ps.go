package rundocs

import (
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
)

// ActiveStatuses are the states of runs that Ps lists.
func ActiveStatuses() []dag.Status { return []dag.Status{dag.Running, dag.Pending, dag.Waiting} }

// Ps is flowrun/ps.v1: the runs that are under way, and who waits for whom.
type Ps struct {
	Schema string      `json:"schema"`
	Runs   []ActiveRun `json:"runs"`
	Locks  []Lock      `json:"locks"`
	Limits []Lock      `json:"limits"` // of tools with max-active-runs
}

// ActiveRun is a run that is under way.
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

// Obstacle is one thing that a run in line waits for.
type Obstacle struct {
	history.LockDemand
	Holders []Holder `json:"holders"`
	Ahead   int      `json:"ahead"` // how many runs wait for it before this one
}

// Holder is a run that has what others wait for.
type Holder struct {
	Run   string    `json:"run"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

// Lock is a lock, or the turns of a tool, and the runs that have one and wait for one.
// Slots is the least that any of them says.
type Lock struct {
	Name    string   `json:"name"`
	File    string   `json:"file,omitempty"`
	Slots   int      `json:"slots"`
	Holders []string `json:"holders"`
	Waiting []string `json:"waiting"`
}

// PsOf lists the runs that are under way and what stands in line.
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

// Obstacles are what a run in line waits for.
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

// lockList is who has, and who waits for, each thing of a kind, in the order in which these
// were first asked for.
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

// WithoutFiles is the document without the places of definitions, for who is not on the machine.
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
