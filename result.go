package flowrun

import (
	"context"
	"errors"
	"slices"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/library"
)

// Result is the outcome of a run. Its JSON form is flowrun/run.v1, to which fields are only ever added. It holds no
// secrets.
//
//	type Result struct {
//		ID       string
//		Tool     string
//		RetryOf  string     // the run that this one retried
//		Attempt  int        // its number among the runs that retry each other, which counts from 1; 0 for a run that retries none
//		Origin   string     // of a recorded run: who started it, see WithOrigin
//		Status   dag.Status // Waiting if the run waits for an answer, Interrupted if the engine could not bring it to its end
//		ExitCode int
//		Reason   string
//		Message  string
//		Notes    []string  // additions to the status, such as how many failures were tolerated
//		Started  time.Time // when the run was created
//		Ended    time.Time // zero if it has not ended
//		LastSign time.Time // of an interrupted run: see history.RunInfo
//		// RetryAt is when the run is retried automatically (retry-run), as another run; zero means never. The engine does not wait for
//		// it: a program that embeds the engine loads the run then, and continues it with RecordedRun.NextAttempt.
//		RetryAt time.Time
//		AsOf    time.Time // when this was found out: a run that is live or waiting has taken so long until then
//		// Waited is the part of Duration in which the run waited for a person or a time and did nothing else, and Idle
//		// that in which it did not wait and had no owner, between an interruption or a failure and the resume.
//		Waited time.Duration
//		Idle   time.Duration
//		Params map[string]any    // as bound, secrets masked
//		Labels map[string]string // those of the tool and of the caller, see WithLabels; nil if the run is not recorded
//		// Enforced reports that the permissions of the tool are enforced. Unenforced lists those that should be but are
//		// not; see Config.AllowUnenforced.
//		Enforced   bool
//		Unenforced []string
//		Withheld   []string // of a recorded run: the parameters that were not recorded because they are secret
//		// Definitions are those that the run used, that of the tool first; nil if the run is not recorded.
//		Definitions []Definition
//		Output      string // at most 10 MB; see WithStdout
//		// Outputs are the declared outputs by name, secrets masked; nil if there are none. Numbers are json.Numbers.
//		Outputs map[string]any
//		// InvalidUTF8 reports that bytes of Output that are not UTF-8 were replaced.
//		InvalidUTF8 bool
//		Steps       []StepResult // in plan order, a nested tool's steps after the step that uses it
//		// Tolerated lists the paths of steps that failed without failing the run.
//		Tolerated []string
//		// LockDemands lists what the run took at its start, or waits for.
//		LockDemands []history.LockDemand
//		// Language is the language of messages in the execution log: de, or English. Everything else is English.
//		Language string
//		// Notices are what people should know beside the status, in the order in which it arose.
//		Notices []dag.Notice
//		// Permissions says which permissions the run needs, if WithPermissionTrace was given; else nil.
//		Permissions *permtrace.Report
//		// contains filtered or unexported fields
//	}
//
//	// Artifacts returns the artifacts of the run, in the order of the steps.
//	func (r *Result) Artifacts() []KeptArtifact
//
//	// Brief returns a copy in which the output and each stream of a step has at most that many bytes, for a summary of the run.
//	func (r *Result) Brief(most int) *Result
//
//	// CleanupFailed returns the paths of the cleanups that failed; for a tool in JavaScript, whose cleanup is a part of it, that of its step.
//	func (r *Result) CleanupFailed() []string
//
//	// Content returns what the run tells a model and a person: the content of the step that gave the output, if it returned any; else the output, if that is a JSON object with llmContent and perhaps returnDisplay, in the form of Content's own JSON; else the output as text.
//	func (r *Result) Content() *Content
//
//	// Decode reads the run's output, which must be JSON, into v.
//	func (r *Result) Decode(v any) error
//
//	// Duration returns how long the run took by the wall clock: from Started to Ended, to the last sign of life of an interrupted run, or to AsOf of one that is live or waiting.
//	func (r *Result) Duration() time.Duration
//
//	// Err returns nil for a run that succeeded, else a *RunError.
//	func (r *Result) Err() error
//
//	// ExecutionLog returns the outcome of the blocks of a Markdown tool that have ended, in their order; nil for other tools.
//	func (r *Result) ExecutionLog() []LogEntry
//
//	// FirstFailed returns the path of the innermost step that failed first, or "" if no step failed.
//	func (r *Result) FirstFailed() string
//
//	// MarshalJSON writes the result as flowrun/run.v1, with each step's streams up to its buffer-limit if their logs still exist.
//	func (r *Result) MarshalJSON() ([]byte, error)
//
//	// Report describes how a call of a discovered tool failed, in five lines for a model: both streams, an error of the call itself, exit code and signal.
//	func (r *Result) Report(why string) string
//
//	// Step returns the result of the step with that path, nil if there is none.
//	func (r *Result) Step(path string) *StepResult
//
//	// Until returns the end of Duration.
//	func (r *Result) Until() time.Time
//
//	// WriteJSON writes the indented document of MarshalJSON.
//	func (r *Result) WriteJSON(w io.Writer) error
type Result = runresult.Result

