package service

import (
	"context"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/outcome"
)

// Request asks for a run.
type Request struct {
	// Tool is a name in the service's reach. A path is refused: who holds a token may
	// start what is installed, not any file.
	Tool   string
	Params map[string]any
	// Origin says who asks: api, detach, schedule:NAME or webhook:NAME.
	Origin string
	// ID, where set, is the run's id. A run of that id that is there already is the
	// answer, and nothing is started: so a caller may ask again when it did not hear.
	ID string
	// Claimed says that ID was kept for this request alone: if the run cannot begin, it is
	// on record as failed under that id. Otherwise that gets an id of its own, so that the
	// request can be repeated.
	Claimed bool
	// Unlisted lets Tool be one that the service does not offer to callers over the network:
	// built in, or discovered. It is for requests of the service's own user.
	Unlisted bool
	// Parent is the W3C traceparent the caller gave, "" for none. Whoever takes it from
	// outside sees to it that it is one.
	Parent string
}

// Update is something that happened, as those hear it who watch the service.
type Update struct {
	// ID grows from update to update, also over restarts of the service.
	ID uint64
	// Run is the run it happened in.
	Run string
	// Tool is the run's tool.
	Tool string
	// Event is what happened.
	Event dag.Event
}

// Health is how a service stands.
type Health struct {
	Ready    bool      // it takes requests: not draining, the history can be written
	Reason   string    // why not
	Started  time.Time // the service
	Running  int       // runs under way
	Queued   int       // runs that wait for a lock or a place
	Waiting  int       // runs that wait for people
	Draining bool
	Tools    int      // in reach
	Broken   []string // files whose newest version cannot be used, with the reason; the last good one is in force
}

// Errors of a service. They may come wrapped.
var (
	ErrDraining      = outcome.ErrDraining
	ErrRefused       = outcome.ErrRefused
	ErrPath          = outcome.ErrPath
	ErrNotRunning    = outcome.ErrNotRunning
	ErrNoQuestion    = outcome.ErrNoQuestion
	ErrManyQuestions = outcome.ErrManyQuestions
	ErrTooLate       = outcome.ErrTooLate
	ErrNoSchedule    = outcome.ErrNoSchedule
)

// API is what doors may ask of a service. Errors are those of the root package
// (tool.NotFoundError, ParamsError, Diagnostics, ErrNoRun, ErrLive ...) and the ones above.
type API interface {
	// Start begins a run and answers its id once it is on record for good. One that cannot
	// begin is put on record as failed, with the error; but for an API request whose tool
	// is not known.
	Start(ctx context.Context, r Request) (id string, err error)
	// Failed puts a run on record that could not begin for a reason of its caller's door.
	Failed(ctx context.Context, r Request, why error)
	// Cancel asks a run to stop.
	Cancel(ctx context.Context, id, reason string) error
	// Resume goes on with a run that rests or was interrupted, as flowrun resume does.
	Resume(ctx context.Context, id string) error
	// Retry begins a new run that takes over what went well in an old one.
	Retry(ctx context.Context, id string, from []string) (retry string, err error)
	// Answer answers the step at that path, which waits for a person, or the only one that
	// does where step is "", and sees to it that the run goes on. Errors: ErrNoRun,
	// ErrNoQuestion, ErrManyQuestions, ErrTooLate, flowrun.ErrAnswered, a
	// *flowrun.ParamsError when the values do not fit the form.
	Answer(ctx context.Context, id, step string, a Answer) error
	// RecordedRun is a recorded run, live or not.
	RecordedRun(ctx context.Context, id string) (*flowrun.RecordedRun, error)
	// Info is where a run stands, without its definition; Events are its events with a
	// number above after, as in flowrun.Store. Error: ErrNoRun.
	Info(ctx context.Context, id string) (flowrun.RunInfo, error)
	Events(ctx context.Context, id string, after uint64) ([]dag.Event, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, q flowrun.Query) ([]flowrun.RunInfo, error)
	// Queue is every live run that has, or waits for, a lock or a turn of its tool.
	Queue(ctx context.Context) (flowrun.Queue, error)
	// Tools are the tools that are offered to callers over the network; Plan is one of
	// them compiled.
	Tools(ctx context.Context) ([]Tool, error)
	Plan(ctx context.Context, name string) (*flowrun.Plan, error)
	// Watch follows what happens in all runs of the state directory: updates after the one
	// numbered after (0: from now on). lost says that updates are missing before
	// the first one: the caller reads the state anew. The channel is closed when ctx ends, or when the reader
	// is so slow that it would hold up others.
	Watch(ctx context.Context, after uint64) (updates <-chan Update, lost bool)
	Health() Health
}

// Tool is a tool in a list.
type Tool struct {
	Name        string
	Description string
	Scope       string
	Tags        []string
	Broken      string // why its newest version cannot be used, "" where it can
}

// Answer is what a person said.
type Answer struct {
	Approve bool
	Values  map[string]any // of the form; nil for its defaults
	Comment string
}

// Schedules are the schedules that a service fires.
type Schedules interface {
	Schedules(ctx context.Context) ([]Schedule, error)
	// Pause keeps a schedule from firing, or lets it fire again. Error: ErrNoSchedule.
	Pause(ctx context.Context, name string, paused bool) error
}

// Schedule is one schedule in a list.
type Schedule struct {
	Name     string
	Tool     string
	Cron     string // as it is written: a cron specification or @every
	Timezone string
	Next     time.Time // zero where there is none
	Paused   bool
	Source   string // where it comes from: command, or the definition's scope
}
