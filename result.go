package flowrun

import (
	"context"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/engine/outcome"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/engine/waiting"
	"github.com/flowrun/flowrun/library"
)

// Result is the outcome of a run. Its JSON form is flowrun/run.v1, to which fields are only ever added. It holds no
// secrets. Status, ExitCode, Reason and Message say how it ended, Output and Outputs what it printed and declared, Steps lists
// a StepResult for each step. Err turns a run that did not succeed into an error, Decode reads its output as JSON, Step finds
// the result of one step. All of it:
//
//	go doc github.com/flowrun/flowrun/internal/engine.Result
type Result = runresult.Result

// StepResult is the outcome of one step. Output and Error are its streams up to dag.InlineLimit; if StdoutFile is
// set, that file has all of the output, and StderrFile likewise.
type StepResult = runresult.StepResult

// KeptArtifact is an artifact of a run.
type KeptArtifact = runresult.KeptArtifact

// RunError reports that a run did not succeed.
type RunError = runresult.RunError

// LoadRun reads a recorded run. It uses the definitions stored with the run; lib provides loaders, and tools written
// in Go. A known plan, as Compile returned it, is used if it is of the same definitions; then nothing is compiled, unless
// the run was limited to some of its steps or in time. Errors: history.ErrNoRun; tool.Diagnostics if this version of flowrun no
// longer accepts the definitions.
func LoadRun(ctx context.Context, s history.Store, lib *library.Library, id string, known ...*Plan) (*RecordedRun, error) {
	return engine.LoadRun(ctx, s, lib, id, known...)
}

// RecordedRun is a recorded run as far as it has come, possibly to its end. What a live owner does afterwards is not
// in it until Refresh is called. Several goroutines may use it as long as none calls Refresh. Resume, Retry and Continue work
// out what Engine.Continue is to do; Result is its outcome so far, Questions what it waits for.
type RecordedRun = engine.RecordedRun

// ResumeOptions set how a run is resumed.
type ResumeOptions = engine.ResumeOptions

// RetryOptions set how a run is retried.
type RetryOptions = engine.RetryOptions

// Continuation describes how a recorded run would be resumed or retried. Inspect it, then pass it to
// Engine.Continue.
type Continuation = engine.Continuation

// InterruptedError reports that a run is interrupted: steps were running, or may have been, when flowrun was killed,
// and a person must decide whether they run again.
type InterruptedError = outcome.InterruptedError

// AwaitsAnswerError reports that a run is not resumed, because only an answer carries it on.
type AwaitsAnswerError = outcome.AwaitsAnswerError

// WithheldError reports that steps which would not run again printed output that other steps read, and that this
// output is not available: it held a secret, or its log is gone.
type WithheldError = outcome.WithheldError

// ConfinementError reports that the security settings of a tool cannot be enforced on this machine. The run was
// refused before its first step.
type ConfinementError = outcome.ConfinementError

// EnvironmentError reports that part of a tool's environment is not available: an env file, or the value of a secret.
// It holds no values.
type EnvironmentError = call.EnvironmentError

// NoStateError reports that a tool keeps values between its runs, but the engine has no Store.
type NoStateError = outcome.NoStateError

// NoQueueError reports that a tool takes locks or limits its concurrent runs, but the engine has no Store, which it
// needs to coordinate runs.
type NoQueueError = outcome.NoQueueError

// PoolError reports a step that uses a pool which the settings do not have, or more slots than the pool has.
type PoolError = outcome.PoolError

// ErrNotStarted reports why a run that failed before its first step could start cannot be resumed or retried: its
// record does not say what it would have done.
var ErrNotStarted = outcome.ErrNotStarted

// ErrNoApprover is the error that the function of WithApproval returns when it has nobody to ask, or when the person
// it asked leaves the answer to others.
var ErrNoApprover = waiting.ErrNoApprover
