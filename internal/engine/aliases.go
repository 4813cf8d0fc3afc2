package flowrun

import (
	"context"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/compile"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/engine/graph"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/plan"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/engine/resultcache"
	"github.com/flowrun/flowrun/internal/engine/script"
	"github.com/flowrun/flowrun/internal/engine/toolstate"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/steps"
	"github.com/flowrun/flowrun/tool"
)

// ParamsError reports everything that is wrong with the parameters of one call.
type ParamsError = value.ParamsError

// ParamProblem describes what is wrong with one parameter. Code is one of missing, unknown, type, validation,
// transform, default, nul, dash, refused, withheld, recorded, changed.
type ParamProblem = value.ParamProblem

// ObservedRun describes a run that starts, or is resumed, to an Observer.
type ObservedRun = history.ObservedRun

// TraceContext is a W3C trace context, in the form of the variables TRACEPARENT and TRACESTATE. Both are "" when
// there is none.
type TraceContext = history.TraceContext

// NewID returns a new run id: nine characters for the time in milliseconds, then four random ones. Ids sort by start
// time, and two ids of the same millisecond differ.
func NewID(now time.Time) string { return history.NewID(now) }

// DemandKind is the kind of thing that a run queues for.
type DemandKind = history.DemandKind

// The kinds of lock demands.
const (
	DemandLock      = history.DemandLock      // one slot of a lock
	DemandActiveRun = history.DemandActiveRun // one of a limited number of concurrent runs of a tool
	DemandPool      = history.DemandPool      // slots of a pool
)

// LockDemand is something that a run holds from its start to its end, or a step during an attempt. At most Slots of it
// can be held at once.
type LockDemand = history.LockDemand

// Rate limits how often something starts.
type Rate = history.Rate

// Pool is what steps share across runs.
type Pool = history.Pool

// Rates are the states of pools with a Rate.
type Rates = history.Rates

// QueueEntry is a run, or a step of one, in a Queue.
type QueueEntry = history.QueueEntry

// Queue lists all runs and steps that have lock demands, in the order in which they asked.
type Queue = history.Queue

// QueuePosition describes a run in the queue.
type QueuePosition = history.QueuePosition

// Obstacle is a lock demand that is not met yet, with the runs that hold the lock.
type Obstacle = history.Obstacle

// Holder is a run that holds a lock which others wait for.
type Holder = history.Holder

// Admission describes what a run queues for: its locks and its slots.
type Admission = history.Admission

// Memory is a Store that lasts as long as the program: history for programs that embed flowrun, and for tests. Values
// are copied in both directions and pass through JSON, as they would with a file, so that both behave alike; numbers
// among a Record's parameters come back as json.Number. An owner keeps its run until it closes the Ledger.
type Memory = history.Memory

// NewMemory returns an empty Memory.
func NewMemory() *Memory { return history.NewMemory() }

// Question is what a step of a run asks a person. It holds no secrets. Its texts come from the author of the tool:
// escape them before you print them to a terminal.
type Question = history.Question

// Answer is a person's reply to a Question.
type Answer = history.Answer

// ErrAnswered reports that a question has already been answered: the first answer is kept. The error that wraps it
// says who gave it.
var ErrAnswered = history.ErrAnswered

// Answered returns an ErrAnswered with the answer that is kept. It is for implementations of Store.
func Answered(a Answer) error { return history.Answered(a) }

// Store keeps runs: what each was asked to do, all its events, and which process owns it now. An Engine without a
// Store writes nothing. The flowrun command uses a SQLite file; NewMemory is a Store for programs that need history
// only while they run. You can write your own and test it against the contract in internal/test/storetest.
//
// A run has one owner at a time. Owners are counted: each has an epoch one higher than the one before, and writes of
// an earlier owner are rejected with ErrFenced. A Store is safe for concurrent use.
type Store = history.Store

// Ledger is the journal of one run, held by its owner. Append and Sync are those of dag.Journal; both fail with
// ErrFenced once another owner has the run. When the events contain the end of the run, Append also updates what Runs
// lists.
type Ledger = history.Ledger

// Errors of a Store. They may be wrapped.
var (
	ErrNoRun   = history.ErrNoRun
	ErrLive    = history.ErrLive
	ErrChanged = history.ErrChanged
	ErrFenced  = history.ErrFenced
)

// Record is what a run was asked to do: enough to resume it, and no secrets.
type Record = history.Record

// RecordedEnv is a RunEnv without the environment, which may hold secrets: a resumed run gets the environment of the
// process that resumes it.
type RecordedEnv = history.RecordedEnv

// RunInfo is a run in a list.
type RunInfo = history.RunInfo

// Query selects the runs to list. The zero Query selects all of them.
type Query = history.Query

// AmbiguousError reports that several run ids begin with the same prefix.
type AmbiguousError = history.AmbiguousError

