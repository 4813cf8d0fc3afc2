package outcome

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/plan"
)

// ConfinementError says that a tool's security cannot be kept here: the run was refused
// before its first step.
type ConfinementError struct {
	Tool     string
	Problems []string // one for each demand, each with its reason
}

func (e *ConfinementError) Error() string {
	return fmt.Sprintf("tool %s is refused: %s; docs/isolation.md says what is kept where", e.Tool, strings.Join(e.Problems, "; "))
}

// NoQueueError says that a tool takes locks, or bounds how many runs of it there may be,
// and that the engine has no Store in which runs could know of each other.
type NoQueueError struct {
	Tool  string
	Needs []history.LockDemand
}

func (e *NoQueueError) Error() string {
	var words []string
	for _, n := range e.Needs {
		words = append(words, n.Title())
	}
	return fmt.Sprintf("tool %s cannot run without a history: runs learn from it who has what they need (%s)", e.Tool, strings.Join(words, ", "))
}

// InterruptedError says that a run is interrupted: steps of it were, or may have been,
// running when flowrun was killed, and a person must say whether they run again.
type InterruptedError struct {
	Run   string
	Steps []dag.ID
	Retry bool // it was asked for a new run, which cannot be without them
}

func (e *InterruptedError) Error() string {
	const most = 20
	words := make([]string, 0, most)
	for i, s := range e.Steps {
		if i == most {
			words = append(words, fmt.Sprintf("%d more", len(e.Steps)-most))
			break
		}
		words = append(words, string(s))
	}
	if e.Retry {
		return fmt.Sprintf("cannot retry run %s: flowrun was killed while steps were running, or may have been: %s; check whether it is safe to run them again, then name the first: --from %s",
			e.Run, strings.Join(words, ", "), plan.StepWord(words[0]))
	}
	return fmt.Sprintf("run %s is interrupted: flowrun was killed while steps were running, or may have been: %s; check whether it is safe to run them again, then resume with --rerun-interrupted",
		e.Run, strings.Join(words, ", "))
}

// WithheldError says that steps which would not run again printed what others
// read, and it is not available: it held a secret, or its log is gone.
type WithheldError struct {
	Run   string
	Steps []WithheldStep
}

// WithheldStep is one of them.
type WithheldStep struct {
	Step   string // whose output it is
	Reader string // the step that reads it; "" for the tool's output
	Reason error  // steps.ErrWithheld or steps.ErrLost
}

func (e *WithheldError) Error() string {
	const most = 20
	lines := make([]string, min(len(e.Steps), most))
	for i, s := range e.Steps[:len(lines)] {
		reader := "the tool's output"
		if s.Reader != "" {
			reader = "step " + s.Reader
		}
		lines[i] = fmt.Sprintf("%s reads the output of step %s: %v; let it run again: flowrun retry %s --from %s", reader, s.Step, s.Reason, e.Run, plan.StepWord(s.Step))
	}
	if more := len(e.Steps) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("and %d steps more", more))
	}
	return strings.Join(lines, "\n")
}

// OnlyError says that a step cannot run alone: something it waits for has no
// result in the recorded run.
type OnlyError struct{ Step, Missing string }

func (e *OnlyError) Error() string {
	return fmt.Sprintf("cannot run %s alone: it waits for %s, which has no good result in that run; retry --from %s instead", e.Step, e.Missing, plan.StepWord(e.Missing))
}

// ErrNotStarted is why a run cannot be resumed or retried that failed before its first
// step could start: nothing is known of what it would have done.
var ErrNotStarted = errors.New("the run could not begin: there is nothing to resume; start a new one")

// Errors of a service that runs tools for others.
var (
	ErrDraining = errors.New("the service is stopping and starts no more runs")
	ErrRefused  = errors.New("refused by the approval policy")
	ErrPath     = errors.New("a tool is asked for by its name, not by a path")
	// ErrNotRunning says that there is nothing to cancel: no process executes the run.
	ErrNotRunning    = errors.New("the run is interrupted: nobody executes it")
	ErrNoQuestion    = errors.New("no step waits for an answer there")
	ErrManyQuestions = errors.New("several steps wait for an answer: name one")
	ErrTooLate       = errors.New("it is too late to answer")
	ErrNoSchedule    = errors.New("there is no such schedule")
)
