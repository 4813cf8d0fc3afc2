package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/tool"
)

// TraceContext is W3C's trace context in the form of its variables, TRACEPARENT and
// TRACESTATE; both are "" for none.
type TraceContext struct {
	Parent string `json:"parent,omitempty"`
	State  string `json:"state,omitempty"`
}

// Store keeps runs: what each was asked to do, every event of it, and who runs it
// now. An Engine without one writes nothing. The flowrun command uses a SQLite
// file; NewMemory is a Store for programs that want history for as long as they
// live; others may be written and held against the contract in internal/storetest.
//
// A run has one owner at a time. Ownership is counted: each owner has an epoch one
// higher than the last, and what an earlier owner still tries to write is refused
// with ErrFenced. A Store is safe for concurrent use.
type Store interface {
	// Begin keeps a new run and makes the caller its first owner (epoch 1).
	Begin(ctx context.Context, r *Record) (Ledger, error)
	// Claim makes the caller the next owner of a run whose last event has number
	// seq. Errors: ErrNoRun; ErrLive while its owner lives; ErrChanged when there
	// are events the caller has not seen.
	Claim(ctx context.Context, id string, seq uint64) (Ledger, error)
	// Record is what was kept of a run when it began. Error: ErrNoRun.
	Record(ctx context.Context, id string) (*Record, error)
	// Info is where a run stands. Error: ErrNoRun.
	Info(ctx context.Context, id string) (RunInfo, error)
	// Events are the run's events with a number above after, in order: all of
	// them, or as many as make up some megabytes, so that a reader asks again
	// until there are none. Error: ErrNoRun.
	Events(ctx context.Context, id string, after uint64) ([]dag.Event, error)
	// Runs lists runs, newest first.
	Runs(ctx context.Context, q Query) ([]RunInfo, error)
	// Answer keeps what somebody answers to a question of the run, whose owner's Ledger
	// tells it; a run without an owner hears of it when it is taken up. What is left
	// out of who and when is filled in. Whether the run asks that is not looked at.
	// Errors: ErrNoRun, and ErrAnswered when the question has an answer.
	Answer(ctx context.Context, id string, a Answer) error
	// Cancel asks the owner of a run to stop it; the owner's Ledger tells it. It is
	// no error when the run has no living owner: then nobody hears it. Error: ErrNoRun.
	Cancel(ctx context.Context, id, reason string) error
	// Queue is every live run that was admitted or waits to be (Ledger.Admit), in the
	// order in which they asked.
	Queue(ctx context.Context) (Queue, error)
}

// Ledger is a run's journal in the hands of its owner. Append and Sync are those
// of dag.Journal; both fail with ErrFenced once another owner has the run. When
// the events hold the end of the run, Append also notes it for Runs.
type Ledger interface {
	dag.Journal
	// Epoch counts the run's owners from 1; this is the number of this one.
	Epoch() int
	// Lost is closed when the run was given to another owner.
	Lost() <-chan struct{}
	// CancelRequests gets the reason when somebody asks for the run to be cancelled.
	CancelRequests() <-chan string
	// Answers gets what people answer, those answers first that were there when the
	// run was claimed; these it holds before it is returned. Whoever reads it takes all.
	Answers() <-chan Answer
	// Suspend gives up ownership of a run that waits for answers: its status is then
	// Waiting, with a message that says for what. Error: ErrFenced.
	Suspend(message string) error
	// Admit waits in the queue for what the run needs until it has all of it, which it then
	// holds as long as this owner has the run: to Close, or to the owner's death. While
	// it waits the run is dag.Pending. The order is that of Line.Next. When ctx ends the
	// run leaves the line and the error is ctx's cause; ErrFenced when the run was given
	// to another owner. An owner asks once.
	Admit(ctx context.Context, d Admission) error
	// Close gives up ownership. A run that has neither ended nor rests is then interrupted.
	Close() error
}

// Errors of a Store. They may come wrapped.
var (
	ErrNoRun   = errors.New("there is no such run")
	ErrLive    = errors.New("the run is live: another process runs it")
	ErrChanged = errors.New("the run has gone on meanwhile")
	ErrFenced  = errors.New("another engine has taken the run over")
)

