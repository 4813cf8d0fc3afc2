package attention

import (
	"context"
	"slices"
)

// The names of kinds. Programs read them.
const (
	Interrupted   = "interrupted"
	Waiting       = "waiting"
	StaleApproval = "stale-approval"
	QueuedCatchUp = "queued-catch-up"
	Missed        = "missed"
	LostState     = "lost-state"
	Limit         = "limit"
	Invalid       = "invalid-definition"
	Disk          = "disk"
)

// Kind is what all items with a name have in common.
type Kind struct {
	Name    string
	Meaning string // one clause, for the log of the service and the reference

	find func(*search, context.Context) error
}

// kinds are all kinds: of runs, of schedules, of tools, and of the machine.
var kinds = []Kind{
	{Name: Interrupted, find: (*search).interrupted,
		Meaning: "a run of a service was cut off, and the service does not continue it by itself"},
	{Name: Waiting, find: (*search).waiting,
		Meaning: "a run waits for an answer"},
	{Name: StaleApproval, find: (*search).staleApprovals,
		Meaning: "another run of the tool has ended, or has asked too, since an answer was asked for"},
	{Name: QueuedCatchUp, find: (*search).queued,
		Meaning: "a scheduled time still waits for its turn, and the next time of the schedule has passed"},
	{Name: Missed, find: (*search).missed,
		Meaning: "a scheduled time was missed, and no later one has run; or no service fires the schedule"},
	{Name: LostState, find: (*search).lostState,
		Meaning: "a tool has no state, but had some when its definition was in another file, which is gone"},
	{Name: Limit, find: (*search).limits,
		Meaning: "fewer items of a loop ran at once than its max-parallel asks for, in the last run of a scheduled tool"},
	{Name: Invalid, find: (*search).invalid,
		Meaning: "a definition or its schedule cannot run"},
	{Name: Disk, find: (*search).disk,
		Meaning: "the file system of the state directory is nearly full"},
}

// Kinds returns all kinds.
func Kinds() []Kind { return slices.Clone(kinds) }

// KindOf returns the kind with that name.
func KindOf(name string) Kind {
	for _, k := range kinds {
		if k.Name == name {
			return k
		}
	}
	return Kind{Name: name}
}
