package cli

import (
	"time"

	"github.com/flowrun/flowrun"
)

// waitsFor is what a run in line waits for, "" where its turn has come.
func waitsFor(q flowrun.Queued) string {
	if len(q.Obstacles) == 0 {
		return ""
	}
	return q.String()
}

// needed says of each need what it is.
func needed(needs []flowrun.Need) []string {
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
	Schema   string         `json:"schema"`
	Run      string         `json:"run"`
	Time     time.Time      `json:"time"`
	Since    time.Time      `json:"since"`
	Message  string         `json:"message"`
	WaitsFor []obstacleJSON `json:"waits_for"`
}

// obstacleJSON is one thing that a run in line waits for.
type obstacleJSON struct {
	flowrun.Need
	Holders []holderJSON `json:"holders"`
	Ahead   int          `json:"ahead"` // how many runs wait for it before this one
}

// holderJSON is a run that has what others wait for.
type holderJSON struct {
	Run   string    `json:"run"`
	PID   int       `json:"pid"`
	Since time.Time `json:"since"`
}

func queuedLine(q flowrun.Queued) queuedJSON {
	return queuedJSON{queuedSchema, q.Run, time.Now(), q.Since, q.String(), obstacles(q)}
}

func obstacles(q flowrun.Queued) []obstacleJSON {
	list := []obstacleJSON{}
	for _, o := range q.Obstacles {
		j := obstacleJSON{Need: o.Need, Holders: []holderJSON{}, Ahead: o.Ahead}
		for _, h := range o.Holders {
			j.Holders = append(j.Holders, holderJSON(h))
		}
		list = append(list, j)
	}
	return list
}
