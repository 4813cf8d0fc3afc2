package flowrun

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/call"
	"github.com/flowrun/flowrun/internal/compile"
	"github.com/flowrun/flowrun/internal/gostep"
	"github.com/flowrun/flowrun/internal/graph"
	"github.com/flowrun/flowrun/internal/outcome"
	"github.com/flowrun/flowrun/internal/permission"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/preview"
	"github.com/flowrun/flowrun/internal/resultcache"
	"github.com/flowrun/flowrun/internal/script"
	"github.com/flowrun/flowrun/internal/toolstate"
	"github.com/flowrun/flowrun/internal/value"
	"github.com/flowrun/flowrun/internal/waiting"
	"github.com/flowrun/flowrun/tool"
)

// ParamsError is everything that is wrong with the parameters of one call.
type ParamsError = value.ParamsError

// ParamProblem is what is wrong with one parameter. Code is one of missing,
// unknown, type, validation, transform, default, nul, dash, refused.
type ParamProblem = value.ParamProblem

// TraceContext is W3C's trace context in the form of its variables, TRACEPARENT and
// TRACESTATE; both are "" for none.
type TraceContext = history.TraceContext

// NewID is a run id: nine characters of time in milliseconds, then four of
// chance, so that ids sort by start and two of the same millisecond differ.
func NewID(now time.Time) string { return history.NewID(now) }

// DemandKind is the kind of thing that a run queues for.
type DemandKind = history.DemandKind

// The kinds of needs.
const (
	DemandLock      = history.DemandLock      // one slot of a lock
	DemandActiveRun = history.DemandActiveRun // one of so many runs of a tool
)

// LockDemand is one thing a run takes at its start and holds to its end: it may be had while
// fewer than Slots runs have it.
type LockDemand = history.LockDemand

// QueueEntry is a run in a Line.
type QueueEntry = history.QueueEntry

// Queue is every run that has needs, in the order in which they asked.
type Queue = history.Queue

// QueuePosition describes a run in the queue.
type QueuePosition = history.QueuePosition

// Obstacle is a need that a run waits for, and whom.
type Obstacle = history.Obstacle

// Holder is a run that has what others wait for.
type Holder = history.Holder

// Admission is what a run queues for: its locks and its slots.
type Admission = history.Admission

// Memory is a Store that lasts as long as the program: history for programs that
// embed flowrun, and for tests. What goes in and comes out is copied, and passes
// through JSON as it would with a file, so that both behave alike; numbers among a
// Record's parameters come back as json.Number. An owner keeps its run until it
// closes the Ledger.
type Memory = history.Memory

// NewMemory is an empty Memory.
func NewMemory() *Memory { return history.NewMemory() }

// Question is what a step of a run asks a person. Nothing in it is secret; its texts
// are an author's, and not fit for a terminal as they are.
type Question = history.Question

// Answer is what a person says to a Question.
type Answer = history.Answer

// ErrAnswered says that a question has been answered: the first answer stands. What
// comes with it says by whom.
var ErrAnswered = history.ErrAnswered

// Answered is ErrAnswered with the answer that stands; stores use it.
func Answered(a Answer) error { return history.Answered(a) }

// Store keeps runs: what each was asked to do, every event of it, and who runs it
// now. An Engine without one writes nothing. The flowrun command uses a SQLite
// file; NewMemory is a Store for programs that want history for as long as they
// live; others may be written and held against the contract in internal/storetest.
//
// A run has one owner at a time. Ownership is counted: each owner has an epoch one
// higher than the last, and what an earlier owner still tries to write is refused
// with ErrFenced. A Store is safe for concurrent use.
type Store = history.Store

// Ledger is a run's journal in the hands of its owner. Append and Sync are those
// of dag.Journal; both fail with ErrFenced once another owner has the run. When
// the events hold the end of the run, Append also notes it for Runs.
type Ledger = history.Ledger

// Errors of a Store. They may come wrapped.
var (
	ErrNoRun   = history.ErrNoRun
	ErrLive    = history.ErrLive
	ErrChanged = history.ErrChanged
	ErrFenced  = history.ErrFenced
)

// Record is what a run was asked to do: enough to take it up again, and nothing
// that is secret.
type Record = history.Record

