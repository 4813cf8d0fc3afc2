package service

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/service/feed"
)

// Request describes a run to start.
type Request struct {
	// Tool is the name of an available tool. A path is rejected: the holder of a token may
	// start what is installed, not any file.
	Tool   string
	Params map[string]any
	// Origin is the source of the request: api, detach, schedule:NAME, file:NAME, after:NAME or webhook:NAME.
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

// Errors of a service. They may be wrapped.
var (
	ErrDraining      = outcome.ErrDraining
	ErrRefused       = outcome.ErrRefused
	ErrPath          = outcome.ErrPath
	ErrNotRunning    = outcome.ErrNotRunning
	ErrNoQuestion    = outcome.ErrNoQuestion
	ErrManyQuestions = outcome.ErrManyQuestions
	ErrTooLate       = outcome.ErrTooLate
	ErrNoSchedule    = outcome.ErrNoSchedule
	ErrSourceChanged = outcome.ErrSourceChanged
)

// NotEditableError reports that the service does not change a definition.
type NotEditableError = outcome.NotEditableError

// API is what entry points may request from a service. Errors are those of package engine
// (tool.NotFoundError, ParamsError, Diagnostics, ErrNoRun, ErrLive ...) and those above.
type API interface {
	RunStarter
	RunController
	RunReader
	ToolReader
	Editor
	Health() Health
}

// RunStarter starts runs.
type RunStarter interface {
	// Start starts a run and returns its id once the run is durably recorded. A run that
	// cannot start is recorded as failed, with the error, except for an API request with an
	// unknown tool or invalid parameters.
	Start(ctx context.Context, r Request) (id string, err error)
	// Failed records a run that could not start for a reason of its entry point.
	Failed(ctx context.Context, r Request, why error)
}

// RunController changes what happens to runs.
type RunController interface {
	// Cancel requests that a run stops.
	Cancel(ctx context.Context, id, reason string) error
	// Resume resumes a run for a person, as flowrun resume does.
	Resume(ctx context.Context, id string) error
	// Retry starts a new run that reuses the successful results of an earlier one.
	Retry(ctx context.Context, id string, from []string) (retry string, err error)
	// PreviewResume and PreviewRetry return what Resume and Retry would do, and start nothing.
	PreviewResume(ctx context.Context, id string) (*engine.Continuation, error)
	PreviewRetry(ctx context.Context, id string, from []string) (*engine.Continuation, error)
	// Answer answers the question of the step with that path, or the only question if step
	// is "", and makes sure that the run continues. Errors: ErrNoRun, ErrNoQuestion,
	// ErrManyQuestions, ErrTooLate, flowrun.ErrAnswered, a *flowrun.ParamsError if the
	// values do not fit the form.
	Answer(ctx context.Context, id, step string, a Answer) error
}

// RunReader reads runs and their events.
type RunReader interface {
	// RecordedRun loads a run, live or not.
	RecordedRun(ctx context.Context, id string) (*engine.RecordedRun, error)
	// Info returns the state of a run without its definition. Events returns its events
	// numbered above after, as in flowrun.Store. Error: ErrNoRun.
	Info(ctx context.Context, id string) (history.RunInfo, error)
	Events(ctx context.Context, id string, after uint64) ([]dag.Event, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, q history.Query) ([]history.RunInfo, error)
	// Queue returns every live run that holds or waits for a lock or a place of its tool.
	Queue(ctx context.Context) (history.Queue, error)
	// Watch subscribes to the events of all runs of the state directory: the updates
	// numbered above after, or if after is 0 those from now on. lost reports that updates
	// are missing before the first one: the caller must read the state again. Updates that are
	// there at the same time come together. The channel is closed when ctx ends, or when the
	// reader is so slow that the service drops it.
	Watch(ctx context.Context, after uint64) (updates <-chan []*feed.Update, lost bool)
}

// ToolReader reads tools.
type ToolReader interface {
	// State returns the values that a tool keeps between its runs, see flowrun.Store.
	State(ctx context.Context, id history.StateID) ([]history.StateValue, error)
	// Tools returns the tools that are offered to callers over the network. Plan compiles
	// one of them.
	Tools(ctx context.Context) ([]Tool, error)
	Plan(ctx context.Context, name string) (*engine.Plan, error)
	// Offered returns a tool.NotFoundError if a recorded run is not one of a tool that is offered to
	// callers over the network: they neither resume nor retry it, as they could not start it.
	Offered(ctx context.Context, past *engine.RecordedRun) error
	// Preview returns what a run of a plan would do, without starting anything. If secrets of
	// the tool are missing, the Preview names them.
	Preview(ctx context.Context, plan *engine.Plan, params map[string]any) (*preview.Preview, error)
}

// Editor reads, checks and saves definitions, see Source. Check returns nil instead of a plan if the text has errors.
type Editor interface {
	Source(ctx context.Context, name string) (*Source, error)
	Check(ctx context.Context, name, kind string, text []byte) (*engine.Plan, tool.Diagnostics, error)
	Save(ctx context.Context, name, digest string, text []byte) (*Source, error)
}

// Tool is one entry of a list of tools.
type Tool struct {
	Name        string
	Description string
	Scope       string
	Kind        string // how it is defined: yaml, json, markdown, javascript, go, builtin, discovered or mcp
	Category    string
	Version     string
	Tags        []string
	Deprecated  bool
	BaseTool    string // of an alias
	Broken      string // why its newest version is invalid; "" if it is valid
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
}

// Schedule is one entry of a list of schedules.
type Schedule struct {
	Name             string         `json:"name"`
	Tool             string         `json:"tool"`
	Cron             string         `json:"cron"`         // as written: a cron expression or @every; "" for events
	On               string         `json:"on,omitempty"` // file or after: the kind of events that start the tool
	Timezone         string         `json:"timezone,omitempty"`
	Next             time.Time      `json:"next,omitzero"` // zero if there is none, or no tool
	Paused           bool           `json:"paused"`
	Source           string         `json:"source"` // where it is defined
	Params           map[string]any `json:"params,omitempty"`
	Describe         string         `json:"describe"` // the times in words
	Overlap          string         `json:"overlap"`
	CatchUp          string         `json:"catch_up"`
	Jitter           string         `json:"jitter,omitempty"`
	Start            time.Time      `json:"start,omitzero"`
	End              time.Time      `json:"end,omitzero"`
	SkipIfSuccessful bool           `json:"skip_if_successful,omitempty"`
	ToolMissing      bool           `json:"tool_missing,omitempty"` // the tool of an added schedule does not exist any more
	Last             *Firing        `json:"last,omitempty"`         // the last scheduled time that was handled
}

// Firing is what happened at a scheduled time.
type Firing struct {
	At     time.Time `json:"at"`
	Run    string    `json:"run,omitempty"`
	Status string    `json:"status"` // of the run; or due if the run has not started yet, pruned if the history no longer has it, skipped if there was none
	Reason string    `json:"reason,omitempty"`
	Notes  []string  `json:"notes,omitempty"` // notes of the run
}

// ScheduledTime is a time at which a schedule fires, or fired.
type ScheduledTime struct {
	At    time.Time `json:"at"`              // in the zone of the schedule
	Local time.Time `json:"local"`           // in the zone of the machine
	Note  string    `json:"note,omitempty"`  // why it differs from the pattern, for example because of daylight saving
	Fired *Firing   `json:"fired,omitempty"` // nil if nothing happened at that time yet
}
