package runview

import (
	"fmt"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// Took returns how long a run or step took; a plus sign says that it is live or waits.
func Took(d time.Duration, st dag.Status) string {
	if st.Settled() {
		return console.Short(d)
	}
	return console.Short(d) + "+"
}

// StepTook returns how long a step took, or has taken so far; "" if it has not started.
func StepTook(s *runresult.StepResult) string {
	if s.Started.IsZero() {
		return ""
	}
	return Took(s.Duration(), s.Status)
}

// RunTook returns how long a run took, and which parts of that it waited or had no owner.
func RunTook(r *runresult.Result) string {
	text := console.Short(r.Duration())
	switch {
	case !r.LastSign.IsZero():
		text += " until the last sign of life at " + r.LastSign.Local().Format(time.DateTime)
	case !r.Status.Settled():
		text += " so far"
	}
	parts := ""
	if shown(r.Waited) {
		parts = console.Short(r.Waited) + " waiting"
	}
	if shown(r.Idle) {
		parts = strings.TrimPrefix(parts+" and ", " and ") + console.Short(r.Idle) + " not running"
	}
	if parts != "" {
		text += ", of which " + parts
	}
	return text
}

// shown reports whether a part of a duration is worth a word.
func shown(d time.Duration) bool { return d >= 50*time.Millisecond }

// StepNote returns details of a step that its state does not include.
func StepNote(s *runresult.StepResult) string {
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
	if word := reasonNote(s); word != "" && !strings.HasPrefix(s.Message, word) { // "rejected" of "rejected by ann"
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
func reasonNote(s *runresult.StepResult) string {
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