// Latest is the word for the newest run, in place of an id.
const Latest = history.Latest

// FindRun returns the id of the one run that word names: a full id, a prefix that only one id has, or Latest. Errors:
// ErrNoRun, an *AmbiguousError.
func FindRun(ctx context.Context, s Store, word string) (string, error) {
	return history.FindRun(ctx, s, word)
}

// ConfinementError reports that the security settings of a tool cannot be enforced on this machine. The run was
// refused before its first step.
type ConfinementError = outcome.ConfinementError

// StateID identifies the tool that keeps values between its runs: its name and the file of its definition.
type StateID = history.StateID

// StateValue is one value that a tool keeps.
type StateValue = history.StateValue

// StateError means that a Store does not keep a value.
type StateError = history.StateError

// NoStateError reports that a tool keeps values between its runs, but the engine has no Store.
type NoStateError = outcome.NoStateError

// NoQueueError reports that a tool takes locks or limits its concurrent runs, but the engine has no Store, which it
// needs to coordinate runs.
type NoQueueError = outcome.NoQueueError

// InterruptedError reports that a run is interrupted: steps were running, or may have been, when flowrun was killed,
// and a person must decide whether they run again.
type InterruptedError = outcome.InterruptedError

// WithheldError reports that steps which would not run again printed output that other steps read, and that this
// output is not available: it held a secret, or its log is gone.
type WithheldError = outcome.WithheldError

// WithheldStep is one step of a WithheldError.
type WithheldStep = outcome.WithheldStep

// OnlyError reports that a step cannot run alone: a step that it waits for has no result in the recorded run.
type OnlyError = outcome.OnlyError

// AwaitsAnswerError reports that a run is not resumed, because only an answer carries it on.
type AwaitsAnswerError = outcome.AwaitsAnswerError

// ErrNotStarted reports why a run that failed before its first step could start cannot be resumed or retried: its
// record does not say what it would have done.
var ErrNotStarted = outcome.ErrNotStarted

// StepWord returns a step's path as you write it on a command line: quoted if it contains characters that a shell
// would interpret, such as the brackets of an item.
func StepWord(path string) string { return plan.StepWord(path) }

// Permission is an entry of a tool's required-permissions, as it applies to one call.
type Permission = permission.Permission

// CodeMissingVariable and CodeBadVariable are the problem codes of a tool whose environment does not match its
// schema.
const (
	CodeMissingVariable = toolstate.CodeMissingVariable
	CodeBadVariable     = toolstate.CodeBadVariable
)

// UnsupportedError reports that a tool does not run on this platform.
type UnsupportedError = plan.UnsupportedError

// UsedTool is a tool that a plan runs.
type UsedTool = plan.UsedTool

// StepError reports that a plan has no step of that name.
type StepError = plan.StepError

// FetchRequest is a request that a script makes with fetch, or a step of kind http.
type FetchRequest = call.FetchRequest

// StatusRequest asks Config.HTTP for the status of an address.
type StatusRequest = steps.StatusRequest

// FetchAnswer is the response to a FetchRequest.
type FetchAnswer = call.FetchAnswer

// Egress is the way out of the network of steps that may reach only some hosts.
type Egress = steps.Egress

// EgressForward is a listener in that network whose connections go to one port of this machine.
type EgressForward = steps.EgressForward

// ModelRequest is what a script asks a language model with api.askModel.
type ModelRequest = call.ModelRequest

// EnvironmentError reports that part of a tool's environment is not available: an env file, or the value of a secret.
// It holds no values.
type EnvironmentError = call.EnvironmentError

// Reasons of steps whose script failed.
const (
	ReasonScript        = script.ReasonScript        // it threw an error, or returned an invalid value
	ReasonScriptTimeout = script.ReasonScriptTimeout // it exceeded limits.js-timeout
	ReasonScriptMemory  = script.ReasonScriptMemory  // it exceeded limits.js-memory
	ReasonScriptLost    = script.ReasonScriptLost    // the process that ran it was killed or crashed
)

// CodeToolFailure is the problem code of a tool that returned {success: false}.
const CodeToolFailure = script.CodeToolFailure

// ReasonCache is the reason of a reused step whose result came from the cache.
const ReasonCache = resultcache.ReasonCache

// ReasonRejected is the reason of a step that asked a person and was rejected. If nobody answered in time, the reason
// is steps.ReasonUnanswered.
const ReasonRejected = waiting.ReasonRejected

// ErrNoApprover is the error that the function of WithApproval returns when it has nobody to ask, or when the person
// it asked leaves the answer to others.
var ErrNoApprover = waiting.ErrNoApprover

// Confirmation is what a person sees, beside the Preview, when asked to approve a call that a model made.
type Confirmation = gostep.Confirmation

// Content is the result of a tool that tells a model and a person different things, or that is more than text. A
// StepFunc may return one.
type Content = gostep.Content