// StepResult is the outcome of one step. Output and Error are its streams up to dag.InlineLimit; if StdoutFile is
// set, that file has all of the output, and StderrFile likewise.
//
//	type StepResult struct {
//		ID         string
//		Status     dag.Status
//		ExitCode   int
//		Attempts   int
//		Fallback   bool
//		Output     string
//		Error      string
//		Outputs    map[string]any // see Result.Outputs
//		Reason     string
//		Message    string
//		Started    time.Time     // of the first attempt
//		Ended      time.Time     // zero if it has not ended
//		LastSign   time.Time     // of a step that an interrupted run left running: see Result
//		Waited     time.Duration // see Result
//		Idle       time.Duration // see Result
//		Truncated  bool
//		StdoutFile string
//		StderrFile string
//		Problem    *dag.Problem   // why it failed, for programs; nil if Message says it all
//		Wait       *dag.Wait      // what a step that is Waiting waits for, else nil
//		Usage      dag.Usage      // what the processes of its last attempt used
//		Refused    int            // number of connections of its last attempt that its permissions do not grant
//		Artifacts  []dag.Artifact // files that were kept; of a loop, group or nested tool only their paths
//		// contains filtered or unexported fields
//	}
//
//	// Duration is that of Result for one step: 0 if it has not started.
//	func (s *StepResult) Duration() time.Duration
//
//	// Until returns the end of Duration.
//	func (s *StepResult) Until() time.Time
type StepResult = runresult.StepResult

// KeptArtifact is an artifact of a run.
//
//	type KeptArtifact struct {
//		Step string `json:"step"` // path of the step
//		dag.Artifact
//	}
type KeptArtifact = runresult.KeptArtifact

// RunError reports that a run did not succeed.
//
//	type RunError struct{ Result *Result }
//
//	func (e *RunError) Error() string
//
//	// Unwrap returns the error that package context uses for the same reason: context.DeadlineExceeded for a run that timed out, context.Canceled for one that was cancelled.
//	func (e *RunError) Unwrap() []error
type RunError = runresult.RunError

// LoadRun reads a recorded run. It uses the definitions stored with the run; lib provides loaders, and tools written
// in Go. A known plan, as Compile returned it, is used if it is of the same definitions. A run whose definitions cannot be
// compiled has the outermost steps that have begun, and Resume and Retry return the reason: a tool was made in Go, and is
// neither known nor in lib; or this version of flowrun no longer accepts a definition. Error: history.ErrNoRun.
func LoadRun(ctx context.Context, s history.Store, lib *library.Library, id string, known ...*Plan) (*RecordedRun, error) {
	return engine.LoadRun(ctx, s, lib, id, known...)
}

// ResumeOpen continues the runs of the plan's tool that have begun and not ended, oldest first, one after the other: those of
// a program that was killed. Call it when a program starts. Runs that are active in another process, or wait for an answer,
// are left alone. The results are those of the runs that it continued. The error joins those of all runs that could not be
// continued: for a run that a person must decide about, since a step was running that may not run twice, an
// *InterruptedError.
func ResumeOpen(ctx context.Context, e *Engine, s history.Store, p *Plan, options ...RunOption) ([]*Result, error) {
	open, err := s.Runs(ctx, history.Query{Tool: p.Name(), Open: true})
	if err != nil {
		return nil, err
	}
	var results []*Result
	var failed []error
	for _, info := range slices.Backward(open) {
		if info.Live() || info.Status == dag.Waiting {
			continue
		}
		res, err := resumeOpen(ctx, e, s, p, info.ID, options)
		switch {
		case err == nil:
			results = append(results, res)
		case !errors.Is(err, history.ErrLive) && !errors.Is(err, history.ErrChanged):
			failed = append(failed, err)
		}
	}
	return results, errors.Join(failed...)
}

