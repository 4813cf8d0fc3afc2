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
	Invalid       = "invalid-definition"
)

// Kind is what all items with a name have in common.
type Kind struct {
	Name    string
	Meaning string // one clause, for the log of the service and the reference
	// OfRun means that its items are about runs.
	OfRun bool

	find func(*search, context.Context) error
}

// kinds are all kinds, those of runs first.
var kinds = []Kind{
	{Name: Interrupted, OfRun: true, find: (*search).interrupted,
		Meaning: "a run of a service was cut off, and the service does not continue it by itself"},
	{Name: Waiting, OfRun: true, find: (*search).waiting,
		Meaning: "a run waits for an answer"},
	{Name: StaleApproval, OfRun: true, find: (*search).staleApprovals,
		Meaning: "another run of the tool has ended, or waits too, since an answer was asked for"},
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
