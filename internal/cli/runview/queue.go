package runview

import (
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/rundocs"
)

// waitsFor is what a queued run waits for, "" where its turn has come.
func waitsFor(q flowrun.QueuePosition) string {
	if len(q.Obstacles) == 0 {
		return ""
	}
	return q.String()
}

// LockTitles says of each need what it is.
func LockTitles(needs []flowrun.LockDemand) []string {
	list := make([]string, len(needs))
	for i, n := range needs {
		list[i] = n.Title()
	}
	return list
}

// queuedSchema names the form of a line that tells, among the events, of a run that
// stands in line.
const queuedSchema = "flowrun/queued.v1"

// queuedJSON is such a line. WaitsFor is empty when the run's turn has come.
type queuedJSON struct {
	Schema   string             `json:"schema"`
	Run      string             `json:"run"`
	Time     time.Time          `json:"time"`
	Since    time.Time          `json:"since"`
	Message  string             `json:"message"`
	WaitsFor []rundocs.Obstacle `json:"waits_for"`
}

func queuedLine(q flowrun.QueuePosition) queuedJSON {
	return queuedJSON{queuedSchema, q.Run, time.Now(), q.Since, q.String(), rundocs.Obstacles(q)}
}
