package schedule

import "time"

// Action is what becomes of a slot.
type Action int

// The actions.
const (
	Start   Action = iota // a run begins
	Queue                 // a run begins when those before it have ended
	Replace               // what is under way is cancelled, then a run begins
	Skip                  // the slot is left out
)

// Decide says what becomes of a slot while so many runs of its schedule are under way and
// so many wait for their turn. Slots that are made up for (late) wait for each other
// where others would be left out: they were asked for one by one. The reason tells people
// why a slot is left out. It is a pure function.
func Decide(o Overlap, late bool, running, queued int) (a Action, reason string) {
	switch {
	case running+queued == 0 || o == OverlapAllow:
		return Start, ""
	case o == OverlapReplace:
		return Replace, ""
	case late:
		return Queue, ""
	case o == OverlapQueue && queued == 0:
		return Queue, ""
	case o == OverlapQueue:
		return Skip, "overlap: a run is active and another is already waiting"
	}
	return Skip, "overlap: the previous run is still active"
}

// Satisfied says whether a slot may be left out because the tool succeeded since the slot
// before it. success is the beginning of the newest run that succeeded and was not
// begun by the schedule. It is a pure function.
func Satisfied(s *Schedule, slot, success time.Time) bool {
	before, ok := s.previous(slot)
	return ok && !success.Before(before)
}