// RecordedEnv is a World without the environment, which may hold secrets: a run
// that is taken up again has the environment of that moment.
type RecordedEnv = history.RecordedEnv

// RunInfo is a run in a list.
type RunInfo = history.RunInfo

// Query says which runs to list. The zero Query is all of them.
type Query = history.Query

// AmbiguousError says that several runs' ids begin with a prefix.
type AmbiguousError = history.AmbiguousError

// Latest is the word that stands for the newest run.
const Latest = history.Latest

// FindRun is the id of the one run that a word means: an id, a prefix that only
// one id has, or Latest. Errors: ErrNoRun, an *AmbiguousError.
func FindRun(ctx context.Context, s Store, word string) (string, error) {
	return history.FindRun(ctx, s, word)
}

// ConfinementError says that a tool's security cannot be kept here: the run was refused
// before its first step.
type ConfinementError = outcome.ConfinementError

// NoQueueError says that a tool takes locks, or bounds how many runs of it there may be,
// and that the engine has no Store in which runs could know of each other.
type NoQueueError = outcome.NoQueueError

// InterruptedError says that a run is interrupted: steps of it were, or may have been,
// running when flowrun was killed, and a person must say whether they run again.
type InterruptedError = outcome.InterruptedError

// WithheldError says that steps which would not run again printed what others
// read, and it is not available: it held a secret, or its log is gone.
type WithheldError = outcome.WithheldError

// WithheldStep is one of them.
type WithheldStep = outcome.WithheldStep

// OnlyError says that a step cannot run alone: something it waits for has no
// result in the recorded run.
type OnlyError = outcome.OnlyError

// ErrNotStarted is why a run cannot be resumed or retried that failed before its first
// step could start: nothing is known of what it would have done.
var ErrNotStarted = outcome.ErrNotStarted

// StepWord is a step's path as it is written on a command line: in quotes where it holds
// characters that a shell would read, such as the brackets of an item.
func StepWord(path string) string { return plan.StepWord(path) }

// Permission is one of a tool's required-permissions, as a call needs it.
type Permission = permission.Permission

// CodeMissingVariable and CodeBadVariable are the codes of a tool whose environment is not
// as its schema wants it.
const (
	CodeMissingVariable = toolstate.CodeMissingVariable
	CodeBadVariable     = toolstate.CodeBadVariable
)

// UnsupportedError says that a tool does not run on this platform.
type UnsupportedError = plan.UnsupportedError

// UsedTool is a tool that a plan runs.
type UsedTool = plan.UsedTool

// StepError says that a plan has no step of that name.
type StepError = plan.StepError

// FetchRequest is what a script asks for with fetch.
type FetchRequest = call.FetchRequest

// FetchAnswer is what came back.
type FetchAnswer = call.FetchAnswer

// EnvironmentError says that what the environment of a tool is made of is not to be
// had: an env file, or the value of a secret. It holds no values.
type EnvironmentError = call.EnvironmentError

// Reasons of steps whose script failed.
const (
	ReasonScript        = script.ReasonScript        // it threw an error, or returned what it must not
	ReasonScriptTimeout = script.ReasonScriptTimeout // it ran longer than limits.js-timeout
	ReasonScriptMemory  = script.ReasonScriptMemory  // it took more than limits.js-memory
	ReasonScriptLost    = script.ReasonScriptLost    // the process that ran it died
)

// CodeToolFailure is the code of a tool that returned {success: false}.
const CodeToolFailure = script.CodeToolFailure

// ReasonCache is the reason of a reused step whose result came from the cache.
const ReasonCache = resultcache.ReasonCache

// ReasonRejected is the reason of a step that asked a person, who said no. Where nobody
// answered it is steps.ReasonUnanswered.
const ReasonRejected = waiting.ReasonRejected

// ErrNoApprover is what a function for WithApproval answers when it has nobody to ask, or
// who was asked leaves the answer to others.
var ErrNoApprover = waiting.ErrNoApprover

// Confirmation is what a person is shown who is asked about a call of a model, beside
// what the Preview says.
type Confirmation = gostep.Confirmation

// Content is what a tool answers where a model and a person are to be told different
// things, or more than text. A StepFunc may return one.
type Content = gostep.Content

// Part is a text, or data of a type: an image, a sound.
type Part = gostep.Part

