package notify

import (
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/os/shellword"
)

// Schedule is what an Outcome reports about a schedule: that a run is late, or that it was paused after failures.
type Schedule struct {
	Name string `json:"name"`
	// Scheduled is the time whose run is late, Deadline when it had to have succeeded. Both are zero if the
	// schedule was paused.
	Scheduled time.Time `json:"scheduled_time,omitzero"`
	Deadline  time.Time `json:"must_end_by,omitzero"`
	// Text says in words what happened.
	Text string `json:"-"`
}

// headline returns what Line begins with.
func (s *Schedule) headline(o Outcome) string {
	if o.Event == Paused {
		return fmt.Sprintf("schedule %s is paused", s.Name)
	}
	return o.Result.Tool + " is late"
}

// way returns the command that helps a person further.
func (s *Schedule) way(o Outcome) string {
	switch {
	case o.Event == Paused:
		return "Resume the schedule with: flowrun schedule resume " + shellword.Sh(s.Name) + "\n"
	case o.Result.ID == "":
		return "Show the schedule with: flowrun schedule list\n"
	}
	return ""
}

// id identifies what is reported, as the id of a run does for other outcomes.
func (s *Schedule) id() string { return fmt.Sprintf("%s@%d", s.Name, s.Scheduled.Unix()) }