// Record is what a run was asked to do: enough to take it up again, and nothing
// that is secret.
type Record struct {
	ID      string    `json:"id"`
	Tool    string    `json:"tool"`
	RetryOf string    `json:"retry_of,omitempty"` // the run this one tries again
	Origin  string    `json:"origin,omitempty"`   // who began it, see WithOrigin
	Created time.Time `json:"created"`
	// Params are the bound parameters as they are shown, secrets masked.
	Params map[string]any `json:"params"`
	// Given are the parameters as the caller gave them, the secret ones left out:
	// those are named in Withheld and must be given again to go on.
	Given    map[string]any `json:"given"`
	Withheld []string       `json:"withheld,omitempty"`
	RunEnv   RecordedEnv    `json:"world"`
	// Only is the step the run was limited to, with what it waits for; "" for the
	// whole tool. Alone says that nothing but that step was to run.
	Only            string `json:"only,omitempty"`
	WithoutUpstream bool   `json:"alone,omitempty"`
	// Sources are the definitions that were run, the tool's own first.
	Sources []tool.Source `json:"sources"`
	// NotStarted says that the run could not begin: it has failed, and has no definitions
	// and no steps.
	NotStarted bool         `json:"unbegun,omitempty"`
	Trace      TraceContext `json:"trace,omitzero"` // that the run began in
}

// RecordedEnv is a World without the environment, which may hold secrets: a run
// that is taken up again has the environment of that moment.
type RecordedEnv struct {
	Workspace string    `json:"workspace"`
	Home      string    `json:"home"`
	Temp      string    `json:"temp"`
	Time      time.Time `json:"time"`
	AllowDash bool      `json:"allow_dash,omitempty"`
}

// RunInfo is a run in a list.
type RunInfo struct {
	ID       string
	Tool     string
	RetryOf  string
	Origin   string
	Status   dag.Status // Running while an owner lives, Pending while that stands in line, Waiting when it rests, Interrupted when its owner died or gave up
	ExitCode int
	Reason   string
	Message  string
	Notes    []string  // what to know beside the status; see dag.Status.With
	Started  time.Time // when the run was begun
	Ended    time.Time // zero while it has not
	PID      int       // of the process that runs it, 0 where none does
	// Rebooted says that the machine was started anew since the run's last owner
	// wrote, so that the last moments before may be missing.
	Rebooted bool
	// Released says of a run that is interrupted that its last owner gave it up in order,
	// and did not die.
	Released bool
}

// Live says whether an owner has the run in hand: it runs, or waits in the queue.
func (i RunInfo) Live() bool { return i.Status == dag.Running || i.Status == dag.Pending }

// WithQueue is the run as it stands while it waits: Pending, with what for.
func (i RunInfo) WithQueue(q QueuePosition) RunInfo {
	i.Status, i.ExitCode, i.Reason, i.Message, i.Ended = dag.Pending, 0, q.Reason(), q.String(), time.Time{}
	i.Notes = nil
	return i
}

// Query says which runs to list. The zero Query is all of them.
type Query struct {
	Prefix string       // of the id
	Tool   string       // name
	Origin string       // who began it, see WithOrigin; "" is anybody
	Status []dag.Status // any of these
	Open   bool         // only those that have not ended
	Since  time.Time    // begun at or after
	Limit  int          // at most so many; 0 is all
}

// AmbiguousError says that several runs' ids begin with a prefix.
type AmbiguousError struct {
	Prefix string
	IDs    []string // some of them, newest first
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q could be several runs, %s among them; write more of the id", e.Prefix, strings.Join(e.IDs, " and "))
}

// Latest is the word that stands for the newest run.
const Latest = "latest"

// FindRun is the id of the one run that a word means: an id, a prefix that only
// one id has, or Latest. Errors: ErrNoRun, an *AmbiguousError.
func FindRun(ctx context.Context, s Store, word string) (string, error) {
	q := Query{Prefix: word, Limit: 2}
	if word == Latest {
		q = Query{Limit: 1}
	}
	found, err := s.Runs(ctx, q)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0 || word == "":
		return "", fmt.Errorf("cannot find run %q: %w", word, ErrNoRun)
	case len(found) > 1 && found[0].ID != word && found[1].ID != word:
		return "", &AmbiguousError{Prefix: word, IDs: []string{found[0].ID, found[1].ID}}
	}
	return found[0].ID, nil
}
