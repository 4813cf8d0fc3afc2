package service

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/history"
)

// Request describes a run to start.
type Request struct {
	// Tool is the name of an available tool. A path is rejected: the holder of a token may
	// start what is installed, not any file.
	Tool   string
	Params map[string]any
	// Labels are recorded with the run, see engine.WithLabels.
	Labels map[string]string
	// Origin is the source of the request: api, detach, schedule:NAME, backfill:NAME, file:NAME, after:NAME or webhook:NAME.
	Origin string
	// ID, if set, becomes the run's id. If a run with that id exists, its id is returned
	// and nothing is started: a caller that missed the response can safely repeat the
	// request.
	ID string
	// Claimed reports that ID was reserved for this request alone: if the run cannot start,
	// it is recorded as failed under that id. Otherwise the failure is recorded under a new
	// id, so that the request can be repeated.
	Claimed bool
	// Unlisted admits tools that the service does not offer to callers over the network:
	// built-in and discovered ones. It is for requests of the service's own user.
	Unlisted bool
	// attemptOf is the run that the request retries automatically; nil for none.
	attemptOf *history.Record
	// Parent is the caller's W3C traceparent, "" for none. The code that reads it from a
	// request must validate it.
	Parent string
}

// Health is the state of a service.
type Health struct {
	Ready    bool      // accepts requests: it is not draining and can write the history
	Reason   string    // why it is not ready
	Started  time.Time // when the service started
	Running  int       // runs that it executes
	Queued   int       // runs that wait for a lock or a free place
	Waiting  int       // runs that wait for people
	Draining bool
	Tools    int      // available tools
	Broken   []string // why the newest version of a file is invalid, one entry a file; its last valid version is in use
}

// Answer is the answer of a person to a question.
type Answer struct {
	Approve bool
	Values  map[string]any // of the form; nil for its defaults
	Comment string
}

// Schedules lists and pauses the schedules that a service fires.
type Schedules interface {
	Schedules(ctx context.Context) ([]Schedule, error)
	// Times returns the scheduled times of a schedule that are after from, and not after to unless that is zero:
	// the first ones, at most limit. Error: ErrNoSchedule.
	Times(ctx context.Context, name string, from, to time.Time, limit int) ([]ScheduledTime, error)
	// Pause stops a schedule from firing, or lets it fire again. Error: ErrNoSchedule.
	Pause(ctx context.Context, name string, paused bool) error
	// Backfill starts runs for the past scheduled times of a schedule from from up to, but not including, to that had
	// none, at most parallel of them active at once, and returns all times in that range. It returns before the
	// runs have started, and continues until they have or until StopBackfill, in the next service if this one stops. With
	// preview nothing starts. Errors: ErrNoSchedule, ErrBackfill, ErrBackfillRunning.
	Backfill(ctx context.Context, name string, from, to time.Time, parallel int, preview bool) ([]BackfillTime, error)
	// StopBackfill stops a backfill from starting more runs. Active runs continue. Error: ErrNoSchedule.
	StopBackfill(ctx context.Context, name string) (stopped bool, err error)
}

// Schedule is one entry of a list of schedules.
type Schedule struct {
	Name             string            `json:"name"`
	Tool             string            `json:"tool"`
	Cron             string            `json:"cron"`         // as written: a cron expression or @every; "" for events
	On               string            `json:"on,omitempty"` // file or after: the kind of events that start the tool
	Timezone         string            `json:"timezone,omitempty"`
	Next             time.Time         `json:"next,omitzero"` // zero if there is none, or no tool
	Paused           bool              `json:"paused"`
	Source           string            `json:"source"` // where it is defined
	Params           map[string]any    `json:"params,omitempty"`
	Labels           map[string]string `json:"labels,omitempty"` // of its runs, beside those of the tool
	Describe         string            `json:"describe"`         // the times in words
	Overlap          string            `json:"overlap"`
	CatchUp          string            `json:"catch_up"`
	Jitter           string            `json:"jitter,omitempty"`
	Start            time.Time         `json:"start,omitzero"`
	End              time.Time         `json:"end,omitzero"`
	SkipIfSuccessful bool              `json:"skip_if_successful,omitempty"`
	MustEndBy        string            `json:"must_end_by,omitempty"`  // until when its runs must have succeeded, as written
	PauseAfter       int               `json:"pause_after,omitempty"`  // failures in a row that pause it; 0: none do
	PauseReason      string            `json:"pause_reason,omitempty"` // why a service has paused it
	Except           string            `json:"except,omitempty"`       // days without times, as dates and ranges
	ToolMissing      bool              `json:"tool_missing,omitempty"` // the tool of an added schedule does not exist any more
	Last             *Firing           `json:"last,omitempty"`         // the last scheduled time that was handled
}

// Firing is what happened at a scheduled time.
type Firing struct {
	At     time.Time `json:"at"`
	Run    string    `json:"run,omitempty"`
	Status string    `json:"status"` // of the run; or due if the run has not started yet, pruned if the history no longer has it, skipped if there was none
	Reason string    `json:"reason,omitempty"`
	Notes  []string  `json:"notes,omitempty"` // notes of the run
	// MustEndBy is the deadline as long as it has not passed; Late means that it had passed before the run succeeded.
	MustEndBy time.Time `json:"must_end_by,omitzero"`
	Late      bool      `json:"late,omitempty"`
}

// BackfillTime is a past scheduled time in a backfill.
type BackfillTime struct {
	At time.Time `json:"at"` // in the zone of the schedule
	// Run is the run of that time; "" if there is none yet.
	Run string `json:"run,omitempty"`
	// Status is that of the run, or skipped if it could not start; "" for a time whose run the backfill starts.
	Status string `json:"status,omitempty"`
	Reason string `json:"reason,omitempty"` // why the run could not start
}

// ScheduledTime is a time at which a schedule fires, or fired.
type ScheduledTime struct {
	At    time.Time `json:"at"`              // in the zone of the schedule
	Local time.Time `json:"local"`           // in the zone of the machine
	Note  string    `json:"note,omitempty"`  // why it differs from the pattern, for example because of daylight saving
	Fired *Firing   `json:"fired,omitempty"` // nil if nothing happened at that time yet
}
