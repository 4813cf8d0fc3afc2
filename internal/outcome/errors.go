package outcome

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/plan"
)

// ConfinementError reports that this machine cannot enforce the security section of a tool. The run was refused before
// its first step.
type ConfinementError struct {
	Tool     string
	Problems []string // one for each demand, with its reason
}

func (e *ConfinementError) Error() string {
	return fmt.Sprintf("tool %s is refused: %s; docs/isolation.md says what is kept where", e.Tool, strings.Join(e.Problems, "; "))
}

// NoQueueError reports that a tool takes locks or limits its runs, and that the engine has no Store in which runs could
// see each other.
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

// InterruptedError reports that a run is interrupted. Some of its steps were running, or may have been, when flowrun was
// killed. A person has to decide whether they run again.
type InterruptedError struct {
	Run   string
	Steps []dag.ID
	Retry bool // a new run was requested, which needs these steps
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

// OnlyError reports that a step cannot run alone: a step that it waits for has no result in the recorded run.
type OnlyError struct{ Step, Missing string }

func (e *OnlyError) Error() string {
	return fmt.Sprintf("cannot run %s alone: it waits for %s, which has no good result in that run; retry --from %s instead", e.Step, e.Missing, plan.StepWord(e.Missing))
}

// ErrNotStarted reports that a run failed before its first step could start. It cannot be resumed or retried, because it
// is unknown what it would have done.
var ErrNotStarted = errors.New("the run could not begin: there is nothing to resume; start a new one")

// Errors of a service that runs tools for others.
var (
	ErrDraining = errors.New("the service is stopping and starts no more runs")
	ErrRefused  = errors.New("refused by the approval policy")
	ErrPath     = errors.New("a tool is asked for by its name, not by a path")
	// ErrNotRunning reports that there is nothing to cancel: no process executes the run.
	ErrNotRunning    = errors.New("the run is interrupted: nobody executes it")
	ErrNoQuestion    = errors.New("no step waits for an answer there")
	ErrManyQuestions = errors.New("several steps wait for an answer: name one")
	ErrTooLate       = errors.New("it is too late to answer")
	ErrNoSchedule    = errors.New("there is no such schedule")
)
