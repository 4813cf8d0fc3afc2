package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// TraceContext is a W3C trace context in the form of the variables TRACEPARENT and
// TRACESTATE; both are "" if there is none.
type TraceContext struct {
	Parent string `json:"parent,omitempty"`
	State  string `json:"state,omitempty"`
}

// ObservedRun describes a run that starts, or is resumed, to those that observe it.
type ObservedRun struct {
	ID, Tool string
	// Trace is the trace that the run is part of, as in its Record.
	Trace TraceContext
	// Caller is the trace of the program that starts or resumes the run now.
	Caller TraceContext
	// Recorded are the events that earlier owners of a resumed run have recorded. They must
	// not be changed.
	Recorded []dag.Event
	// RetryOf is the run that this one retries, "" for none, and RetryTrace its trace.
	RetryOf    string
	RetryTrace TraceContext
}

// Store keeps runs: what each was asked to do, every event of it, and who owns it now. An
// Engine without a Store records nothing. Package history/sqlite has a Store in a SQLite file,
// which the flowrun command uses too. NewMemory returns a Store for programs that need
// history only while they run. You can write others and test them with
// flowruntest.TestStore.
//
// A run has one owner at a time. Each owner has an epoch, one higher than the last. What an
// earlier owner still tries to write is rejected with ErrFenced.
//
// A Store is safe for concurrent use.
type Store interface {
	// Begin stores a new run and makes the caller its first owner (epoch 1). The run that it
	// retries is then not retried automatically any more. Error: ErrRetried if the Record is
	// Automatic and that was so before.
	Begin(ctx context.Context, r *Record) (Ledger, error)
	// Claim makes the caller the next owner of a run whose last event has number seq. The run
	// is then not retried automatically any more, unless it ends so again.
	// Errors: ErrNoRun; ErrLive if the run has a living owner; ErrChanged if there are
	// events that the caller has not seen.
	Claim(ctx context.Context, id string, seq uint64) (Ledger, error)
	// Record returns what was stored of a run when it started. Error: ErrNoRun.
	Record(ctx context.Context, id string) (*Record, error)
	// Info returns the status of a run. Error: ErrNoRun.
	Info(ctx context.Context, id string) (RunInfo, error)
	// Events returns events of the run with a number above after, in order. It returns all
	// of them or some megabytes of them, so a reader calls it until it returns none. Error:
	// ErrNoRun.
	Events(ctx context.Context, id string, after uint64) ([]dag.Event, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, q Query) ([]RunInfo, error)
	// Answer stores the answer to a question of the run, and the owner's Ledger reports it.
	// If the run has no owner, the next owner gets it. An empty By and At are filled in.
	// The Store does not check that the run asks this question. Errors: ErrNoRun, and
	// ErrAnswered if the question already has an answer.
	Answer(ctx context.Context, id string, a Answer) error
	// Cancel asks the owner of a run to stop it, through the owner's Ledger. If the run has
	// no living owner, the request is lost; that is not an error. A run that has ended is then
	// not retried automatically any more. Error: ErrNoRun.
	Cancel(ctx context.Context, id, reason string) error
	// Queue returns every live run, and every step of one, that was admitted or waits to be
	// admitted (Ledger.Admit), in the order in which they joined.
	Queue(ctx context.Context) (Queue, error)
	StateStore
}

// Ledger is the journal of a run, for its owner. Append and Sync are those of dag.Journal;
// both fail with ErrFenced after another owner has claimed the run. If the events contain
// the end of the run, or artifacts (KeepsArtifact), Append also updates what Runs returns: the Due of the end is
// RunInfo.RetryAt. In the same transaction it keeps the values of StateChanges, as NextState says. If that
// returns a *StateError, so does Append, and nothing is written.
type Ledger interface {
	dag.Journal
	// ReadState returns the values of a tool, as they were when the run first called it for
	// this tool. A later owner of the run gets the same values. A run that takes over results
	// of another run, from, gets what that run has seen of the tool; from is "" otherwise.
	ReadState(ctx context.Context, id StateID, from string) ([]StateValue, error)
	// Epoch returns the number of this owner; the first owner of a run has 1.
	Epoch() int
	// Lost is closed when another owner has claimed the run.
	Lost() <-chan struct{}
	// CancelRequests receives the reason when somebody asks to cancel the run.
	CancelRequests() <-chan string
	// Answers receives people's answers. When Claim returns, the channel already holds all
	// answers that were stored before. There must be only one reader.
	Answers() <-chan Answer
	// Suspend gives up ownership of a run that waits for answers. Its status becomes
	// Waiting, with a message that says what for. With hold, the run keeps what it was
	// admitted for: its next owner has it, until that one closes the run or is killed.
	// Error: ErrFenced.
	Suspend(message string, hold bool) error
	// Admit waits in the queue until the run gets everything that it demands. It holds that
	// until Close or Suspend, or until this owner is killed. It returns at once for a run
	// that has kept it. While it waits the run is dag.Pending.
	// Queue.Next decides the order. If ctx ends, the run leaves the queue and the error is
	// the cause of ctx. The error is ErrFenced if another owner has claimed the run. An
	// owner may call Admit once for the run.
	//
	// An Admission with a Step is about an attempt of this step: it has what it demands until
	// Leave, and the status of the run does not change. Calls for different steps may overlap.
	Admit(ctx context.Context, d Admission) error
	// Leave gives back what the step with this path was admitted for.
	Leave(step string) error
	// Close gives up ownership. If the run has not ended and is not waiting, it is then
	// interrupted.
	Close() error
}

