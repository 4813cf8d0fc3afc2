package findrun

import (
	"strings"

	"github.com/flowrun/flowrun/dag"
)

// StatusText returns a status as the rest of a sentence about a run, with its notes:
// "failed", "is interrupted", "succeeded (2 tolerated)".
func StatusText(s dag.Status, notes ...string) string {
	text := s.String()
	switch s {
	case dag.TimedOut:
		text = "timed out"
	case dag.Cancelled:
		text = "was cancelled"
	case dag.Succeeded, dag.Failed:
	default:
		text = "is " + text
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text
}
