package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A run queues at its start for the locks of its tools and for the limit max-active-runs of
// its tool. It gets all of them together and never a part, so that no two runs can wait for
// each other. First come, first served: a later run may pass an earlier one only if they
// ask for nothing in common.
//
// A step queues in the same way before each attempt, for slots of pools and for locks, and
// holds them only while the attempt runs. Steps with a higher priority come first.
//
// This file holds these rules as pure functions of the queue, for every Store.

// DemandKind is the kind of a LockDemand.
type DemandKind string

// The kinds of demands.
const (
	DemandLock      DemandKind = "lock"            // one slot of a lock
	DemandActiveRun DemandKind = "max-active-runs" // one of the runs that a tool may have at the same time
	DemandPool      DemandKind = "pool"            // slots of a pool; only steps have it
)

// LockDemand is one thing that a run takes at its start and holds until its end, or a step
// for an attempt. It can be taken while there are Count free ones of Slots.
type LockDemand struct {
	Kind  DemandKind `json:"kind"`
	Name  string     `json:"name"`           // of the lock, the pool or the tool
	File  string     `json:"file,omitempty"` // of the tool's definition: tools with the same name in different files are different
	Slots int        `json:"slots"`
	Count int        `json:"count,omitempty"` // how many slots it takes; 0 means 1
	Rate  Rate       `json:"rate,omitzero"`   // of a pool: how often it can be taken
}

// count returns how many slots the demand takes.
func (n LockDemand) count() int { return max(n.Count, 1) }

// Rate limits how often something starts: N times in Per, and at most N at once. The zero
// Rate limits nothing.
type Rate struct {
	N   int           `json:"n"`
	Per time.Duration `json:"per_ns"`
}

// Pool is what steps share across runs: so many slots, and so many starts in a time.
type Pool struct {
	Slots int
	Rate  Rate // zero: no limit
}

// String returns the rate as it is written in the settings, such as 10/m.
func (r Rate) String() string {
	switch r.Per {
	case time.Second:
		return fmt.Sprintf("%d/s", r.N)
	case time.Minute:
		return fmt.Sprintf("%d/m", r.N)
	case time.Hour:
		return fmt.Sprintf("%d/h", r.N)
	}
	return fmt.Sprintf("%d/%s", r.N, r.Per)
}

// Rates are the states of the pools with a Rate, by name: the time at which the pool is as
// if nothing had ever started. A Store keeps them.
type Rates map[string]time.Time

// free returns when a demand with a Rate can be taken next.
func (r Rates) free(n LockDemand) time.Time {
	return r[n.Name].Add(-n.Rate.Per / time.Duration(n.Rate.N) * time.Duration(n.Rate.N-1))
}

// take notes that a demand with a Rate is taken.
func (r Rates) take(n LockDemand, now time.Time) {
	from := r[n.Name]
	if from.Before(now) {
		from = now
	}
	r[n.Name] = from.Add(n.Rate.Per / time.Duration(n.Rate.N))
}

// Same reports whether both demands are for the same thing.
func (n LockDemand) Same(o LockDemand) bool { return n.key() == o.key() }

func (n LockDemand) key() demandKey { return demandKey{n.Kind, n.Name, n.File} }

// demandKey identifies what a LockDemand is for.
type demandKey struct {
	kind       DemandKind
	name, file string
}

// Title describes for people what the run takes: "lock db (2 slots)".
func (n LockDemand) Title() string {
	switch {
	case n.Kind == DemandActiveRun:
		return fmt.Sprintf("one of %d concurrent runs of %s (max-active-runs)", n.Slots, n.Name)
	case n.Kind == DemandPool:
		if n.count() == 1 {
			return "a slot of pool " + n.Name
		}
		return fmt.Sprintf("%d slots of pool %s", n.count(), n.Name)
	case n.Slots == 1:
		return "lock " + n.Name
	}
	return fmt.Sprintf("lock %s (%d slots)", n.Name, n.Slots)
}