// Errors of a Store. They may be wrapped.
var (
	ErrNoRun   = errors.New("there is no such run")
	ErrLive    = errors.New("the run is active in another process")
	ErrChanged = errors.New("the run has changed in the meantime")
	ErrFenced  = errors.New("another process has taken over the run")
	ErrRetried = errors.New("the run was retried, resumed or cancelled in the meantime")
)

// Record is what a run was asked to do: enough to resume it, and nothing secret.
type Record struct {
	ID      string `json:"id"`
	Tool    string `json:"tool"`
	RetryOf string `json:"retry_of,omitempty"` // the run that this one retries
	// Attempt is the number of the run among those that retry each other, which counts from 1: one more than that of
	// RetryOf. 0 is 1. Automatic means that it retries RetryOf automatically, because of its RunInfo.RetryAt.
	Attempt   int       `json:"attempt,omitempty"`
	Automatic bool      `json:"automatic,omitempty"`
	Origin    string    `json:"origin,omitempty"` // who started it, see WithOrigin
	Created   time.Time `json:"created"`
	// Params are the bound parameters as they are shown, with secrets masked.
	Params map[string]any `json:"params"`
	// Given are the parameters of the caller without the secret ones. Withheld names those;
	// they must be given again to resume the run.
	Given    map[string]any `json:"given"`
	Withheld []string       `json:"withheld,omitempty"`
	// Labels are those of the tool, and those that the caller added.
	Labels map[string]string `json:"labels,omitempty"`
	RunEnv RecordedEnv       `json:"world"`
	// Only is the step to which the run was limited, together with its upstream steps; ""
	// for the whole tool. WithoutUpstream means that the upstream steps did not run either.
	Only            string `json:"only,omitempty"`
	WithoutUpstream bool   `json:"alone,omitempty"`
	// Timeout limits the whole run, if the caller limited it more than the definition does.
	Timeout time.Duration `json:"timeout,omitempty"`
	// Sources are the definitions of the run, that of the tool first.
	Sources []tool.Source `json:"sources"`
	// Enforced means that the permissions of the tool are enforced. Unenforced lists those that should be enforced but are not, because this machine cannot do it and the
	// caller allowed that.
	Enforced   bool     `json:"enforced,omitempty"`
	Unenforced []string `json:"unenforced,omitempty"`
	// NotStarted means that the run could not start: it has failed, and has no definitions
	// and no steps.
	NotStarted bool         `json:"unbegun,omitempty"`
	Trace      TraceContext `json:"trace,omitzero"` // trace context in which the run started
	// Flowrun is the version of flowrun that started the run, and Variables the sorted names of the environment
	// variables that it had then, without their values. Both are empty if they are not known.
	Flowrun   string   `json:"flowrun,omitempty"`
	Variables []string `json:"variables,omitempty"`
}

// RecordedEnv is a RunEnv without the environment variables, which may contain secrets. A
// run that is resumed gets the variables of that moment.
type RecordedEnv struct {
	Workspace string    `json:"workspace"`
	Home      string    `json:"home"`
	Temp      string    `json:"temp"`
	Time      time.Time `json:"time"`
	AllowDash bool      `json:"allow_dash,omitempty"`
	// TrustedProject is the project that its user trusted when the run started.
	TrustedProject string `json:"trusted_project,omitempty"`
}

// RunInfo is a run in a list.
type RunInfo struct {
	ID       string
	Tool     string
	RetryOf  string
	Origin   string
	Engine   string     // that has the run: "temporal", or "" for this machine
	Status   dag.Status // Running while it has a living owner, Pending while that waits in the queue, Waiting, or Interrupted when its owner was killed or gave up
	ExitCode int
	Reason   string
	Message  string
	Notes    []string  // what people should know beside the status; see dag.Status.With
	Started  time.Time // when the run was created
	Ended    time.Time // zero if it has not ended
	// RetryAt is when a run that has ended is retried automatically, as another run; zero means never. It is the Due of the
	// run's last event until another run retries it, or it is claimed or cancelled.
	RetryAt time.Time
	// LastSign is when the last owner of an Interrupted run gave the last sign of life: an event, the
	// renewal of its ownership, or that it gave the run up. It is zero for other runs, and if it is not known.
	LastSign time.Time
	PID      int // of the process that runs it, 0 if there is none
	Epoch    int // number of its last owner; the first one has 1
	// Rebooted means that the machine was restarted after the last owner wrote. The last
	// events before that may be missing.
	Rebooted bool
	// Released means that the run is interrupted because its last owner gave it up, and not
	// because the owner was killed.
	Released bool
	// Answered are the numbers of the questions that are answered, of a run that is Waiting. Its last owner may have
	// received some of these answers before it suspended the run.
	Answered []uint64
	// Params are those of the Record, if Query.WithParams asked for them.
	Params map[string]any
	Labels map[string]string // those of the Record
	// Artifacts means that a step has kept an artifact, which may have expired since then. It is false for runs of versions of
	// flowrun that did not record it.
	Artifacts bool
}

