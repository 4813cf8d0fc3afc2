package history

import (
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
// This file holds these rules as pure functions of the queue, for every Store.

// DemandKind is the kind of a LockDemand.
type DemandKind string

// The kinds of demands.
const (
	DemandLock      DemandKind = "lock"            // one slot of a lock
	DemandActiveRun DemandKind = "max-active-runs" // one of the runs that a tool may have at the same time
)

// LockDemand is one thing that a run takes at its start and holds until its end. A run can
// take it while fewer than Slots runs hold it.
type LockDemand struct {
	Kind  DemandKind `json:"kind"`
	Name  string     `json:"name"`           // of the lock, or of the tool
	File  string     `json:"file,omitempty"` // of the tool's definition: tools with the same name in different files are different
	Slots int        `json:"slots"`
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
	case n.Slots == 1:
		return "lock " + n.Name
	}
	return fmt.Sprintf("lock %s (%d slots)", n.Name, n.Slots)
}

// QueueEntry is a run in a Queue.
type QueueEntry struct {
	Run     string
	PID     int // of the process that runs it
	Demands []LockDemand
	Held    bool      // the run holds its demands; otherwise it waits
	Since   time.Time // when it got them, or started to wait
}

// Queue is all runs with demands, in the order in which they joined.
type Queue []QueueEntry

// Next returns the indexes of the waiting runs that may start now. They may all start
// together.
func (l Queue) Next() []int {
	held, reserved := map[demandKey]int{}, map[demandKey]bool{}
	for _, p := range l {
		if p.Held {
			for _, n := range p.Demands {
				held[n.key()]++
			}
		}
	}
	var next []int
	for i, p := range l {
		if p.Held {
			continue
		}
		free := !slices.ContainsFunc(p.Demands, func(n LockDemand) bool { return held[n.key()] >= n.Slots || reserved[n.key()] })
		for _, n := range p.Demands {
			if free {
				held[n.key()]++
			} else {
				reserved[n.key()] = true
			}
		}
		if free {
			next = append(next, i)
		}
	}
	return next
}

// QueuePosition is the position of a run in the queue.
type QueuePosition struct {
	Run       string
	Since     time.Time  // since when it has been in the queue
	Obstacles []Obstacle // what it waits for; empty when it has been admitted
}

// Obstacle is a demand that a run waits for, with the runs that keep it from starting.
type Obstacle struct {
	LockDemand
	Holders []Holder // the runs that hold it now, earliest first
	Ahead   int      // how many other runs wait for it before this one
	Behind  string   // the last of these, "" if there are none
}

// Holder is a run that holds what others wait for.
type Holder struct {
	Run   string
	PID   int
	Since time.Time
}

// Waiting returns the positions of the runs that wait, by their index in the queue.
func (l Queue) Waiting() map[int]QueuePosition {
	holders, ahead, behind := map[demandKey][]Holder{}, map[demandKey]int{}, map[demandKey]string{}
	for _, p := range l {
		for _, n := range p.Demands {
			if t := n.key(); p.Held {
				holders[t] = append(holders[t], Holder{p.Run, p.PID, p.Since})
			}
		}
	}
	waiting := map[int]QueuePosition{}
	for i, p := range l {
		if p.Held {
			continue
		}
		q := QueuePosition{Run: p.Run, Since: p.Since}
		for _, n := range p.Demands {
			t := n.key()
			if len(holders[t]) >= n.Slots || ahead[t] > 0 {
				q.Obstacles = append(q.Obstacles, Obstacle{n, holders[t], ahead[t], behind[t]})
			}
			ahead[t]++
			behind[t] = p.Run
		}
		waiting[i] = q
	}
	return waiting
}

// Equal reports whether both positions say the same. Since does not count.
func (q QueuePosition) Equal(o QueuePosition) bool {
	return q.Run == o.Run && slices.EqualFunc(q.Obstacles, o.Obstacles, func(a, b Obstacle) bool {
		return a.LockDemand == b.LockDemand && a.Ahead == b.Ahead && a.Behind == b.Behind && slices.Equal(a.Holders, b.Holders)
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
	if o.Kind == DemandActiveRun {
		text = fmt.Sprintf("a slot of %s (max-active-runs: %d)", o.Name, o.Slots)
	}
	var held []string
	for i, h := range o.Holders {
		if i == maxHolders {
			held = append(held, fmt.Sprintf("%d more", len(o.Holders)-maxHolders))
			break
		}
		held = append(held, fmt.Sprintf("run %s (pid %d, since %s)", h.Run, h.PID, localTime(h.Since)))
	}
	if len(o.Holders) >= o.Slots {
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

// Admission is what a run queues for: its locks and active-run slots.
type Admission struct {
	Demands []LockDemand
	// Notify, if set, is called when the run has to wait, and again whenever its position
	// changes. Calls do not overlap.
	Notify func(QueuePosition)
}
