package outcome

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/shellword"
)

// ConfinementError reports that this machine cannot enforce the security section of a tool. The run was refused before
// its first step.
type ConfinementError struct {
	Tool     string
	Problems []string // one for each demand, with its reason
}

func (e *ConfinementError) Error() string {
	return fmt.Sprintf("tool %s is refused: %s; flowrun docs isolation lists what each platform can enforce", e.Tool, strings.Join(e.Problems, "; "))
}

// NoQueueError reports that a tool takes locks or limits its runs, and that there is no Store in which runs of several
// processes could see each other.
type NoQueueError struct {
	Tool  string
	Needs []history.LockDemand
}

func (e *NoQueueError) Error() string {
	var words []string
	for _, n := range e.Needs {
		words = append(words, n.Title())
	}
	return fmt.Sprintf("tool %s cannot run without a history, because it needs %s", e.Tool, strings.Join(words, ", "))
}

// NoStateError reports that a tool keeps values between its runs, and that the engine has no Store that could keep them.
type NoStateError struct{ Tool string }

func (e *NoStateError) Error() string {
	return fmt.Sprintf("tool %s cannot run without a history, because it, or a tool that it uses, keeps state between its runs", e.Tool)
}

// PoolError reports a step that wants slots of a pool which the settings do not have, or more than it has.
type PoolError struct {
	Tool, Step, Pool string
	Wants, Has       int      // Has is 0 if there is no such pool
	Pools            []string // those of the settings
}

func (e *PoolError) Error() string {
	switch {
	case e.Has > 0:
		return fmt.Sprintf("step %s of tool %s wants %d slots of pool %s, which has %d; lower slots, or raise it in the settings", e.Step, e.Tool, e.Wants, e.Pool, e.Has)
	case len(e.Pools) == 0:
		return fmt.Sprintf("step %s of tool %s uses pool %s, and the settings have no pools; add it to them, such as pools: {%[3]s: 2}; those of a project count once it is trusted (flowrun trust)", e.Step, e.Tool, e.Pool)
	}
	return fmt.Sprintf("step %s of tool %s uses pool %s, which the settings do not have; they have %s; add it to them, or use one of these", e.Step, e.Tool, e.Pool, strings.Join(e.Pools, ", "))
}

// InterruptedError reports that a run is interrupted. Some of its steps were running, or may have been, when flowrun was
// killed. A person has to decide whether they run again.
type InterruptedError struct {
	Run   string
	Steps []dag.ID
	Retry bool // a new run was requested, which needs these steps
}

func (e *InterruptedError) Error() string {
	if e.Retry {
		return fmt.Sprintf("cannot retry run %s: these steps may have been running when flowrun was killed: %s; if it is safe to run them again, add --from %s",
			e.Run, plural.Names(e.Steps, maxNamed), shellword.Sh(string(e.Steps[0])))
	}
	return fmt.Sprintf("run %s is interrupted: these steps may have been running when flowrun was killed: %s; if it is safe to run them again, resume with --rerun-interrupted",
		e.Run, plural.Names(e.Steps, maxNamed))
}

// maxNamed is how many steps a message names.
const maxNamed = 20

// WithheldError reports that steps which would not run again have output that others read, and that the output is not
// available: it contained a secret, or its log is missing.
type WithheldError struct {
	Run   string
	Steps []WithheldStep
}

// WithheldStep is one of these steps.
type WithheldStep struct {
	Step   string // the step with the output
	Reader string // the step that reads the output; "" for the tool's output
	Reason error  // dag.ErrWithheld or output.ErrLost
}

func (e *WithheldError) Error() string {
	const most = 20
	lines := make([]string, min(len(e.Steps), most))
	for i, s := range e.Steps[:len(lines)] {
		reader := "the tool's output"
		if s.Reader != "" {
			reader = "step " + s.Reader
		}
		lines[i] = fmt.Sprintf("%s reads the output of step %s: %v; to run that step again: flowrun retry %s --from %s", reader, s.Step, s.Reason, e.Run, shellword.Sh(s.Step))
	}
	if more := len(e.Steps) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more steps", more))
	}
	return strings.Join(lines, "\n")
}

// OnlyError reports that a step cannot run alone: a step that it waits for has no result in the recorded run.
type OnlyError struct{ Step, Missing string }

func (e *OnlyError) Error() string {
	return fmt.Sprintf("cannot run %s alone: its upstream step %s did not succeed in that run; use retry --from %s instead", e.Step, e.Missing, shellword.Sh(e.Missing))
}

// AwaitsAnswerError reports that a run is not resumed, because only an answer carries it on.
type AwaitsAnswerError struct {
	Run   string
	Steps []dag.ID // those that wait, at least one
}

func (e *AwaitsAnswerError) Error() string {
	return fmt.Sprintf("run %s is not resumed, because it waits for an answer: %s; to answer: flowrun approve %[1]s %[3]s, or flowrun reject %[1]s %[3]s",
		e.Run, plural.Names(e.Steps, maxNamed), shellword.Sh(string(e.Steps[0])))
}

// ErrNotStarted reports that a run failed before its first step could start. It cannot be resumed or retried, because it
// is unknown what it would have done.
var ErrNotStarted = errors.New("the run could not start, so there is nothing to resume; start a new run")

// ErrOtherEngine reports that a run of another engine than this machine's cannot be resumed or retried.
var ErrOtherEngine = errors.New("it is on Temporal, where a run that has ended is not continued")

// ErrNoneSuits reports that there are runs, but none of them is one that the latest run could mean.
var ErrNoneSuits = errors.New("the command is for none of the runs")

// NotEditableError reports that the service does not change a definition.
type NotEditableError struct{ Reason string }

func (e *NotEditableError) Error() string { return "the definition is read-only: " + e.Reason }

// Errors of a service that runs tools for others.
var (
	ErrDraining = errors.New("the service is stopping and starts no more runs")
	ErrRefused  = errors.New("refused by the approval policy")
	ErrPath     = errors.New("a tool must be given by name, not by path")
	// ErrNotRunning reports that there is nothing to cancel: no process executes the run.
	ErrNotRunning      = errors.New("the run is interrupted, so there is nothing to cancel")
	ErrNoQuestion      = errors.New("no such step is waiting for an answer")
	ErrManyQuestions   = errors.New("several steps are waiting for an answer; name one")
	ErrTooLate         = errors.New("it is too late to answer")
	ErrNoSchedule      = errors.New("there is no such schedule")
	ErrBackfill        = errors.New("cannot backfill the schedule")
	ErrBackfillRunning = errors.New("a backfill of the schedule is running")
	ErrSourceChanged   = errors.New("the definition was changed by somebody else")
)