// Part is one piece of Content: a text, or data of a media type, such as an image or a sound.
type Part = gostep.Part

// FileDiff shows what a tool changes in a file.
type FileDiff = gostep.FileDiff

// TextContent returns Content with one text. display is what a person sees instead; "" shows the same text.
func TextContent(text, display string) *Content { return gostep.TextContent(text, display) }

// Command is a command that a step written in Go hands its work to: a StepFunc returns one, and from then on the step
// is that command. It runs like any command of a definition: its output is shown, stored and limited, its whole
// process tree ends when the step is cancelled, and a nonzero exit code fails the step. Set either Args or Script.
type Command = gostep.Command

// StepFunc is a step written in Go. A text result is the step's output, and so is the text of a *Content. Any other
// value becomes the output as JSON, which is also what {step.json} refers to. An error fails the step, with the exit
// code of an *ExitError in it, else 1. A StepFunc must return soon after ctx is done.
type StepFunc = gostep.StepFunc

// StepInput is the input of a step written in Go. It is valid only during the call.
type StepInput = gostep.StepInput

// ExitError is an error that sets the step's exit code. Err says why, and may be nil.
type ExitError = gostep.ExitError

// GoTool describes a tool written in Go.
type GoTool = gostep.GoTool

// GoStep returns a step written in Go, for a tool.Definition built in Go.
func GoStep(name string, f StepFunc) *tool.Step { return gostep.GoStep(name, f) }

// Typed turns a function over Go types into a StepFunc. The tool's parameters are decoded into In by the names of
// encoding/json; what f returns is the step's result. A parameter that does not fit In fails the step, which is not
// retried.
func Typed[In, Out any](f func(context.Context, In) (Out, error)) StepFunc { return gostep.Typed(f) }

// TypedTool returns a tool written in Go over Go types: the fields of the struct In are its parameters (see
// ParametersOf), what f returns is its result. The error names a field that cannot be a parameter.
func TypedTool[In, Out any](name, description string, f func(context.Context, In) (Out, error)) (GoTool, error) {
	return gostep.TypedTool(name, description, f)
}

// ParametersOf describes the fields of a struct as parameters. A field has the name that encoding/json gives it. Its
// tags set the rest: description:"...", default:"...", enum:"a,b". It is required unless it has a default, is a
// pointer or is omitempty. Slices are arrays, structs and maps are objects.
func ParametersOf[T any]() ([]*tool.Parameter, error) { return gostep.ParametersOf[T]() }

// ParamsOf returns the fields of a struct, or the entries of a map, as parameters for Engine.Run, encoded as
// encoding/json does, without rounding numbers.
func ParamsOf(v any) (map[string]any, error) { return gostep.ParamsOf(v) }

// ReasonCleanup is the reason of a run, or of a step that uses a tool, that succeeded but whose cleanup failed. The
// message says why.
const ReasonCleanup = graph.ReasonCleanup

// CompatibilityLevel is the version that min-cycod-version is compared with.
const CompatibilityLevel = compile.CompatibilityLevel

// CacheVerdict says whether a cached result of a step would be reused.
type CacheVerdict = preview.CacheVerdict

// The verdicts.
const (
	CacheReused  = preview.CacheReused  // the cached result would be used
	CacheRuns    = preview.CacheRuns    // the step would run
	CacheUnknown = preview.CacheUnknown // nothing known so far has changed, but not everything can be known before the run
)

// CacheReason is one reason why a step would run again.
type CacheReason = preview.CacheReason

// CacheExplanation says whether a cached result of a step would be reused now, and if not, why. It holds no secrets.
// Its JSON form is flowrun/explain-cache.v1.
type CacheExplanation = preview.CacheExplanation

// ExplainCacheSchema names the JSON form of a CacheExplanation.
const ExplainCacheSchema = preview.ExplainCacheSchema

// NotCachedError reports that a step has no cache to explain.
type NotCachedError = preview.NotCachedError

// Preview describes what a run would do, as far as that is known before it starts.
type Preview = preview.Preview

// PreviewTool is a tool in a Preview: what it asks for, and what it does beside its steps.
type PreviewTool = preview.PreviewTool

// PreviewStep is one step of a Preview. Steps of the same wave can run at the same time.
type PreviewStep = preview.PreviewStep

// MockedCall is what a call of a tool in JavaScript would return if its bridges answered with their mocks.
type MockedCall = script.MockedCall

// MockedBridge is the answer of the mock of one bridge.
type MockedBridge = script.MockedBridge

// MockedResult is a value, or why there is none. Secrets are masked.
type MockedResult = script.MockedResult

// Surroundings is what a tool or a step provides to the programs it starts, beside their commands.
type Surroundings = preview.Surroundings

// PreviewVariable is a variable of the environment. Secrets are masked.
type PreviewVariable = preview.PreviewVariable
