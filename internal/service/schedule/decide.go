package schedule

import "time"

// Action is what happens at a scheduled time.
type Action int

// The actions.
const (
	Start   Action = iota // starts a run
	Queue                 // starts a run when those before it have ended
	Replace               // cancels the active runs, then starts a run
	Skip                  // starts nothing
)

// Decide returns the action for a scheduled time while some runs of the schedule are active
// and some are queued. caughtUp is how many earlier times of the same catch-up have fired: each
// of them was asked for, so the next one waits for them where it would otherwise be skipped. The
// reason explains to people why a time is skipped. It is a pure function.
func Decide(o Overlap, caughtUp, running, queued int) (a Action, reason string) {
	switch {
	case running+queued == 0 || o == OverlapAllow:
		return Start, ""
	case o == OverlapReplace:
		return Replace, ""
	case caughtUp > 0:
		return Queue, ""
	case o == OverlapQueue && queued == 0:
		return Queue, ""
	case o == OverlapQueue:
		return Skip, "overlap: a run is active and another is already waiting"
	}
	return Skip, "overlap: the previous run is still active"
}

// WhySatisfied is why SkipIfSuccessful skips a time.
const WhySatisfied = "the tool has succeeded since the previous time"

// Satisfied reports whether a scheduled time may be skipped because the tool succeeded
// since the previous time. success is the start of the newest successful run that the
// schedule did not start. It is a pure function.
func Satisfied(s *Schedule, slot, success time.Time) bool {
	before, ok := s.previous(slot)
	return ok && !success.Before(before)
}
