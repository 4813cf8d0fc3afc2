package history

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A run whose tools have locks, or whose tool says how many runs of it may be under way,
// queues for all of that at its start and takes it at once: never a part, so
// that no two runs can wait for each other. First come, first served: a later run passes
// an earlier one only where they ask for nothing in common.
//
// This file is the rule, for whoever writes a Store. It looks at nothing but the line.

// DemandKind is the kind of thing that a run queues for.
type DemandKind string

// The kinds of needs.
const (
	DemandLock      DemandKind = "lock"            // one slot of a lock
	DemandActiveRun DemandKind = "max-active-runs" // one of so many runs of a tool
)

// LockDemand is one thing a run takes at its start and holds to its end: it may be had while
// fewer than Slots runs have it.
type LockDemand struct {
	Kind  DemandKind `json:"kind"`
	Name  string     `json:"name"`           // of the lock, or the tool
	File  string     `json:"file,omitempty"` // of the tool's definition: tools of one name in several files are several
	Slots int        `json:"slots"`
}

// Same says whether both needs are for the same thing.
func (n LockDemand) Same(o LockDemand) bool { return n.key() == o.key() }

func (n LockDemand) key() demandKey { return demandKey{n.Kind, n.Name, n.File} }

// demandKey is what a Need is for.
type demandKey struct {
	kind       DemandKind
	name, file string
}

// Title is what the run takes, for people: "lock db (2 slots)".
func (n LockDemand) Title() string {
	switch {
	case n.Kind == DemandActiveRun:
		return fmt.Sprintf("one of %d runs of %s (max-active-runs)", n.Slots, n.Name)
	case n.Slots == 1:
		return "lock " + n.Name
	}
	return fmt.Sprintf("lock %s (%d slots)", n.Name, n.Slots)
}

// QueueEntry is a run in a Line.
type QueueEntry struct {
	Run     string
	PID     int // of the process that runs it
	Demands []LockDemand
	Held    bool      // it has them; otherwise it waits
	Since   time.Time // that it has them, or waits
}

// Queue is every run that has needs, in the order in which they asked.
type Queue []QueueEntry

// Next are the places, by index, of runs that wait and may have what they need now.
// They may have it together.
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

// QueuePosition describes a run in the queue.
type QueuePosition struct {
	Run       string
	Since     time.Time  // that it stands there
	Obstacles []Obstacle // what it waits for; none: its turn has come
}

// Obstacle is a need that a run waits for, and whom.
type Obstacle struct {
	LockDemand
	Holders []Holder // who have it now, the first first
	Ahead   int      // how many others wait for it before this run
	Behind  string   // the last of these, "" where there are none
}

// Holder is a run that has what others wait for.
type Holder struct {
	Run   string
	PID   int
	Since time.Time
}

// Waiting is where each run in the line that waits stands, by index.
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

// Equal says whether both tell the same.
func (q QueuePosition) Equal(o QueuePosition) bool {
	return q.Run == o.Run && slices.EqualFunc(q.Obstacles, o.Obstacles, func(a, b Obstacle) bool {
		return a.LockDemand == b.LockDemand && a.Ahead == b.Ahead && a.Behind == b.Behind && slices.Equal(a.Holders, b.Holders)
	})
}

// Reason is the kind of the first thing the run waits for, "" where it waits no more.
func (q QueuePosition) Reason() string {
	if len(q.Obstacles) == 0 {
		return ""
	}
	return string(q.Obstacles[0].Kind)
}

// String is what the run waits for, for people: "waits for lock db, held by run X (pid
// 12, since 10:31:07)".
func (q QueuePosition) String() string {
	if len(q.Obstacles) == 0 {
		return "waits no more"
	}
	words := make([]string, len(q.Obstacles))
	for i, o := range q.Obstacles {
		words[i] = o.String()
	}
	return "waits for " + strings.Join(words, "; and for ")
}

// maxHolders is how many holders a sentence names.
const maxHolders = 3

// String is what is waited for and for whom. Who has it is left out where only the order
// keeps the run from having it too.
func (o Obstacle) String() string {
	text := "lock " + o.Name
	if o.Kind == DemandActiveRun {
		text = fmt.Sprintf("a turn of %s (max-active-runs: %d)", o.Name, o.Slots)
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

// localTime is a moment as people tell it: the time, and the day where that is another.
func localTime(t time.Time) string {
	t = t.Local()
	if time.Since(t) < 24*time.Hour && t.Day() == time.Now().Day() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// Admission is what a run queues for: its locks and its slots.
type Admission struct {
	Demands []LockDemand
	// Notify, where set, is called when the run has to wait, and whenever what it waits
	// for has changed: one call at a time.
	Notify func(QueuePosition)
}
