package runview

import (
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/observe/rundocs"
)

// waitReason describes what a queued run waits for. It returns "" if the run no longer waits.
func waitReason(q history.QueuePosition) string {
	if len(q.Obstacles) == 0 {
		return ""
	}
	return q.String()
}

// LockTitles returns a description of each lock demand.
func LockTitles(needs []history.LockDemand) []string {
	list := make([]string, len(needs))
	for i, n := range needs {
		list[i] = n.Title()
	}
	return list
}

// queuedSchema names the format of the line that reports, among the events, the position of a run
// in the queue.
const queuedSchema = "flowrun/queued.v1"

// queuedJSON is such a line. WaitsFor is empty if the run no longer waits.
type queuedJSON struct {
	Schema   string             `json:"schema"`
	Run      string             `json:"run"`
	Step     string             `json:"step,omitempty"`
	Time     time.Time          `json:"time"`
	Since    time.Time          `json:"since"`
	Message  string             `json:"message"`
	WaitsFor []rundocs.Obstacle `json:"waits_for"`
}

func queuedLine(q history.QueuePosition) queuedJSON {
	return queuedJSON{queuedSchema, q.Run, q.Step, time.Now(), q.Since, q.String(), rundocs.Obstacles(q)}
}
