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

// NeedKind is the kind of thing that a run queues for.
type NeedKind string

// The kinds of needs.
const (
	NeedLock NeedKind = "lock"            // one slot of a lock
	NeedTurn NeedKind = "max-active-runs" // one of so many runs of a tool
)

// Need is one thing a run takes at its start and holds to its end: it may be had while
// fewer than Slots runs have it.
type Need struct {
	Kind  NeedKind `json:"kind"`
	Name  string   `json:"name"`           // of the lock, or the tool
	File  string   `json:"file,omitempty"` // of the tool's definition: tools of one name in several files are several
	Slots int      `json:"slots"`
}

// Same says whether both needs are for the same thing.
func (n Need) Same(o Need) bool { return n.thing() == o.thing() }

func (n Need) thing() thing { return thing{n.Kind, n.Name, n.File} }

// thing is what a Need is for.
type thing struct {
	kind       NeedKind
	name, file string
}

// Title is what the run takes, for people: "lock db (2 slots)".
func (n Need) Title() string {
	switch {
	case n.Kind == NeedTurn:
		return fmt.Sprintf("one of %d runs of %s (max-active-runs)", n.Slots, n.Name)
	case n.Slots == 1:
		return "lock " + n.Name
	}
	return fmt.Sprintf("lock %s (%d slots)", n.Name, n.Slots)
}

// Place is a run in a Line.
type Place struct {
	Run   string
	PID   int // of the process that runs it
	Needs []Need
	Held  bool      // it has them; otherwise it waits
	Since time.Time // that it has them, or waits
}

// Line is every run that has needs, in the order in which they asked.
type Line []Place

// Next are the places, by index, of runs that wait and may have what they need now.
// They may have it together.
func (l Line) Next() []int {
	taken, wanted := map[thing]int{}, map[thing]bool{}
	for _, p := range l {
		if p.Held {
			for _, n := range p.Needs {
				taken[n.thing()]++
			}
		}
	}
	var next []int
	for i, p := range l {
		if p.Held {
			continue
		}
		free := !slices.ContainsFunc(p.Needs, func(n Need) bool { return taken[n.thing()] >= n.Slots || wanted[n.thing()] })
		for _, n := range p.Needs {
			if free {
				taken[n.thing()]++
			} else {
				wanted[n.thing()] = true
			}
		}
		if free {
			next = append(next, i)
		}
	}
	return next
}

// Queued describes a run in the queue.
type Queued struct {
	Run       string
	Since     time.Time  // that it stands there
	Obstacles []Obstacle // what it waits for; none: its turn has come
}

// Obstacle is a need that a run waits for, and whom.
type Obstacle struct {
	Need
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
func (l Line) Waiting() map[int]Queued {
	holders, ahead, behind := map[thing][]Holder{}, map[thing]int{}, map[thing]string{}
	for _, p := range l {
		for _, n := range p.Needs {
			if t := n.thing(); p.Held {
				holders[t] = append(holders[t], Holder{p.Run, p.PID, p.Since})
			}
		}
	}
	waiting := map[int]Queued{}
	for i, p := range l {
		if p.Held {
			continue
		}
		q := Queued{Run: p.Run, Since: p.Since}
		for _, n := range p.Needs {
			t := n.thing()
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
func (q Queued) Equal(o Queued) bool {
	return q.Run == o.Run && slices.EqualFunc(q.Obstacles, o.Obstacles, func(a, b Obstacle) bool {
		return a.Need == b.Need && a.Ahead == b.Ahead && a.Behind == b.Behind && slices.Equal(a.Holders, b.Holders)
	})
}

// Reason is the kind of the first thing the run waits for, "" where it waits no more.
func (q Queued) Reason() string {
	if len(q.Obstacles) == 0 {
		return ""
	}
	return string(q.Obstacles[0].Kind)
}

// String is what the run waits for, for people: "waits for lock db, held by run X (pid
// 12, since 10:31:07)".
func (q Queued) String() string {
	if len(q.Obstacles) == 0 {
		return "waits no more"
	}
	words := make([]string, len(q.Obstacles))
	for i, o := range q.Obstacles {
		words[i] = o.String()
	}
	return "waits for " + strings.Join(words, "; and for ")
}

// mostHolders is how many holders a sentence names.
const mostHolders = 3

// String is what is waited for and for whom. Who has it is left out where only the order
// keeps the run from having it too.
func (o Obstacle) String() string {
	text := "lock " + o.Name
	if o.Kind == NeedTurn {
		text = fmt.Sprintf("a turn of %s (max-active-runs: %d)", o.Name, o.Slots)
	}
	var held []string
	for i, h := range o.Holders {
		if i == mostHolders {
			held = append(held, fmt.Sprintf("%d more", len(o.Holders)-mostHolders))
			break
		}
		held = append(held, fmt.Sprintf("run %s (pid %d, since %s)", h.Run, h.PID, clock(h.Since)))
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

// clock is a moment as people tell it: the time, and the day where that is another.
func clock(t time.Time) string {
	t = t.Local()
	if time.Since(t) < 24*time.Hour && t.Day() == time.Now().Day() {
		return t.Format(time.TimeOnly)
	}
	return t.Format(time.DateTime)
}

// Demand is what a run queues for: its locks and its slots.
type Demand struct {
	Needs []Need
	// Tell, where set, is called when the run has to wait, and whenever what it waits
	// for has changed: one call at a time.
	Tell func(Queued)
}