// FileDiff shows what a tool changes in a file.
type FileDiff = gostep.FileDiff

// TextContent is content of one text, and what a person is shown instead; "" for the
// same.
func TextContent(text, display string) *Content { return gostep.TextContent(text, display) }

// Command is a command that a step written in Go leaves its work to: a StepFunc returns
// one, and the step is that command from then on. It runs as any command of a definition
// does: its output is shown, kept and bounded, its whole tree of processes ends when the
// step is cancelled, and it fails with its exit code. One of Args and Script is set.
type Command = gostep.Command

// StepFunc is a step written in Go. A text result is the step's output; so is the text of
// a *Content; any other value is its output as JSON and what {step.json} sees. An error fails the step,
// with the exit code of an *ExitError in it, else 1. It must return soon after
// ctx is done.
type StepFunc = gostep.StepFunc

// StepInput is what a step written in Go is given. It is valid during the call.
type StepInput = gostep.StepInput

// ExitError is an error that chooses the step's exit code. Err says why, and may
// be nil.
type ExitError = gostep.ExitError

// GoTool describes a tool written in Go.
type GoTool = gostep.GoTool

// GoStep is a step written in Go, for a tool.Definition made in Go.
func GoStep(name string, f StepFunc) *tool.Step { return gostep.GoStep(name, f) }

// Typed is a function over Go types as a StepFunc. The tool's parameters are decoded
// into In by the names of encoding/json; what f returns is the step's result. A
// parameter that does not fit fails the step and is not retried.
func Typed[In, Out any](f func(context.Context, In) (Out, error)) StepFunc { return gostep.Typed(f) }

// TypedTool is a tool written in Go over Go types: the fields of the struct In are
// its parameters (see ParametersOf), what f returns is its result. The error reports
// a field that cannot be a parameter.
func TypedTool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) (GoTool, error) {
	return gostep.TypedTool(name, description, f)
}

// ParametersOf describes the fields of a struct as parameters. A field is called
// what encoding/json calls it. Its tags say the rest: description:"...",
// default:"...", enum:"a,b". It is required unless it has a default, is a pointer or
// is omitempty. Slices are arrays, structs and maps are objects.
func ParametersOf[T any]() ([]*tool.Parameter, error) { return gostep.ParametersOf[T]() }

// ParamsOf are the fields of a struct, or the entries of a map, as parameters for
// Engine.Run: what encoding/json makes of them, without rounding numbers.
func ParamsOf(v any) (map[string]any, error) { return gostep.ParamsOf(v) }

// ReasonCleanup is the reason of a run that succeeded, or of a step that uses a tool, of
// which a cleanup failed. The message says why.
const ReasonCleanup = graph.ReasonCleanup

// CompatibilityLevel is what min-cycod-version is compared with.
const CompatibilityLevel = compile.CompatibilityLevel

// CacheVerdict is what would become of a step's kept result.
type CacheVerdict = preview.CacheVerdict

// The verdicts.
const (
	CacheReused  = preview.CacheReused  // it would be used
	CacheRuns    = preview.CacheRuns    // the step would run
	CacheUnknown = preview.CacheUnknown // nothing that is known now has changed, but not all is
)

// CacheReason is one reason why a step would run.
type CacheReason = preview.CacheReason

// CacheExplanation says whether a kept result of a step would be reused now, and if
// not, why. It holds no secrets. Its JSON form is flowrun/explain-cache.v1.
type CacheExplanation = preview.CacheExplanation

// ExplainCacheSchema names the JSON form of a CacheExplanation.
const ExplainCacheSchema = preview.ExplainCacheSchema

// NotCachedError says that a step has no cache to explain.
type NotCachedError = preview.NotCachedError

// Preview is what a run would do, as far as that is known before it starts.
type Preview = preview.Preview

// PreviewTool is a tool in a Preview: what it asks for, and what it does beside its
// steps.
type PreviewTool = preview.PreviewTool

// PreviewStep is one step of a Preview. Steps of one wave can run at the same
// time.
type PreviewStep = preview.PreviewStep

// Surroundings are what a tool or a step gives to the programs it starts, beside their
// commands.
type Surroundings = preview.Surroundings

// PreviewVariable is a variable of the environment, secrets masked.
type PreviewVariable = preview.PreviewVariable
