package runview

import (
	"fmt"
	"strconv"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/runresult"
	"github.com/flowrun/flowrun/internal/observe/findrun"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// RetryNote says when the next attempt of a run begins automatically, and why; "" if none does.
func RetryNote(r *runresult.Result, p *engine.Plan) string {
	if r.RetryAt.IsZero() {
		return ""
	}
	why := findrun.StatusText(r.Status)
	if r.Status == dag.Failed {
		why = findrun.StatusText(r.Status, r.Reason)
	}
	return fmt.Sprintf("attempt %d of %d %s, because the run %s", max(r.Attempt, 1)+1, p.RunAttempts(), Begins(r.RetryAt, time.Now()), why)
}

// overdue is how long after its time an attempt is shown as one that was due. Services begin it within a few seconds.
const overdue = time.Minute

// Begins says when an attempt begins, or was to begin.
func Begins(at, now time.Time) string {
	verb := "begins at "
	if now.Sub(at) > overdue {
		verb = "was due at "
	}
	return verb + console.Clock(at.Local(), now)
}

// Attempt returns which attempt a run is of those that follow each other automatically, such as 2 of 3; "" for the first.
func Attempt(r *runresult.Result, p *engine.Plan) string {
	switch most := p.RunAttempts(); {
	case r.Attempt <= 1 || most == 1:
		return ""
	case r.Attempt <= most:
		return fmt.Sprintf("%d of %d", r.Attempt, most)
	default: // a person has retried the last one
		return strconv.Itoa(r.Attempt)
	}
}
