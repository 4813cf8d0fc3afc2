package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Elapsed returns how long a run or step took, or has taken so far.
func Elapsed(started, ended time.Time, st dag.Status, now time.Time) string {
	switch {
	case started.IsZero():
		return ""
	case !ended.IsZero():
		return console.Short(ended.Sub(started))
	case st == dag.Running, st == dag.Pending:
		return console.Short(now.Sub(started)) + "+"
	}
	return ""
}

// StepNote returns details of a step that its state does not include.
func StepNote(s *engine.StepResult) string {
	var words []string
	if s.ExitCode != 0 && s.Status.Executed() {
		words = append(words, fmt.Sprintf("exit %d", s.ExitCode))
	}
	if s.Attempts > 1 {
		words = append(words, fmt.Sprintf("%d attempts", s.Attempts))
	}
	if s.Fallback {
		words = append(words, "fallback")
	}
	if word := reasonNote(s); word != "" {
		words = append(words, word)
	}
	if s.Truncated {
		words = append(words, "output truncated at its buffer-limit")
	}
	if s.Message != "" {
		words = append(words, s.Message)
	}
	if p := s.Problem; p != nil && p.Solution != "" {
		words = append(words, "hint: "+p.Solution)
	}
	return strings.Join(words, ", ")
}

// reasonNote returns the reason of a step that did not succeed, or "" if its status or its exit code
// says the same.
func reasonNote(s *engine.StepResult) string {
	switch {
	case s.Status == dag.Succeeded, s.Reason == dag.ReasonExit, s.Reason == dag.ReasonTimeout, s.Reason == s.Status.String():
		return ""
	case s.Status == dag.Failed && s.Reason == dag.ReasonCondition:
		return "its condition cannot be evaluated"
	}
	return console.Reason(s.Reason)
}

// hasPathPrefix reports whether path is step or a path below it.
func hasPathPrefix(path, step string) bool {
	rest, ok := strings.CutPrefix(path, step)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '[')
}
