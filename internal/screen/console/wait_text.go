package console

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// promptColumns is how many characters of a prompt are shown beside other text.
const promptColumns = 100

// Awaited describes what a waiting step waits for, in a few words without control characters.
func Awaited(w *dag.Wait, now time.Time) string {
	var text string
	switch {
	case w == nil:
		return "a step inside it"
	case w.Asks:
		first, _, more := strings.Cut(strings.TrimSpace(w.Prompt), "\n")
		text = Clean(w.Kind) + ": " + Clean(Sanitize(first))
		if r := []rune(text); len(r) > promptColumns {
			text, more = string(r[:promptColumns]), true
		}
		if more {
			text += " ..."
		}
		if !w.Until.IsZero() {
			text += " (" + seconds(max(w.Until.Sub(now), 0)) + " left)"
		}
	default:
		text = "time to pass (" + seconds(max(w.Until.Sub(now)+time.Second-time.Millisecond, 0)) + " left)"
	}
	return text
}