// Live reports whether the run has an owner: it runs, or waits in the queue.
func (i RunInfo) Live() bool { return i.Status == dag.Running || i.Status == dag.Pending }

// Until returns up to when the durations of the run count: its end, the last sign of life of one
// that is interrupted, and now for one that is live or waiting.
func (i RunInfo) Until(now time.Time) time.Time {
	switch {
	case !i.Ended.IsZero():
		return i.Ended
	case i.Status == dag.Interrupted:
		return i.LastSign
	}
	return now
}

// Took returns how long the run took, or has taken so far: the wall clock's time from Started to Until.
// Time in which it waited, or had no owner, is part of it.
func (i RunInfo) Took(now time.Time) time.Duration { return dag.Span(i.Started, i.Until(now)) }

// WithQueue returns the run as it is shown while it waits in the queue: Pending, with the
// reason.
func (i RunInfo) WithQueue(q QueuePosition) RunInfo {
	i.Status, i.ExitCode, i.Reason, i.Message, i.Ended = dag.Pending, 0, q.Reason(), q.String(), time.Time{}
	i.LastSign = time.Time{}
	i.Notes = nil
	return i
}

// Query selects the runs to list. The zero Query selects all of them.
type Query struct {
	Prefix string       // of the id
	Tool   string       // name
	Tools  []string     // any of these names; nil selects all
	Folder string       // whose working directory is this folder or one inside it; "" selects all
	Origin string       // who started it, see WithOrigin; "" selects all
	Kind   string       // of the origin: schedule selects schedule:NAME for every NAME; "" selects all
	Direct bool         // only those without an origin
	Status []dag.Status // any of these
	Open   bool         // only those that have not ended
	Labels []Label      // that have all of these labels
	Since  time.Time    // created at this time or later
	Until  time.Time    // created before this time; the zero time selects all
	// RetryDue selects the runs that are retried automatically at this time or earlier; the zero time selects all.
	RetryDue time.Time
	Before   string // only those that follow the run with this id in the list; none if there is no such run
	Limit    int    // largest number of runs; 0 means all

	WithParams bool // fill RunInfo.Params, which takes longer
}

// Label is a label that a run must have. The Value "" stands for any.
type Label struct{ Name, Value string }

// Selects reports whether a run is one of those of the query, by everything but Folder, Before and Limit.
func (q *Query) Selects(info RunInfo) bool {
	switch {
	case !strings.HasPrefix(info.ID, q.Prefix),
		q.Tool != "" && info.Tool != q.Tool,
		q.Tools != nil && !slices.Contains(q.Tools, info.Tool),
		q.Origin != "" && info.Origin != q.Origin,
		q.Kind != "" && !strings.HasPrefix(info.Origin, q.Kind+":"),
		q.Direct && info.Origin != "",
		len(q.Status) > 0 && !slices.Contains(q.Status, info.Status),
		q.Open && !info.Ended.IsZero(),
		slices.ContainsFunc(q.Labels, func(l Label) bool { return !l.In(info.Labels) }),
		info.Started.Before(q.Since),
		!q.RetryDue.IsZero() && (info.RetryAt.IsZero() || info.RetryAt.After(q.RetryDue)),
		!q.Until.IsZero() && !info.Started.Before(q.Until):
		return false
	}
	return true
}

// In reports whether the label is one of labels.
func (l Label) In(labels map[string]string) bool {
	value, has := labels[l.Name]
	return has && (l.Value == "" || l.Value == value)
}

// AmbiguousError means that a prefix matches the ids of several runs.
type AmbiguousError struct {
	Prefix string
	IDs    []string // some of them, newest first
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q matches several runs, including %s; write more of the id", e.Prefix, strings.Join(e.IDs, " and "))
}

// Latest is the word for the newest run.
const Latest = "latest"

// FindRun returns the id of the run that a word means: an id, a prefix of exactly one id,
// or Latest. Errors: ErrNoRun, an *AmbiguousError.
func FindRun(ctx context.Context, s Store, word string) (string, error) {
	q := Query{Prefix: word, Limit: 2}
	if word == Latest {
		q = Query{Limit: 1}
	} else if _, err := s.Info(ctx, word); !errors.Is(err, ErrNoRun) {
		return word, err
	}
	found, err := s.Runs(ctx, q)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0 || word == "":
		return "", fmt.Errorf("cannot find run %q: %w", word, ErrNoRun)
	case len(found) > 1:
		return "", &AmbiguousError{Prefix: word, IDs: []string{found[0].ID, found[1].ID}}
	}
	return found[0].ID, nil
}