func resumeOpen(ctx context.Context, e *Engine, s history.Store, p *Plan, id string, options []RunOption) (*Result, error) {
	lib := library.New(library.Config{})
	run, err := LoadRun(ctx, s, lib, id, p)
	if err != nil {
		return nil, err
	}
	rest, err := run.Continue(lib, ResumeOptions{})
	if err != nil {
		return nil, err
	}
	return e.Continue(ctx, rest, options...)
}

// RecordedRun is a recorded run as far as it has come, possibly to its end. What a live owner does afterwards is not
// in it until Refresh is called. Several goroutines may use it as long as none calls Refresh. Resume, Retry and Continue work
// out what Engine.Continue is to do; Result is its outcome so far, Questions what it waits for.
//
//	type RecordedRun struct {
//		Record *history.Record
//		Info   history.RunInfo
//		Plan   *Plan       // compiled from the definitions the run was started with, in which secrets are masked
//		Events []dag.Event // all of them, in order
//		// contains filtered or unexported fields
//	}
//
//	// ChangedFiles returns the files of definitions of the run whose text is another one than when the run began.
//	func (p *RecordedRun) ChangedFiles(lib *library.Library) []string
//
//	// Continue works out how a run that has not ended is carried on: after an answer, the end of a question's time, a restart, a crash.
//	func (p *RecordedRun) Continue(lib *library.Library, o ResumeOptions) (*Continuation, error)
//
//	// Definitions returns the definitions that the run used, that of its tool first, each once.
//	func (p *RecordedRun) Definitions() []runresult.Definition
//
//	// InWorkspace returns the run as one of a project that has moved: its working directory is dir, and so are the files of its definitions below the old one.
//	func (p *RecordedRun) InWorkspace(lib *library.Library, dir string) (*RecordedRun, error)
//
//	// NextAttempt works out the run that follows this one automatically, at Info.RetryAt: a retry with the same parameters, labels and origin, in which every step runs again or, with reuse, as in Retry.
//	func (p *RecordedRun) NextAttempt(lib *library.Library) (*Continuation, error)
//
//	// NoStep returns a *StepError: the run has no step of that path.
//	func (p *RecordedRun) NoStep(path string) error
//
//	// Of reports whether the run is one of the tool that a caller calls name: the tool's name, or the file it was read from.
//	func (p *RecordedRun) Of(name string) bool
//
//	// Questions returns the open questions of the run, in plan order: of a run that is waiting or was left by its engine, and of a live one as far as it has come.
//	func (p *RecordedRun) Questions() []history.Question
//
//	// Refresh reads what has happened since the last call: the status of the run and its new events.
//	func (p *RecordedRun) Refresh(ctx context.Context, s history.Store) error
//
//	// Result returns the outcome of the run so far.
//	func (p *RecordedRun) Result() *Result
//
//	// Resume works out what a person's order to resume the run does.
//	func (p *RecordedRun) Resume(lib *library.Library, o ResumeOptions) (*Continuation, error)
//
//	// Retry works out a new run that reuses what succeeded in this one.
//	func (p *RecordedRun) Retry(lib *library.Library, o RetryOptions) (*Continuation, error)
//
//	// Snapshot returns the run as it is now, which a later Refresh of p does not change.
//	func (p *RecordedRun) Snapshot() *RecordedRun
type RecordedRun = engine.RecordedRun

// ResumeOptions set how a run is resumed.
//
//	type ResumeOptions struct {
//		// RerunInterrupted reruns every interrupted step, whatever its definition says.
//		RerunInterrupted bool
//		// RerunAsked reruns the steps that a person must decide about: the answer to Continuation.Asks.
//		RerunAsked bool
//		// Latest continues with the current definitions. Kept steps are matched by name.
//		Latest bool
//		// Params are the parameters that the record does not hold: the secret ones.
//		Params map[string]any
//	}
type ResumeOptions = engine.ResumeOptions