// QueueEntry is a run, or a step of a run, in a Queue.
type QueueEntry struct {
	Run      string
	Step     string // path of the step; "" for the run itself
	PID      int    // of the process that runs it; 0 for a suspended run that has kept its demands, or UnknownPID
	Demands  []LockDemand
	Priority int
	Held     bool      // it holds its demands; otherwise it waits
	Since    time.Time // when it got them, or started to wait
}

// UnknownPID stands for the process of a run that no single process runs.
const UnknownPID = -1

// Queue is all runs and steps with demands, in the order in which they joined.
type Queue []QueueEntry

// waitingOrder returns the indexes of those that wait: those with a higher priority first,
// and those with the same priority in the order in which they joined.
func (l Queue) waitingOrder() []int {
	var list []int
	for i := range l {
		if !l[i].Held {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b int) int { return cmp.Compare(l[b].Priority, l[a].Priority) })
	return list
}

// Next returns the indexes of those that may start now. They may all start together. It
// changes rates accordingly. again is when to ask again, if nothing else changes before:
// the earliest time at which a rate lets another one start. It is zero if there is none.
func (l Queue) Next(now time.Time, rates Rates) (next []int, again time.Time) {
	held, reserved := map[demandKey]int{}, map[demandKey]bool{}
	for _, p := range l {
		if p.Held {
			for _, n := range p.Demands {
				held[n.key()] += n.count()
			}
		}
	}
	for _, i := range l.waitingOrder() {
		free, from := true, now
		for _, n := range l[i].Demands {
			if held[n.key()]+n.count() > n.Slots || reserved[n.key()] {
				free = false
			} else if n.Rate.N > 0 && rates.free(n).After(from) {
				from = rates.free(n)
			}
		}
		if free && from.After(now) {
			free = false
			if again.IsZero() || from.Before(again) {
				again = from
			}
		}
		for _, n := range l[i].Demands {
			if !free {
				reserved[n.key()] = true
				continue
			}
			held[n.key()] += n.count()
			if n.Rate.N > 0 {
				rates.take(n, now)
			}
		}
		if free {
			next = append(next, i)
		}
	}
	return next, again
}

// QueuePosition is the position of a run, or of a step, in the queue.
type QueuePosition struct {
	Run       string
	Step      string     // path of the step; "" for the run itself
	Since     time.Time  // since when it has been in the queue
	Obstacles []Obstacle // what it waits for; empty when it has been admitted
}

// Obstacle is a demand that a run waits for, with the runs that keep it from starting.
type Obstacle struct {
	LockDemand
	Holders []Holder // the runs that hold it now, earliest first
	Ahead   int      // how many others wait for it before this one
	Behind  string   // the run of the last of these, "" if there are none
	Paced   bool     // only the rate of the pool keeps it from starting
}

// Holder is a run, or a step of one, that holds what others wait for.
type Holder struct {
	Run   string
	PID   int // 0: it is suspended, see Ledger.Suspend; or UnknownPID
	Since time.Time
	Step  string
	Count int // how many slots it holds
}

// Waiting returns the positions of those that wait, by their index in the queue.
func (l Queue) Waiting() map[int]QueuePosition {
	holders, held, ahead, behind := map[demandKey][]Holder{}, map[demandKey]int{}, map[demandKey]int{}, map[demandKey]string{}
	for _, p := range l {
		for _, n := range p.Demands {
			if t := n.key(); p.Held {
				holders[t] = append(holders[t], Holder{p.Run, p.PID, p.Since, p.Step, n.count()})
				held[t] += n.count()
			}
		}
	}
	waiting := map[int]QueuePosition{}
	for _, i := range l.waitingOrder() {
		p := l[i]
		q := QueuePosition{Run: p.Run, Step: p.Step, Since: p.Since}
		for _, n := range p.Demands {
			t := n.key()
			if held[t]+n.count() > n.Slots || ahead[t] > 0 {
				q.Obstacles = append(q.Obstacles, Obstacle{LockDemand: n, Holders: holders[t], Ahead: ahead[t], Behind: behind[t]})
			}
			ahead[t]++
			behind[t] = p.Run
		}
		for _, n := range p.Demands {
			if len(q.Obstacles) == 0 && n.Rate.N > 0 {
				q.Obstacles = append(q.Obstacles, Obstacle{LockDemand: n, Paced: true})
			}
		}
		waiting[i] = q
	}
	return waiting
}

// Equal reports whether both positions say the same. Since does not count.
func (q QueuePosition) Equal(o QueuePosition) bool {
	return q.Run == o.Run && q.Step == o.Step && slices.EqualFunc(q.Obstacles, o.Obstacles, func(a, b Obstacle) bool {
		return a.LockDemand == b.LockDemand && a.Ahead == b.Ahead && a.Behind == b.Behind && a.Paced == b.Paced && slices.Equal(a.Holders, b.Holders)
	})
}

// Reason returns the kind of the first thing that the run waits for, "" if it is no
// longer waiting.
func (q QueuePosition) Reason() string {
	if len(q.Obstacles) == 0 {
		return ""
	}
	return string(q.Obstacles[0].Kind)
}

// String describes for people what the run waits for: "waits for lock db, held by run X
// (pid 12, since 10:31:07)".
func (q QueuePosition) String() string {
	if len(q.Obstacles) == 0 {
		return "is no longer waiting"
	}
	words := make([]string, len(q.Obstacles))
	for i, o := range q.Obstacles {
		words[i] = o.String()
	}
	return "waits for " + strings.Join(words, "; and for ")
}

// maxHolders is how many holders a message names.
const maxHolders = 3

// String describes what the run waits for and for which runs. It leaves out the holders if
// there is a free slot and only runs ahead in the queue keep the run from taking it.
func (o Obstacle) String() string {
	text := "lock " + o.Name
	switch {
	case o.Kind == DemandActiveRun:
		text = fmt.Sprintf("a slot of %s (max-active-runs: %d)", o.Name, o.Slots)
	case o.Paced:
		return fmt.Sprintf("pool %s, at most %s", o.Name, o.Rate)
	case o.Kind == DemandPool:
		text = "pool " + o.Name
	}
	var held []string
	taken := 0
	for _, h := range o.Holders {
		taken += max(h.Count, 1)
	}
	for i, h := range o.Holders {
		if i == maxHolders {
			held = append(held, fmt.Sprintf("%d more", len(o.Holders)-maxHolders))
			break
		}
		what := "run " + h.Run
		if h.Step != "" {
			what = fmt.Sprintf("step %s of run %s", h.Step, h.Run)
		}
		who := fmt.Sprintf("pid %d, ", h.PID)
		switch h.PID {
		case 0:
			who = "waits for an answer, "
		case UnknownPID:
			who = ""
		}
		held = append(held, fmt.Sprintf("%s (%ssince %s)", what, who, localTime(h.Since)))
	}
	if taken+o.count() > o.Slots {
		text += ", held by " + strings.Join(held, ", ")
	}
	switch o.Ahead {
	case 0:
	case 1:
		text += ", behind run " + o.Behind
	default:
		text += fmt.Sprintf(", behind %d other runs", o.Ahead)
	}
	return text
}

// localTime formats a time for people: the time of day, with the date if that is not today.
func localTime(t time.Time) string {
	t = t.Local()
	if time.Since(t) < 24*time.Hour && t.Day() == time.Now().Day() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// Admission is what a run, or a step, queues for.
type Admission struct {
	Step     string // path of the step; "" for the run itself
	Demands  []LockDemand
	Priority int
	// Notify, if set, is called when it has to wait, and again whenever its position
	// changes. Calls do not overlap.
	Notify func(QueuePosition)
}