// RetryOptions set how a run is retried.
//
//	type RetryOptions struct {
//		From []string       // paths of steps that run again whatever their result
//		Only string         // the one step to run; "" is all
//		With map[string]any // parameters that change, and the secret ones
//	}
type RetryOptions = engine.RetryOptions

// Continuation describes how a recorded run would be resumed or retried. Inspect it, then pass it to
// Engine.Continue.
//
//	type Continuation struct {
//		// Remainder lists the steps that run again, those that never started, and those whose results are kept.
//		*dag.Remainder
//		// Asks lists the steps that were running when flowrun was killed, or may have been, and for which a person must
//		// decide whether they run again (on-interrupt: ask). While it is not empty, Continue refuses.
//		Asks []dag.ID
//		// Retry reports whether this is a new run that reuses the kept results, not the same run resumed.
//		Retry bool
//		// contains filtered or unexported fields
//	}
//
//	// Lost returns the steps that were running when flowrun was killed and count as failed for good (on-interrupt: fail).
//	func (g *Continuation) Lost() []dag.ID
//
//	// Plan returns the plan that is carried on: that of the recorded definitions, or of the current ones.
//	func (g *Continuation) Plan() *Plan
//
//	// Preview shows what continuing the run executes, including the steps whose results are kept.
//	func (g *Continuation) Preview() (*Preview, error)
//
//	// PreviewFor is Preview for an Engine with that Config.Enforce.
//	func (g *Continuation) PreviewFor(e Enforcement) (*Preview, error)
//
//	// Tools returns the tools of the plan that continues the run.
//	func (g *Continuation) Tools() []UsedTool
type Continuation = engine.Continuation

// InterruptedError reports that a run is interrupted: steps were running, or may have been, when flowrun was killed,
// and a person must decide whether they run again.
//
//	type InterruptedError struct {
//		Run   string
//		Steps []dag.ID
//		Retry bool // a new run was requested, which needs these steps
//	}
//
//	func (e *InterruptedError) Error() string
type InterruptedError = outcome.InterruptedError

// AwaitsAnswerError reports that a run is not resumed, because only an answer carries it on.
//
//	type AwaitsAnswerError struct {
//		Run   string
//		Steps []dag.ID // those that wait, at least one
//	}
//
//	func (e *AwaitsAnswerError) Error() string
type AwaitsAnswerError = outcome.AwaitsAnswerError

// WithheldError reports that steps which would not run again printed output that other steps read, and that this
// output is not available: it held a secret, or its log is gone.
//
//	type WithheldError struct {
//		Run   string
//		Steps []WithheldStep
//	}
//
//	func (e *WithheldError) Error() string
type WithheldError = outcome.WithheldError

// ConfinementError reports that the security settings of a tool cannot be enforced on this machine. The run was
// refused before its first step.
//
//	type ConfinementError struct {
//		Tool     string
//		Problems []string // one for each demand, with its reason
//	}
//
//	func (e *ConfinementError) Error() string
type ConfinementError = outcome.ConfinementError

// EnvironmentError reports that part of a tool's environment is not available: an env file, or the value of a secret.
// It holds no values.
//
//	type EnvironmentError struct {
//		Tool     string
//		Problems []string
//	}
//
//	func (e *EnvironmentError) Error() string
type EnvironmentError = call.EnvironmentError

// NoStateError reports that a tool keeps values between its runs, but the engine has no Store.
//
//	type NoStateError struct{ Tool string }
//
//	func (e *NoStateError) Error() string
type NoStateError = outcome.NoStateError

// PoolError reports a step that uses a pool which the settings do not have, or more slots than the pool has.
//
//	type PoolError struct {
//		Tool, Step, Pool string
//		Wants, Has       int      // Has is 0 if there is no such pool
//		Pools            []string // those of the settings
//	}
//
//	func (e *PoolError) Error() string
type PoolError = outcome.PoolError

// ErrNotStarted reports why a run that failed before its first step could start cannot be resumed or retried: its
// record does not say what it would have done.
var ErrNotStarted = outcome.ErrNotStarted

// ErrNoApprover is the error that the function of WithApproval returns when it has nobody to ask, or when the person
// it asked leaves the answer to others.
var ErrNoApprover = waiting.ErrNoApprover
